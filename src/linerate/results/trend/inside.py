"""Changes inside: which node's cycles, which place of loss, which limit."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from linerate.results.dataset.row import TrialRow
from linerate.results.statistics import SIGNIFICANCE, rank_test
from linerate.results.trend.series import Point
from linerate.results.trend.steps import step_p

#: Differences that are reported: cycles a packet, and per cent of the packets offered.
CYCLES_MATTER = 0.3
LOSS_MATTERS = 0.01
#: A limit of this share of the trials is that of all.
LIMIT_SHARE = 2 / 3
#: Nodes that all grew by factors this near to each other grew alike.
ALIKE = 1.15
#: Fewer nodes than this can't be all alike, nor nodes with less than this share of the cycles.
NODES_ALIKE = 3
SHARE_ALIKE = 0.9


@dataclass(frozen=True, slots=True)
class Part:
    """A node's cycles a packet, or a place's loss in per cent, before and after."""

    name: str
    before: float
    after: float
    #: Probability that chance alone makes it.
    p: float

    @property
    def by(self) -> float:
        """Growth."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Inside:
    """Parts that are not the same, the largest difference first."""

    nodes: tuple[Part, ...] = ()
    places: tuple[Part, ...] = ()
    #: The limit of most trials before and after, where that is not the same.
    limits: tuple[str, str] | None = None
    #: Whether all nodes grew by the same factor: the machine or the compiler, rather than a node.
    alike: bool = False


def node_names(points: Sequence[Point]) -> list[str]:
    """Nodes that took cycles in any trial."""
    return list(
        dict.fromkeys(
            name
            for point in points
            for trial in point.trials
            for name, cycles in trial.nodes.items()
            if cycles
        )
    )


def node_cycles(point: Point, node: str) -> tuple[float, ...]:
    """Cycles of each trial that knows its nodes; 0 of a node that it has not."""
    return tuple(trial.nodes.get(node, 0.0) for trial in point.trials if trial.nodes)


def inside(before: Sequence[Point], after: Sequence[Point]) -> Inside:
    """Compare the points on both sides of a step."""
    nodes = _parts(before, after, node_names([*before, *after]), node_cycles, CYCLES_MATTER)
    places = list(dict.fromkeys(name for one in (*before, *after) for name in _places(one)))
    limits = _limit(before), _limit(after)
    return Inside(
        nodes=nodes,
        places=_parts(before, after, places, _loss, LOSS_MATTERS),
        limits=limits if all(limits) and limits[0] != limits[1] else None,
        alike=_alike(nodes, before),
    )


def compared_nodes(
    before: Sequence[TrialRow], after: Sequence[TrialRow], family: int
) -> tuple[Part, ...]:
    """Nodes that changed by more than noise, of this number of comparisons; the largest first."""
    names = dict.fromkeys(name for trial in (*before, *after) for name in trial.nodes)
    found = []
    for name in names:
        early, late = (
            [trial.nodes.get(name, 0.0) for trial in side if trial.nodes]
            for side in (before, after)
        )
        if early and late:
            p = rank_test(early, late).p
            found.append(Part(name, median(early), median(late), p))
    return _beyond_noise(found, CYCLES_MATTER, family)


def _parts(
    before: Sequence[Point],
    after: Sequence[Point],
    names: Sequence[str],
    figure: Callable[[Point, str], tuple[float, ...]],
    matters: float,
) -> tuple[Part, ...]:
    """Parts that changed by more than noise."""
    found = []
    for name in names:
        early = [values for one in before if (values := figure(one, name))]
        late = [values for one in after if (values := figure(one, name))]
        if early and late:
            middles = (median(map(median, early)), median(map(median, late)))
            found.append(Part(name, *middles, step_p(early, late)))
    return _beyond_noise(found, matters)


def _beyond_noise(found: Sequence[Part], matters: float, family: int = 1) -> tuple[Part, ...]:
    """Those that differ enough, by Holm's method; the largest difference first."""
    kept = []
    for rank, one in enumerate(sorted(found, key=lambda one: one.p)):
        if one.p > SIGNIFICANCE / (len(found) - rank) / family:
            break
        if abs(one.by) >= matters:
            kept.append(one)
    return tuple(sorted(kept, key=lambda one: -abs(one.by)))


def _places(point: Point) -> list[str]:
    return [name for trial in point.trials for name in trial.losses]


def _loss(point: Point, place: str) -> tuple[float, ...]:
    """Per cent of the packets offered that were lost there."""
    offered = (
        (trial.losses, sent) for trial in point.trials if (sent := _offered(trial)) is not None
    )
    return tuple(100 * losses.get(place, 0) / sent for losses, sent in offered)


def _offered(trial: TrialRow) -> float | None:
    packets = (trial.offered_pps or 0.0) * (trial.duration_s or 0.0)
    return packets if packets > 0 else None


def _limit(points: Sequence[Point]) -> str:
    """The one of most trials; nothing where several take turns."""
    counted = Counter(trial.limit for one in points for trial in one.trials if trial.limit)
    for name, count in counted.most_common(1):
        return name if count >= LIMIT_SHARE * counted.total() else ""
    return ""


def _alike(nodes: Sequence[Part], before: Sequence[Point]) -> bool:
    """Whether no node is to blame."""
    factors = [one.after / one.before for one in nodes if one.before > 0]
    if len(factors) < NODES_ALIKE or len(factors) < len(nodes):
        return False
    whole = median(sum(trial.nodes.values()) for one in before for trial in one.trials)
    if sum(one.before for one in nodes) < SHARE_ALIKE * whole:
        return False
    one_way = all(one.by > 0 for one in nodes) or all(one.by < 0 for one in nodes)
    return one_way and max(factors) <= ALIKE * min(factors)
