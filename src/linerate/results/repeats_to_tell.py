"""Repeats that would tell a change of a given size from noise, by the spread of those measured.

The noise is taken as it was: what was measured, centred and moved by the size. Of it come the mean
of the rank statistic and its variance with that change, and so the number of repeats with which the
statistic is beyond the bound of no change nine times in ten (Noether, 1987, with the variance of
the changed samples, since that of no change overstates it where the change is large).
"""

from collections.abc import Callable, Sequence
from math import comb, sqrt
from statistics import NormalDist, median

#: Probability with which a change of that size is to be found.
POWER = 0.9
#: More are not worth measuring.
REPEATS_MAX = 500
#: Fewer show no spread.
KNOWN_FROM = 5


def of_pairs(
    base: Sequence[float], other: Sequence[float], size: float, significance: float
) -> int | None:
    """Pairs with which Wilcoxon's signed ranks tell a change; None: more than REPEATS_MAX."""
    changes = [after - before for before, after in zip(base, other, strict=True)]
    n = len(changes)
    if n < KNOWN_FROM or not size:
        return None
    middle = median(changes)
    moved = [change - middle + size for change in changes]
    #: By each change: with how many others its sum is a growth.
    beats = [
        sum(_wins(one + two) for at, two in enumerate(moved) if at != of)
        for of, one in enumerate(moved)
    ]
    alone = sum(map(_wins, moved)) / n
    both = sum(beats) / (n * (n - 1))
    thrice = _thrice(beats, n * (n - 1) * (n - 2))

    def is_found(pairs: int) -> bool:
        walsh = comb(pairs, 2)
        mean = walsh * both + pairs * alone
        none = pairs * (pairs + 1) / 4
        spread_of_none = sqrt(pairs * (pairs + 1) * (2 * pairs + 1) / 24)
        variance = (
            pairs * alone * (1 - alone)
            + walsh * (2 * (alone - both) ** 2 + 3 * both * (1 - both))
            + pairs * (pairs - 1) * (pairs - 2) * (thrice - both**2)
        )
        able = 2.0**-pairs <= significance
        return able and _is_beyond(mean - none, spread_of_none, variance, significance)

    return _least(is_found)


def of_sets(
    base: Sequence[float], other: Sequence[float], size: float, significance: float
) -> int | None:
    """Repeats of each with which Mann-Whitney's ranks tell a change; None: too many."""
    if min(len(base), len(other)) < KNOWN_FROM or not size:
        return None
    lower = [one - median(base) for one in base]
    upper = [one - median(other) + size for one in other]
    by_lower = [sum(_wins(high - low) for high in upper) for low in lower]
    by_upper = [sum(_wins(high - low) for low in lower) for high in upper]
    m, n = len(lower), len(upper)
    alone = sum(by_lower) / (m * n)
    two_upper = _thrice(by_lower, m * n * (n - 1))
    two_lower = _thrice(by_upper, n * m * (m - 1))

    def is_found(repeats: int) -> bool:
        mean = repeats**2 * (alone - 0.5)
        spread_of_none = repeats * sqrt((2 * repeats + 1) / 12)
        shared = (repeats - 1) * (two_upper + two_lower - 2 * alone**2)
        variance = repeats**2 * (alone * (1 - alone) + shared)
        able = 1 / comb(2 * repeats, repeats) <= significance
        return able and _is_beyond(mean, spread_of_none, variance, significance)

    return _least(is_found)


def _wins(difference: float) -> float:
    return 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0


def _thrice(wins: Sequence[float], ways: int) -> float:
    """Probability that one wins against two others at once."""
    return sum(one * (one - 1) for one in wins) / ways if ways else 0.0


def _is_beyond(mean: float, spread_of_none: float, variance: float, significance: float) -> bool:
    """Whether the statistic is beyond the bound of no change, but for one time in ten."""
    normal = NormalDist()
    bound = -normal.inv_cdf(significance) * spread_of_none
    return mean >= bound + normal.inv_cdf(POWER) * sqrt(max(0.0, variance))


def _least(is_found: Callable[[int], bool]) -> int | None:
    return next((n for n in range(2, REPEATS_MAX + 1) if is_found(n)), None)
