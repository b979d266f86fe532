"""A live view of running engines in a terminal."""
