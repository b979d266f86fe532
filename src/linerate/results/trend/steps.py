"""Steps of a figure over commits: jumpavg proposes them, a rank test keeps those beyond noise.

jumpavg (FD.io) divides a series into groups of the least bits, as if each were of a normal
distribution. Noise of a machine has heavier tails, for which it makes groups of their own: so a
step counts only where chance alone would hardly order the commits, or their trials, that way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from linerate.results.statistics import SIGNIFICANCE, rank_test

#: Trials of each commit, in the order of the commits.
Points = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Step:
    """A place from which on a figure is another."""

    #: Number of the first point behind it.
    at: int
    #: Probability that chance alone makes such a step at any place of the series.
    p: float


def steps(points: Points) -> list[Step]:
    """Steps that are more than noise; the weakest is taken out until the others all are."""
    middles = [median(one) for one in points]
    ends = _proposed(middles)
    while ends:
        found = [Step(at, p) for at, p in zip(ends, _probabilities(points, ends), strict=True)]
        weakest = max(found, key=lambda one: one.p)
        if weakest.p <= SIGNIFICANCE:
            return found
        ends.remove(weakest.at)
    return []


def _proposed(middles: Sequence[float]) -> list[int]:
    """Places between jumpavg's groups."""
    if len(middles) < 2 or max(middles) <= 0:
        return []
    import jumpavg  # noqa: PLC0415 (of no use to most commands)

    ends, at = [], 0
    for group in jumpavg.classify(middles):
        at += len(group)
        ends.append(at)
    return ends[:-1]


def _probabilities(points: Points, ends: Sequence[int]) -> list[float]:
    """Probability of each step between the groups beside it, at any of the series' places."""
    edges = [0, *ends, len(points)]
    return [
        min(1.0, step_p(points[start:at], points[at:end]) * (len(points) - 1))
        for start, at, end in zip(edges, ends, edges[2:], strict=False)
    ]


def step_p(before: Points, after: Points) -> float:
    """The better of two tests: of the commits' medians; of all trials, where no medians overlap.

    Trials of one commit share what the machine did at that time, so that they alone tell nothing;
    but of a new commit there are no others.
    """
    early, late = [median(one) for one in before], [median(one) for one in after]
    p = rank_test(early, late).p if min(len(early), len(late)) > 1 else 1.0
    if max(early) < min(late) or max(late) < min(early):
        trials = rank_test(_all(before), _all(after))
        p = min(p, trials.p if trials.can_tell else 1.0)
    return p


def _all(points: Points) -> list[float]:
    return [value for point in points for value in point]
