"""Size of a change by pairs: Hodges and Lehmann's estimate, and the interval of Wilcoxon's test.

The interval has all sizes that the two-sided signed-rank test does not refute: it supposes nothing
of how noise is distributed but that it is as often above as below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from statistics import median

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a change, and its interval; None: too few pairs for one."""

    middle: float
    interval: tuple[float, float] | None

    @property
    def is_beyond_noise(self) -> bool:
        """Whether there is a change at all."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def size(changes: Sequence[float]) -> Size:
    """Size of a change by those of each pair, one at least."""
    means = sorted((a + b) / 2 for a, b in combinations_with_replacement(changes, 2))
    outside = _outside(len(changes))
    interval = (means[outside], means[-1 - outside]) if outside is not None else None
    return Size(median(means), interval)


def pairs_needed() -> int:
    """Pairs from which on there is an interval."""
    return next(n for n in range(1, 100) if _outside(n) is not None)


def _outside(pairs: int) -> int | None:
    """Means below the interval, and as many above; None where even all of them are too few."""
    # By sum of the positive ranks: the ways to have it.
    ways = [1]
    for rank in range(1, pairs + 1):
        more = [0] * rank
        ways = [a + b for a, b in zip(ways + more, more + ways, strict=True)]
    allowed = (1 - CONFIDENCE) / 2 * 2**pairs
    found, below = -1, 0
    for sum_, count in enumerate(ways):
        below += count
        if below > allowed:
            break
        found = sum_
    return found if found >= 0 else None
