"""Runs of two devices that were measured in turn: what the machine does is in both of a pair."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from linerate.results.store import Result, Run, sound

#: Sound trials, by run; the k-th of the base beside the k-th of the other.
Paired = tuple[list[list[Result]], list[list[Result]]]


def in_turn(base: Sequence[Run], other: Sequence[Run]) -> list[tuple[Run, Run]]:
    """Runs beside each other in time, where those of the two took turns; else none."""
    sides = [*((run, 0) for run in base), *((run, 1) for run in other)]
    order = sorted(sides, key=lambda one: one[0].started)
    turns = [side for _, side in order]
    if len(base) != len(other) or any(a == b for a, b in pairwise(turns)):
        return []
    runs = [[run for run, side in order if side == which] for which in (0, 1)]
    return list(zip(*runs, strict=True))


def paired(test: str, pairs: Iterable[tuple[Run, Run]]) -> Paired:
    """Sound trials of a test, by run, where both of a pair have some."""
    both = [[sound(run.repeats().get(test, [])) for run in pair] for pair in pairs]
    whole = [(base, other) for base, other in both if base and other]
    return [base for base, _ in whole], [other for _, other in whole]
