"""Counters of one box at two moments: whether the later ones go on from the earlier ones.

A box that restarted, or whose counters somebody cleared, counts from 0 again; a counter of 32 bits
does so every few minutes at some million packets a second.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from linerate.parsers.boxes import Counted

BITS_32 = 1 << 32
#: More than a port of 400 Gb/s carries in a minute: what would have grown by more did not wrap.
GROWN_MAX = 1 << 31
#: Names in a sentence.
NAMED = 3


class BrokenError(Exception):
    """Counters that can't be subtracted; one line that says why."""


class Continued(NamedTuple):
    """Counters that go on from the earlier ones."""

    counted: Counted
    #: Counters that were taken to have wrapped.
    doubts: tuple[str, ...] = ()


def continued(before: Counted, after: Counted) -> Continued:
    """The later counters, those of 32 bits carried on over their end. Raises BrokenError."""
    was, now = before.running_s, after.running_s
    if was is not None and now is not None and now < was:
        raise BrokenError(
            f"it restarted within the trial: it runs for {now:.0f} s, before for {was:.0f} s"
        )
    back = dict(_gone_back(before, after))
    if not back:
        return Continued(after)
    wrapped = {name: _carried(*values) for name, values in back.items()}
    if None in wrapped.values():
        worst = sorted(name for name, value in wrapped.items() if value is None)
        named = "; ".join(_text(name, *back[name]) for name in worst[:NAMED])
        raise BrokenError(
            f"its counters went back ({named}): restarted or cleared within the trial, or an "
            "answer was cut"
        )
    doubts = tuple(f"{_text(name, *back[name])}: taken as a wrap at 32 bits" for name in back)
    return Continued(_with(after, {name: value or 0 for name, value in wrapped.items()}), doubts)


def _text(name: str, before: int, after: int | None) -> str:
    now = "none" if after is None else f"{after:,}"
    return f"{name}: {before:,}, then {now}"


def _carried(before: int, after: int | None) -> int | None:
    """The later value had it not wrapped at 32 bits; None when it did not."""
    if after is None or not after < before < BITS_32:
        return None
    return after + BITS_32 if after + BITS_32 - before < GROWN_MAX else None


def _gone_back(before: Counted, after: Counted) -> Iterator[tuple[str, tuple[int, int | None]]]:
    """Counters that are lower than they were, or are listed no more."""
    for name, value, now in _pairs(before, after):
        if value and (now is None or now < value):
            yield name, (value, now)


def _pairs(before: Counted, after: Counted) -> Iterator[tuple[str, int, int | None]]:
    for port, counters in before.ports.items():
        later = after.ports.get(port, {})
        # Only those that the ledger is made of: among a driver's many some are levels.
        for name in ("rx_packets", "tx_packets"):
            if name in counters:
                yield f"{port} {name}", counters[name], later.get(name)
    for places, later in ((before.losses, after.losses), (before.consumed, after.consumed)):
        for place, packets in places.items():
            yield place, packets, later.get(place)


def _with(after: Counted, values: dict[str, int]) -> Counted:
    """The same with other values, by the names of `_pairs`."""

    def each(kept: dict[str, int], prefix: str = "") -> dict[str, int]:
        return {name: values.get(f"{prefix}{name}", value) for name, value in kept.items()}

    return replace(
        after,
        ports={port: each(counters, f"{port} ") for port, counters in after.ports.items()},
        losses=each(after.losses),
        consumed=each(after.consumed),
    )
