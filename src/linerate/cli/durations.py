"""Words of the command line that several commands read."""

import typer

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}

#: The engine's longest trial.
LONGEST_DAYS = 30


def as_seconds(text: str) -> float:
    """Read a duration: `5s`, `500ms`, `2m`, `5`."""
    value = _seconds(text)
    if not 0.05 <= value <= 3600:
        raise typer.BadParameter(f"expected 50ms to 60m, as 5s; not '{text}'")
    return value


def as_long_seconds(text: str) -> float:
    """Read a duration of up to weeks: `30s`, `8h`, `7d`."""
    value = _seconds(text)
    if not 1 <= value <= LONGEST_DAYS * UNITS["d"]:
        raise typer.BadParameter(f"expected 1s to {LONGEST_DAYS}d, as 8h; not '{text}'")
    return value


def _seconds(text: str) -> float:
    """Duration in seconds, or 0."""
    number = text.strip().rstrip("msdh")
    try:
        return float(number) * UNITS[text.strip()[len(number) :]]
    except (ValueError, KeyError):
        return 0.0
