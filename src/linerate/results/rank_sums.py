"""Mann–Whitney's rank test in closed form: exact for few values, equal ones among them or not."""

from collections import Counter
from collections.abc import Sequence
from math import comb, erfc, sqrt

#: Values of both from which on the distribution is taken as normal. Ways to share fewer of them
#: between two fit 64 bits.
MANY = 48
_BITS = 64


def greater_p(upper: Sequence[float], lower: Sequence[float]) -> float:
    """Probability that chance alone puts the first this far above the second, or further."""
    ranks = _doubled_ranks((*upper, *lower))
    if len(ranks) > MANY:
        return _normal(ranks, len(upper))
    ways = _ways(ranks, len(upper))
    return sum(ways[sum(ranks[: len(upper)]) :]) / comb(len(ranks), len(upper))


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each, so that equal ones, which share theirs, have whole numbers."""
    counts = Counter(values)
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value] + 1
        below += counts[value]
    return [ranks[value] for value in values]


def _ways(ranks: Sequence[int], chosen: int) -> list[int]:
    """By sum, the ways to choose this number of the ranks: polynomials, as digits of a number."""
    found = [1] + [0] * chosen
    for rank in ranks:
        for number in range(chosen, 0, -1):
            found[number] += found[number - 1] << (_BITS * rank)
    length = sum(sorted(ranks)[-chosen:]) + 1
    digits = found[chosen].to_bytes(length * _BITS // 8, "little")
    return list(memoryview(digits).cast("Q"))


def _normal(ranks: Sequence[int], chosen: int) -> float:
    """By a normal distribution, corrected for equal values and for whole numbers."""
    count, others = len(ranks), len(ranks) - chosen
    over = (sum(ranks[:chosen]) - chosen * (count + 1)) / 2
    equal = sum(one**3 - one for one in Counter(ranks).values())
    variance = chosen * others / 12 * (count + 1 - equal / (count * (count - 1)))
    return 0.5 * erfc((over - 0.5) / sqrt(2 * variance)) if variance > 0 else 1.0
