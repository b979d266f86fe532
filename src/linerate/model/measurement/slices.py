"""A trial in slices of 1 to 10 ms: the disturbed ones, and the clean ones (docs/trust.md).

The engine says which slices are disturbed (engine/tester/slices.h); a device's rate and loss are
those of the others, the clean ones.
"""

import itertools
from collections.abc import Iterator
from functools import cached_property
from statistics import NormalDist

from linerate.base.frozen_model import FrozenModel

#: A trial goes on until this much of it is clean, or all of its own time where that is less …
CLEAN_US = 1_000_000
#: … but no longer than its own time and this many times as much as shall be clean.
MORE = 2
#: Share of the requested clean time from which a trial is valid: the last slice may be cut.
ENOUGH = 0.99


def limit_us(duration_us: int, clean_us: int) -> int:
    """Longest duration of a trial."""
    return duration_us + MORE * clean_us


class Slice(FrozenModel):
    """Counters of one slice; packets."""

    #: Since the trial began, on the tester's clock.
    end_us: int
    #: Its length on the wall's clock.
    took_us: int
    sent: int
    received: int
    #: At places whose counters can be read at any time.
    lost: int
    #: The worker that was descheduled for longest, and its time; empty: none was.
    away_us: int = 0
    worker: str = ""
    disturbed: bool = False


class PlaceLoss(FrozenModel):
    """Packets lost at one of those places."""

    place: str
    lost: int
    lost_disturbed: int


class Slices(FrozenModel):
    """All slices of a trial."""

    slices: tuple[Slice, ...] = ()
    places: tuple[PlaceLoss, ...] = ()

    @cached_property
    def clean(self) -> tuple[Slice, ...]:
        """Those that were not disturbed."""
        return tuple(one for one in self.slices if not one.disturbed)

    @cached_property
    def clean_us(self) -> int:
        """Total duration, on the tester's clock."""
        return sum(us for _, us in self._clean_lengths())

    @cached_property
    def clean_sent(self) -> int:
        """Packets sent in clean slices."""
        return sum(one.sent for one in self.clean)

    @cached_property
    def clean_received(self) -> int:
        """Packets received in clean slices."""
        return sum(one.received for one in self.clean)

    @cached_property
    def received_pps_interval(self) -> tuple[float, float] | None:
        """Received rate of clean slices: 95 % confidence, by the normal distribution.

        Slices differ in length, so this is the ratio of two sums (Cochran, Sampling Techniques,
        1977, 6.4). None of fewer than two slices.
        """
        pairs = [(one.received, us) for one, us in self._clean_lengths() if us > 0]
        if len(pairs) < 2:
            return None
        whole_us = sum(us for _, us in pairs)
        mean = sum(received for received, _ in pairs) / whole_us
        squares = sum((received - mean * us) ** 2 for received, us in pairs)
        error = (squares * len(pairs) / (len(pairs) - 1)) ** 0.5 / whole_us
        half = NormalDist().inv_cdf(0.975) * error
        return 1e6 * max(0.0, mean - half), 1e6 * (mean + half)

    def _clean_lengths(self) -> Iterator[tuple[Slice, int]]:
        ends = (0, *(one.end_us for one in self.slices))
        for (start, end), one in zip(itertools.pairwise(ends), self.slices, strict=True):
            if not one.disturbed:
                yield one, end - start

    def left_out(self, lost: int, sent: int | None = None) -> int:
        """Packets lost in disturbed slices, of those that the whole trial lost.

        Of `sent` packets, where given, those after the last slice are as if in a disturbed one.

        At places whose counters were read for each slice that is exact. Elsewhere it is what was
        sent in disturbed slices and not received, which knows neither what was on its way at their
        beginning nor at their end.
        """
        counted = sum(place.lost_disturbed for place in self.places)
        elsewhere = max(0, lost - sum(place.lost for place in self.places))
        missing = sum(max(0, group.missing) for group in self._disturbed_groups())
        missing += self._missing_after_them(lost, sent)
        return max(0, min(lost, counted + min(elsewhere, missing)))

    def _missing_after_them(self, lost: int, sent: int | None) -> int:
        """Packets lost of those that a tester, which was late, sent after its last slice."""
        in_slices = sum(one.sent for one in self.slices)
        after = max(0, (sent or 0) - in_slices)
        missing = lost - sum(one.sent - one.received for one in self.slices)
        return max(0, min(after, missing))

    def _disturbed_groups(self) -> Iterator["_Group"]:
        for disturbed, group in itertools.groupby(self.slices, lambda one: one.disturbed):
            if disturbed:
                yield _Group(slices=tuple(group))

    def lost_disturbed(self, place: str) -> int | None:
        """Packets lost there in disturbed slices; None where no slice counted them."""
        return next((one.lost_disturbed for one in self.places if one.place == place), None)

    @property
    def most_away(self) -> str:
        """The worker that was away from its CPU for longest in all; empty: none was."""
        away: dict[str, int] = {}
        for one in self.slices:
            away[one.worker] = away.get(one.worker, 0) + one.away_us
        away.pop("", None)
        return max(away, key=away.__getitem__, default="")


class _Group(FrozenModel):
    """Disturbed slices in a row."""

    slices: tuple[Slice, ...]

    @property
    def missing(self) -> int:
        """Sent in them, not received in them, and lost at no place that they count."""
        return sum(one.sent - one.received - one.lost for one in self.slices)
