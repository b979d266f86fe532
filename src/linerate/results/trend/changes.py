"""Changes of series: where, by how much, how sure; and those of the machine, which are none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from linerate.results.statistics import SIGNIFICANCE, least_p
from linerate.results.trend.inside import Inside, inside, node_cycles, node_names
from linerate.results.trend.series import CYCLES, MACHINE, Point, Series
from linerate.results.trend.steps import Step, steps

#: The figure itself, beside its parts.
WHOLE = "all nodes"
#: Smaller changes are not reported, per cent.
LEAST_PERCENT = 1.0
#: Cycles of a node that is judged by itself, as a share of all nodes' at its most.
NODE_SHARE = 0.01
#: Steps of a series this near to each other are of one change, points.
NEAR = 1
#: Fewer commits than this on a side, and the next ones may show it to be noise.
FIRM_POINTS = 3
#: Factor from a median absolute deviation to a normal distribution's standard deviation.
DEVIATIONS = 1.4826


@dataclass(frozen=True, slots=True)
class Change:
    """A step of one series on one machine."""

    #: Number of the first point behind it; where the group before begins, and the one after ends.
    at: int
    start: int
    end: int
    #: Growth of the figure, per cent.
    percent: float
    #: Whether more of the figure is worse, as of cycles.
    worse_up: bool
    #: Probability that chance alone makes it, at any place of any series that was looked at.
    p: float
    #: Where it was seen best: all nodes, or one.
    seen_in: str
    before: Point
    after: Point
    inside: Inside

    @property
    def slower(self) -> bool:
        """Whether it is for the worse."""
        return (self.percent > 0) == self.worse_up

    @property
    def slower_percent(self) -> float:
        """Growth for the worse; negative of one for the better."""
        return self.percent if self.worse_up else -self.percent

    @property
    def firm(self) -> bool:
        """Whether enough commits on both sides show it."""
        return min(self.at - self.start, self.end - self.at) >= FIRM_POINTS


@dataclass(frozen=True, slots=True)
class MachineChange:
    """Two machines, one after the other; figures before and after are not compared."""

    #: Number of the first point on the new one.
    at: int
    #: By stamp: before and after.
    stamps: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Group:
    """Points between two changes."""

    start: int
    end: int
    #: Median of the points' medians.
    middle: float


@dataclass(frozen=True, slots=True)
class Trend:
    """A series with all that changed in it."""

    series: Series
    changes: tuple[Change, ...] = ()
    machines: tuple[MachineChange, ...] = ()
    groups: tuple[Group, ...] = field(default=())

    @property
    def noise_percent(self) -> float | None:
        """Standard deviation of the points within their groups, robust; None of single ones."""
        values = self.series.values
        off = [
            abs(values[at] - group.middle) / group.middle
            for group in self.groups
            for at in range(group.start, group.end)
            if group.end - group.start > 1 and group.middle
        ]
        return 100 * DEVIATIONS * median(off) if off else None

    def standing(self, percent: float) -> tuple[Change, ...]:
        """Changes for the worse by this much, that later ones have not taken back."""
        last = self.series.machines[-1].start
        changes = [one for one in self.changes if one.start >= last]
        return tuple(
            one
            for at, one in enumerate(changes)
            if one.slower_percent >= percent and _net(changes[at:]) >= percent
        )

    def can_tell(self, family: int) -> bool:
        """Whether a step at the newest point could be distinguished from noise."""
        points = [self.series.points[at] for at in self.series.machines[-1]]
        counts = [len(one.values(self.series.figure)) for one in points]
        if len(counts) < 2:
            return False
        places = len(counts) - 1
        return least_p(sum(counts[:-1]), counts[-1]) * places * family <= SIGNIFICANCE


def _net(changes: Sequence[Change]) -> float:
    """Growth for the worse of several changes, one after the other, per cent."""
    factor = 1.0
    for one in changes:
        factor *= 1 + one.percent / 100
    growth = 100 * (factor - 1)
    return growth if changes[0].worse_up else -growth


@dataclass(frozen=True, slots=True)
class _Seen:
    """A step of one part of a series on one machine."""

    series: int
    machine: range
    part: str
    step: Step

    @property
    def at(self) -> int:
        """Number of its point in the series."""
        return self.machine.start + self.step.at


def trends(found: Sequence[Series], least_percent: float = LEAST_PERCENT) -> list[Trend]:
    """Judge all series together: the more are looked at, the surer a change must be."""
    family, seen = 0, []
    for number, series in enumerate(found):
        for machine in series.machines:
            for part, points in _parts(series, machine):
                family += 1
                seen += [_Seen(number, machine, part, one) for one in steps(points)]
    kept: dict[int, list[_Seen]] = {}
    for one in _holm(seen, max(family, len(seen))):
        kept.setdefault(one.series, []).append(one)
    return [
        _trend(series, kept.get(number, []), least_percent) for number, series in enumerate(found)
    ]


def family_of(found: Sequence[Series]) -> int:
    """The number of figures that are looked at."""
    return sum(1 for one in found for machine in one.machines for _ in _parts(one, machine))


def _parts(series: Series, machine: range) -> Iterator[tuple[str, list[tuple[float, ...]]]]:
    """The figure, and each node that has a share of it, by the points of one machine."""
    points = [series.points[at] for at in machine]
    whole = [one.values(series.figure) for one in points]
    yield WHOLE, whole
    if series.figure != CYCLES or not all(trial.nodes for one in points for trial in one.trials):
        return
    least = NODE_SHARE * median(map(median, whole))
    for node in node_names(points):
        cycles = [node_cycles(one, node) for one in points]
        if max(map(median, cycles)) >= least:
            yield node, cycles


def _holm(seen: Sequence[_Seen], family: int) -> list[_Seen]:
    """Those that stay: the k-th smallest of m probabilities is held against α / (m - k)."""
    kept = []
    for rank, one in enumerate(sorted(seen, key=lambda one: one.step.p)):
        p = one.step.p * (family - rank)
        if p > SIGNIFICANCE:
            break
        kept.append(_Seen(one.series, one.machine, one.part, Step(one.step.at, p)))
    return kept


def _trend(series: Series, seen: list[_Seen], least_percent: float) -> Trend:
    changes: list[Change] = []
    for machine in series.machines:
        mine = [one for one in seen if one.machine == machine]
        changes += _of_machine(series, machine, mine, least_percent)
    starts = sorted({one.start for one in series.machines} | {one.at for one in changes})
    values = series.values
    ends = [*starts[1:], len(values)]
    groups = tuple(
        Group(start, end, median(values[start:end]))
        for start, end in zip(starts, ends, strict=True)
    )
    return Trend(series, tuple(changes), tuple(_machines(series)), groups)


def _of_machine(
    series: Series, machine: range, seen: list[_Seen], least_percent: float
) -> list[Change]:
    """Steps of parts as changes; one that is too small is none, and its groups are one."""
    together = _together(seen)
    while together:
        places = [min(group, key=lambda one: one.step.p).at for group in together]
        edges = [machine.start, *places, machine.stop]
        made = [_change(series, edges[at : at + 3], group) for at, group in enumerate(together)]
        small = [at for at, one in enumerate(made) if abs(one.percent) < least_percent]
        if not small:
            return made
        together.pop(min(small, key=lambda at: abs(made[at].percent)))
    return []


def _together(seen: list[_Seen]) -> list[list[_Seen]]:
    """Steps by their change, in order."""
    groups: list[list[_Seen]] = []
    for one in sorted(seen, key=lambda one: one.at):
        if groups and one.at - groups[-1][-1].at <= NEAR:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _change(series: Series, edges: Sequence[int], seen: list[_Seen]) -> Change:
    start, at, end = edges
    best = min(seen, key=lambda one: one.step.p)
    before, after = series.points[start:at], series.points[at:end]
    what = inside(before, after)
    return Change(
        at=at,
        start=start,
        end=end,
        percent=_percent(series, edges, {one.part for one in seen}),
        worse_up=series.figure == CYCLES,
        p=best.step.p,
        seen_in=best.part,
        before=before[-1],
        after=after[0],
        inside=what,
    )


def _percent(series: Series, edges: Sequence[int], parts: set[str]) -> float:
    """Size of the figure's step where it has one; else of the nodes that have, in its size."""
    start, at, end = edges
    early, late = median(series.values[start:at]), median(series.values[at:end])
    if not early:
        return 0.0
    if WHOLE in parts:
        return 100 * (late / early - 1)
    before, after = series.points[start:at], series.points[at:end]
    return 100 * sum(_node(after, name) - _node(before, name) for name in parts) / early


def _node(points: Sequence[Point], name: str) -> float:
    return median(median(node_cycles(one, name)) for one in points)


def _machines(series: Series) -> Iterator[MachineChange]:
    for machine in series.machines[1:]:
        early = series.points[machine.start - 1].machine
        late = series.points[machine.start].machine
        stamps = {name: (early[name], late[name]) for name in MACHINE if early[name] != late[name]}
        yield MachineChange(machine.start, stamps)
