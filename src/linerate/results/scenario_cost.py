"""Cost of a feature: runs of one scenario with it and without, by test.

Runs that took turns are compared in pairs, each a median of its trials: drift of the machine is in
both. Of others only medians are known, and no interval.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, log
from statistics import median

from linerate.model.ledger import cycles_by_node
from linerate.model.scenario import ScenarioUse
from linerate.results import repeats_to_tell
from linerate.results.signed_ranks import CONFIDENCE, Size, size
from linerate.results.statistics import Rates
from linerate.results.store import Result, Run, StoreError, sound
from linerate.results.turns import in_turn, paired

#: A cost that pairs should find: where noise hides it, that is reported.
FOUND_PERCENT = 3.0


@dataclass(frozen=True, slots=True)
class Side:
    """All sound trials of one test on one side."""

    pps: Rates
    #: Cycles a packet of each trial; empty where the box's cycles are not known.
    cycles: Rates
    #: By node: cycles a packet, the median of the trials.
    nodes: dict[str, float]
    limit: str


#: A figure without the feature and with it, by pair.
Figures = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Cost:
    """One test, without the feature and with it."""

    test: str
    without: Side
    with_it: Side
    #: Cycles a packet of each pair of runs that took turns, and packets a second.
    cycles_pairs: Figures = field(default=())
    pps_pairs: Figures = field(default=())

    @cached_property
    def cycles(self) -> Size | None:
        """Cycles a packet that the feature adds."""
        if self.cycles_pairs:
            return size([after - before for before, after in self.cycles_pairs])
        if not self.without.cycles.trials or not self.with_it.cycles.trials:
            return None
        return Size(self.with_it.cycles.middle - self.without.cycles.middle, None)

    @cached_property
    def cycles_percent(self) -> Size | None:
        """The same, of the cycles without it."""
        return _percent(self.cycles_pairs, self.without.cycles, self.with_it.cycles)

    @cached_property
    def rate_percent(self) -> Size | None:
        """Change of the forwarding rate."""
        return _percent(self.pps_pairs, self.without.pps, self.with_it.pps)

    @property
    def pairs(self) -> int:
        """Pairs in which both sides have a sound trial."""
        return len(self.pps_pairs)

    @cached_property
    def pairs_to_tell(self) -> int | None:
        """Pairs that find a cost of FOUND_PERCENT nine times in ten; None: too many, or unknown."""
        figures = self.cycles_pairs or self.pps_pairs
        if not all(value > 0 for pair in figures for value in pair):
            return None
        before, after = ([log(pair[side]) for pair in figures] for side in (0, 1))
        found = log(1 + FOUND_PERCENT / 100)
        return repeats_to_tell.of_pairs(before, after, found, (1 - CONFIDENCE) / 2)

    @property
    def is_too_noisy(self) -> bool:
        """Whether no cost was found, and noise would hide one of FOUND_PERCENT."""
        judged = self.cycles_percent or self.rate_percent
        if judged is None or judged.interval is None or judged.is_beyond_noise:
            return False
        return self.pairs_to_tell is None or self.pairs_to_tell > self.pairs

    @property
    def nodes(self) -> dict[str, float]:
        """By node: the cycles a packet that it adds, most first."""
        names = {*self.without.nodes, *self.with_it.nodes}
        added = {
            name: self.with_it.nodes.get(name, 0.0) - self.without.nodes.get(name, 0.0)
            for name in names
        }
        return dict(sorted(added.items(), key=lambda one: -abs(one[1])))


@dataclass(frozen=True, slots=True)
class Pair:
    """A scenario measured without one feature and with it."""

    without: ScenarioUse
    with_it: ScenarioUse
    #: The value that differs.
    value: str
    costs: tuple[Cost, ...]

    @property
    def text(self) -> str:
        """In a line."""
        names = (self.without.values[self.value], self.with_it.values[self.value])
        return f"{self.without.name} on {self.without.box}: {self.value} {names[0]} and {names[1]}"


def pair_of(without: Sequence[Run], with_it: Sequence[Run]) -> Pair:
    """Compare runs of a scenario, one or more a side. Raises StoreError where they are no pair."""
    first, second = _use(without), _use(with_it)
    if (first.name, first.box, first.digest) != (second.name, second.box, second.digest):
        raise StoreError(
            f"{first.name} on {first.box} and {second.name} on {second.box}: expected runs of one "
            "scenario's file on one kind of box"
        )
    differing = [name for name, value in first.values.items() if second.values.get(name) != value]
    if len(differing) != 1:
        found = ", ".join(differing) or "none"
        raise StoreError(f"a pair differs in one value; expected one, not {found}")
    turns = in_turn(without, with_it)
    before, after = _sides(without), _sides(with_it)
    costs = (
        _cost(test, before[test], after[test], turns if len(turns) > 1 else [])
        for test in before
        if test in after
    )
    return Pair(first, second, differing[0], tuple(costs))


def _use(runs: Iterable[Run]) -> ScenarioUse:
    """The one scenario, box and values of a side."""
    uses = {run.scenario.model_dump_json(): run.scenario for run in runs if run.scenario}
    if any(run.scenario is None for run in runs) or not uses:
        raise StoreError("a pair is of runs of `linerate scenario run`; expected those")
    if len(uses) > 1:
        raise StoreError("one side has runs of several values; expected those of one alone")
    return next(iter(uses.values()))


def _cost(test: str, before: Side, after: Side, turns: Sequence[tuple[Run, Run]]) -> Cost:
    cycles, pps = [], []
    for sample in zip(*paired(test, turns), strict=True):
        first, second = map(_side, sample)
        pps.append((first.pps.middle, second.pps.middle))
        if first.cycles.trials and second.cycles.trials:
            cycles.append((first.cycles.middle, second.cycles.middle))
    return Cost(test, before, after, tuple(cycles), tuple(pps))


def _percent(pairs: Figures, before: Rates, after: Rates) -> Size | None:
    """Change in per cent: of the pairs' factors, or of both medians."""
    if pairs and all(value > 0 for pair in pairs for value in pair):
        found = size([log(second / first) for first, second in pairs])
        ends = found.interval and (_as_percent(found.interval[0]), _as_percent(found.interval[1]))
        return Size(_as_percent(found.middle), ends)
    if not before.trials or not after.trials or not before.middle:
        return None
    return Size(100 * (after.middle - before.middle) / before.middle, None)


def _as_percent(logarithm: float) -> float:
    return 100 * (exp(logarithm) - 1)


def _sides(runs: Iterable[Run]) -> dict[str, Side]:
    """All sound trials of each test, over all runs of a side."""
    trials: dict[str, list[Result]] = {}
    for run in runs:
        for test, results in run.repeats().items():
            trials.setdefault(test, []).extend(sound(results))
    return {test: _side(some) for test, some in trials.items() if some}


def _side(trials: Sequence[Result]) -> Side:
    nodes = [cycles_by_node(trial.time_at_load) for trial in trials]
    names = dict.fromkeys(name for one in nodes for name in one)
    cycles = tuple(sum(one.values()) for one in nodes if one)
    return Side(
        pps=Rates(tuple(trial.received_pps for trial in trials)),
        cycles=Rates(cycles),
        nodes={name: median(one.get(name, 0.0) for one in nodes) for name in names},
        limit=trials[0].verdict.limit,
    )
