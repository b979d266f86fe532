"""Looks at a growing number of rounds, among which the probability of an error is shared out."""

from collections.abc import Iterator
from itertools import count
from math import ceil, log2

#: From one look to the next, the number of rounds grows by this factor.
GROWTH = 1.4


def looks(error: float, family: int = 1) -> Iterator[tuple[int, float]]:
    """Numbers of rounds at which is looked, each with its share of the error, without end.

    Of N rounds a signed-rank test can give 2^-N at the least: before that is within the share of
    each of a family of tests, a look would show nothing.
    """
    rounds = 0
    for number in count(1):
        share = error / (number * (number + 1))
        rounds = max(ceil(GROWTH * rounds), ceil(log2(family / share)))
        yield rounds, share
