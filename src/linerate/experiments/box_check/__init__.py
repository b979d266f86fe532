"""Checks of a testbed with a box, line by line: what works, and what to do where it does not."""
