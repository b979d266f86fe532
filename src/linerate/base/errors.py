"""Errors that reach the user."""


class UserError(Exception):
    """An error that ends a command, reported in one line."""


class SetupError(Exception):
    """A resource of a trial could not be set up, or is gone; one line with the remedy."""
