"""Words of the command line that several commands read."""

import re

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


_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s*%?")


def as_percent(text: str) -> float:
    """Read a share: `3%`, `3`, `0.5 %`."""
    match = _PERCENT.fullmatch(text.strip())
    if match is None:
        raise typer.BadParameter(f"expected a share as 3%, not '{text}'")
    return float(match[1])


_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,39}=[^\x00-\x1f\x7f]{0,200}")


def as_label(text: str) -> str:
    """Check a label: `commit=1f2e3d`."""
    if not _LABEL.fullmatch(text):
        raise typer.BadParameter(f"expected KEY=VALUE, as commit=1f2e3d; not '{text}'")
    return text


def _seconds(text: str) -> float:
    """Duration in seconds, or 0."""
    number = text.strip().rstrip("msdh")
    try:
        return float(number) * UNITS[text.strip()[len(number) :]]
    except (ValueError, KeyError):
        return 0.0
