"""The answer of a bisection: which commits it may be, the size of the change, what would help."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, floor, log, log1p, sqrt
from statistics import NormalDist, median
from typing import Literal

from linerate.model.bisection import Round
from linerate.results import repeats_to_tell
from linerate.results.bisection.accounts import TIME, WHOLE, Account
from linerate.results.bisection.ends import growth, spread
from linerate.results.bisection.search import FAMILY, Bisection
from linerate.results.bisection.sides import placed
from linerate.results.signed_ranks import CONFIDENCE, size

#: `found`: one commit; `range`: one of several; `alike`: good and bad can't be distinguished;
#: `unfinished`: there is more to measure.
Outcome = Literal["found", "range", "alike", "unfinished"]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval of 95 %."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> "Interval":
        """The same in another unit."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class Growth:
    """The size of a change."""

    account: Account
    #: In the account's unit.
    by: Interval
    #: Share of all nodes' cycles of good, or of its time a packet.
    percent: Interval


def outcome(bisection: Bisection) -> Outcome:
    """Outcome so far."""
    if bisection.wanted is not None:
        return "unfinished"
    if bisection.followed is None:
        return "alike"
    return "found" if bisection.low + 1 == bisection.high else "range"


def growth_found(bisection: Bisection) -> Growth | None:
    """From the last commit known as good to the first known as bad, by rounds beside good."""
    by = bisection.followed
    if by is None:
        return None
    late = beside_good(bisection, bisection.high)
    early = beside_good(bisection, bisection.low)
    found = shift(early, late) if early else centre(late)
    base = TIME if by.account == TIME else WHOLE
    whole = median(base.of(one.good) for one in _all_rounds(bisection))
    return Growth(by.account, found, found.times(100 / whole))


def beside_good(bisection: Bisection, place: int) -> list[float]:
    """Growth from good to a commit, round by round; empty of good itself."""
    if bisection.followed is None or not place:
        return []
    account = bisection.followed.account
    if place == len(bisection.commits) - 1:
        return growth(account, _all_rounds(bisection))
    return [
        account.of(one.middle) - account.of(one.good)
        for one in bisection.rounds.get(place, [])
        if one.middle is not None
    ]


def _all_rounds(bisection: Bisection) -> list[Round]:
    return [*bisection.ends, *(one for found in bisection.rounds.values() for one in found)]


def centre(values: Sequence[float]) -> Interval:
    """The centre of values; of too few for an interval all of them are within it."""
    found = size(values)
    low, high = found.interval or (min(values), max(values))
    return Interval(found.middle, low, high)


def shift(early: Sequence[float], late: Sequence[float]) -> Interval:
    """From the one set to the other (Hodges and Lehmann), its interval by Mann–Whitney's ranks."""
    differences = sorted(b - a for a in early for b in late)
    m, n = len(early), len(late)
    # Ranks that the statistic's standard deviation leaves out at each end.
    beyond = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * sqrt(m * n * (m + n + 1) / 12)
    out = max(0, floor(m * n / 2 - beyond))
    return Interval(median(differences), differences[out], differences[-1 - out])


@dataclass(frozen=True, slots=True)
class Noise:
    """Why the rounds that are allowed could not decide."""

    #: Rounds that were measured of what could not be placed.
    rounds: int
    #: The change that was looked for, and its standard deviation in one round, per cent.
    percent: float
    spread_percent: float
    #: Rounds that would do, nine times in ten; None: more than are worth measuring.
    rounds_to_tell: int | None


def noise(bisection: Bisection) -> Noise | None:
    """Noise of the ends, or of the commit, that could not be placed; None where all could be."""
    if not bisection.is_stuck:
        return None
    by = bisection.followed
    if by is None:
        return _noise_of_ends(bisection)
    halfway, measured = placed(bisection.rounds.get(bisection.undecided, []), by)
    grown = [late - early for early, late in zip(halfway, measured, strict=True)]
    # A commit that has the change, or has it not, is half of it from there.
    size, unit = by.size / 2, by.percent / by.size
    return Noise(
        rounds=len(grown),
        percent=unit * size,
        spread_percent=unit * spread(grown) if grown else 0.0,
        rounds_to_tell=repeats_to_tell.of_pairs(halfway, measured, size, bisection.error),
    )


def _noise_of_ends(bisection: Bisection) -> Noise:
    least, rounds = bisection.asked.least_percent, bisection.ends
    account = WHOLE if all(one.good.nodes for one in rounds) else TIME
    good = [log(account.of(one.good)) for one in rounds]
    bad = [log(account.of(one.bad)) for one in rounds]
    grown = [late - early for early, late in zip(good, bad, strict=True)]
    error = bisection.error / FAMILY
    return Noise(
        rounds=len(rounds),
        percent=least,
        spread_percent=100 * (exp(spread(grown)) - 1) if grown else 0.0,
        rounds_to_tell=repeats_to_tell.of_pairs(good, bad, log1p(least / 100), error),
    )
