"""Cost of a feature: two runs of one scenario, one with it and one without, by test."""

from dataclasses import dataclass
from statistics import median

from linerate.model.ledger import cycles_by_node
from linerate.model.scenario import ScenarioUse
from linerate.results.statistics import Rates
from linerate.results.store import Result, Run, StoreError, sound


@dataclass(frozen=True, slots=True)
class Side:
    """All sound trials of one test on one side."""

    pps: Rates
    #: Cycles a packet of each trial; empty where the box's cycles are not known.
    cycles: Rates
    #: By node: cycles a packet, the median of the trials.
    nodes: dict[str, float]
    limit: str


@dataclass(frozen=True, slots=True)
class Cost:
    """One test, without the feature and with it."""

    test: str
    without: Side
    with_it: Side

    @property
    def cycles(self) -> float | None:
        """Cycles a packet that the feature adds."""
        if not self.without.cycles.trials or not self.with_it.cycles.trials:
            return None
        return self.with_it.cycles.middle - self.without.cycles.middle

    @property
    def cycles_percent(self) -> float | None:
        """The same, of the cycles without it."""
        added = self.cycles
        base = self.without.cycles.middle if self.without.cycles.trials else 0.0
        return 100 * added / base if added is not None and base else None

    @property
    def rate_percent(self) -> float | None:
        """Change of the forwarding rate."""
        base = self.without.pps.middle
        return 100 * (self.with_it.pps.middle - base) / base if base else None

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


def pair_of(without: Run, with_it: Run) -> Pair:
    """Compare two runs of a scenario; raises StoreError where they are no pair."""
    first, second = without.scenario, with_it.scenario
    if first is None or second is None:
        raise StoreError("a pair is of two runs of `linerate scenario run`; expected those")
    if (first.name, first.box, first.digest) != (second.name, second.box, second.digest):
        raise StoreError(
            f"{first.name} on {first.box} and {second.name} on {second.box}: expected runs of one "
            "scenario's file on one kind of box"
        )
    differing = [name for name, value in first.values.items() if second.values.get(name) != value]
    if len(differing) != 1:
        found = ", ".join(differing) or "none"
        raise StoreError(f"a pair differs in one value; expected one, not {found}")
    before, after = _sides(without), _sides(with_it)
    costs = tuple(Cost(test, before[test], after[test]) for test in before if test in after)
    return Pair(first, second, differing[0], costs)


def _sides(run: Run) -> dict[str, Side]:
    return {
        test: _side(trials) for test, results in run.repeats().items() if (trials := sound(results))
    }


def _side(trials: list[Result]) -> Side:
    nodes = [cycles_by_node(trial.time_at_load) for trial in trials]
    names = dict.fromkeys(name for one in nodes for name in one)
    cycles = tuple(sum(one.values()) for one in nodes if one)
    return Side(
        pps=Rates(tuple(trial.received_pps for trial in trials)),
        cycles=Rates(cycles),
        nodes={name: median(one.get(name, 0.0) for one in nodes) for name in names},
        limit=trials[0].verdict.limit,
    )
