"""Frames of each stream in a round, where streams have no rates."""

from collections.abc import Sequence
from fractions import Fraction

#: The engine's.
WEIGHT_MAX = 1000


def fitted(frames: Sequence[Fraction] | Sequence[int]) -> tuple[int, ...]:
    """Weights that the engine takes, in the same relation: as exact as they can be."""
    most = max(frames)
    if most <= WEIGHT_MAX and all(Fraction(one).denominator == 1 for one in frames):
        return tuple(max(1, int(one)) for one in frames)
    return tuple(max(1, round(Fraction(one) / most * WEIGHT_MAX)) for one in frames)
