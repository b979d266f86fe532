"""Errors that reach the user."""


class UserError(Exception):
    """An error that ends a command, reported in one line."""


class SetupError(Exception):
    """A resource of a trial could not be set up, or is gone; one line with the remedy."""


class TestbedError(Exception):
    """A testbed file with mistakes; `lines` has one line for each."""

    __test__ = False  # pytest would take it for a test class

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
