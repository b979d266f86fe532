"""What goes wrong around a trial, whoever finds it out."""


class SetupError(Exception):
    """What a trial needs could not be made, or is gone; one line that says what to do."""
