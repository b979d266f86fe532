"""What goes wrong, whoever finds it out."""


class ToldError(Exception):
    """What ends a command, told in one line."""


class SetupError(Exception):
    """What a trial needs could not be made, or is gone; one line that says what to do."""
