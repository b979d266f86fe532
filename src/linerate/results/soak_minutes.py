"""Intervals of a soak as its folder has them, for pictures."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linerate.base.open_beneath import read_beneath

MINUTES = "minutes.jsonl"
MINUTES_BYTES_MAX = 64 << 20


@dataclass(frozen=True, slots=True)
class Interval:
    """Figures of one interval; None where they were not known."""

    seconds: float
    mpps: float
    mhz_mean: float | None
    celsius_most: float | None
    watts: float | None
    #: Packets lost in it.
    lost: float | None = None


def intervals(folder: Path) -> list[Interval]:
    """All of them; none where the run is no soak, or its file can't be read."""
    try:
        content = read_beneath(folder, MINUTES, MINUTES_BYTES_MAX)
    except OSError:
        return []
    return list(_read(content.decode(errors="replace")))


def _read(text: str) -> Iterator[Interval]:
    for line in text.splitlines():
        try:
            found: Any = json.loads(line)
            if isinstance(found, dict):
                yield Interval(
                    seconds=float(found["seconds"]),
                    mpps=float(found["pps"]) / 1e6,
                    mhz_mean=_number(found, "mhz_mean"),
                    celsius_most=_number(found, "celsius_most"),
                    watts=_number(found, "watts"),
                    lost=_number(found, "lost"),
                )
        except (ValueError, KeyError, TypeError, RecursionError):
            continue


def _number(found: dict[str, Any], name: str) -> float | None:
    value = found.get(name)
    return float(value) if isinstance(value, int | float) else None
