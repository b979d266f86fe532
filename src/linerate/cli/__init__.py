"""Command line: one module a command, and the options that they share."""
