"""Words of the command line that several commands read."""

import typer


def as_seconds(text: str) -> float:
    """Read a duration: `5s`, `500ms`, `2m`, `5`."""
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "": 1.0}
    number = text.strip().rstrip("ms")
    unit = text.strip()[len(number) :]
    try:
        value = float(number) * units[unit]
    except (ValueError, KeyError):
        value = 0.0
    if not 0.05 <= value <= 3600:
        raise typer.BadParameter(f"expected 50ms to 60m, as 5s; not '{text}'")
    return value
