"""Runs side by side: which is faster, by how much, is it more than noise.

Repeated trials in a run, or in several runs of one device, are ranked: an exact test says whether a
difference is significant. With too few of them there is no conclusion.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel

from linerate.model.findings import faults
from linerate.model.ledger import cycles_by_node, forwarder_ledgers
from linerate.model.power import Estimate, PowerFigures
from linerate.results.gates import PAIRS, Gate, GateResult, Samples, judge
from linerate.results.side_titles import titles
from linerate.results.signed_ranks import pairs_needed
from linerate.results.statistics import (
    RankTest,
    Rates,
    p_text,
    pair_test,
    rank_test,
    rates_of,
    repeats_needed,
)
from linerate.results.store import Result, Run, sound
from linerate.results.turns import in_turn, paired

Judgement = Literal["faster", "slower", "same", "unknown"]

#: Differences that are reported: in losses, per cent of the packets, and in cycles/packet.
LOSS_MATTERS = 0.01
CLOCKS_MATTER = 0.5
#: From this factor on a difference is written as one, and no repeats are asked for to see it.
LARGE = 2.0
#: Not known of older runs.
LATER = ("hostname", "commit", "bios", "nic", "nic_firmware")
#: Limits that are none of the device's.
OUTSIDE = ("line", "tester")


class CompareError(ValueError):
    """Runs that have nothing in common to compare."""


@dataclass(frozen=True, slots=True)
class Side:
    """One device: its runs, each measured by itself."""

    name: str
    runs: tuple[Run, ...]
    #: Traits that differ from the other devices, in a word or two.
    title: str = ""

    @property
    def called(self) -> str:
        """Its title, or else the name of its first run."""
        return self.title or self.name

    def results(self, test: str) -> list[Result]:
        """Sound trials of a test, over all runs, the last attempt at each."""
        return sound(result for run in self.runs for result in run.repeats().get(test, []))


@dataclass(frozen=True, slots=True)
class Difference:
    """A test on two devices; `other` compared with `base`."""

    test: str
    base: Rates
    other: Rates
    #: Medians of runs that took turns, pair by pair; none where too few did.
    turns: tuple[tuple[float, float], ...] = ()

    @property
    def ratio(self) -> float | None:
        """Speed-up; None if one forwarded nothing."""
        if not self.base.middle or not self.other.middle:
            return None
        return self.other.middle / self.base.middle

    @property
    def percent(self) -> float | None:
        """By how much faster, or slower (negative)."""
        return None if self.ratio is None else 100 * (self.ratio - 1)

    @property
    def change(self) -> str:
        """By how much in words: `+3.1 %`; a factor where it is a large one."""
        if self.ratio is None or self.percent is None:
            return "none forwarded" if not self.other.middle else "forwards, unlike the base"
        if self.ratio >= LARGE:
            return f"{self.ratio:.3g} × faster"
        if self.ratio <= 1 / LARGE:
            return f"{1 / self.ratio:.3g} × slower"
        # No -0.00.
        return f"{round(self.percent, 2) or 0.0:+.2f} %"

    @property
    def is_large(self) -> bool:
        """Whether no repeats are needed to see it: noise is no factor."""
        return self.ratio is not None and not 1 / LARGE < self.ratio < LARGE

    @property
    def rank_test(self) -> RankTest:
        """Probability that chance alone separates the trials this way."""
        if self.turns:
            base, other = zip(*self.turns, strict=True)
            return pair_test(base, other)
        return rank_test(self.base.trials, self.other.trials)

    @property
    def judgement(self) -> Judgement:
        """Is it more than noise; unknown with too few trials to tell."""
        test = self.rank_test
        if not test.can_tell:
            return "unknown"
        gap = self.other.middle - self.base.middle
        if not test.tells or not gap:
            return "same"
        return "faster" if gap > 0 else "slower"


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of a ledger on two devices."""

    test: str
    #: A place of loss, or a node.
    name: str
    base: float
    other: float

    @property
    def by(self) -> float:
        """Growth."""
        return self.other - self.base


@dataclass(frozen=True, slots=True)
class PowerChange:
    """A figure of power on two devices, each with its error."""

    test: str
    #: `W under load`, `idle W`, `nJ/packet`.
    name: str
    base: Estimate
    other: Estimate

    @property
    def by(self) -> Estimate:
        """Growth, and the error of both together."""
        error = math.hypot(self.base.plus_minus, self.other.plus_minus)
        return Estimate(value=self.other.value - self.base.value, plus_minus=error)

    @property
    def is_more_than_error(self) -> bool:
        """Whether the error does not explain it."""
        return abs(self.by.value) > self.by.plus_minus


@dataclass(frozen=True, slots=True)
class Pair:
    """All that two devices differ in."""

    base: Side
    other: Side
    rates: tuple[Difference, ...]
    #: Per cent of the packets lost at each place.
    losses: tuple[Change, ...]
    #: Cycles a packet of each node.
    clocks: tuple[Change, ...]
    #: Cycles of all nodes for each packet that entered, by test.
    costs: tuple[Change, ...]
    #: Power, where both were measured by the same kind of meter.
    power: tuple[PowerChange, ...]
    #: Tests in which neither could show what it can do: line or tester held both back.
    held_back: tuple[str, ...]
    #: Other differences: name, of base, of other.
    conditions: tuple[tuple[str, str, str], ...]
    #: Changes that were to be judged.
    gates: tuple[GateResult, ...] = ()

    @property
    def repeated(self) -> bool:
        """Whether any test has trials enough on both to tell."""
        return any(difference.judgement != "unknown" for difference in self.rates)


def sides(groups: Sequence[Sequence[tuple[str, Run]]]) -> list[Side]:
    """Make devices of runs. A group given as one is one device; else equal testbeds are."""
    if any(len(group) > 1 for group in groups):
        return _named((tuple(run for _, run in group), group[0][0]) for group in groups)
    single = [group[0] for group in groups]
    alike: dict[str, list[tuple[str, Run]]] = {}
    for name, run in single:
        alike.setdefault(run.testbed.model_dump_json(), []).append((name, run))
    if len(alike) < 2:
        # One testbed alone: what the user gave stands against each other.
        return _named(((run,), name) for name, run in single)
    return _named((tuple(run for _, run in group), group[0][0]) for group in alike.values())


def _named(groups: Iterable[tuple[tuple[Run, ...], str]]) -> list[Side]:
    """Name each device after its first run; twice the same gets a number."""
    named: list[Side] = []
    for runs, name in groups:
        taken = {side.name for side in named}
        number = next(n for n in range(1, len(taken) + 2) if _numbered(name, n) not in taken)
        named.append(Side(_numbered(name, number), runs))
    words = titles([side.runs[0] for side in named], [side.name for side in named])
    return [replace(side, title=title) for side, title in zip(named, words, strict=True)]


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} ({number})"


def compare(devices: Sequence[Side], gates: Sequence[Gate] = ()) -> list[Pair]:
    """Each device against the first, judged by gates. Raises CompareError."""
    if len(devices) < 2:
        raise CompareError("these runs are of one device: nothing to compare it with")
    base, *others = devices
    return [_pair(base, other, gates) for other in others]


def _pair(base: Side, other: Side, gates: Sequence[Gate]) -> Pair:
    tests = dict.fromkeys(test for side in (base, other) for run in side.runs for test in run.tests)
    common = {
        test: (before, after)
        for test in tests
        if (before := base.results(test)) and (after := other.results(test))
    }
    if not common:
        raise CompareError(f"{base.name} and {other.name} have no test in common with a result")
    return Pair(
        base=base,
        other=other,
        rates=tuple(
            Difference(test, _rates(before), _rates(after), _turns(test, base, other))
            for test, (before, after) in common.items()
        ),
        losses=tuple(
            change
            for test, (before, after) in common.items()
            for change in _changes(test, _losses(before), _losses(after), LOSS_MATTERS)
        ),
        clocks=tuple(
            change
            for test, (before, after) in common.items()
            for change in _changes(test, _clocks(before), _clocks(after), CLOCKS_MATTER)
        ),
        costs=tuple(
            Change(test, "all nodes", early, late)
            for test, (before, after) in common.items()
            if (early := _cost(before)) and (late := _cost(after))
        ),
        power=tuple(
            change
            for test, (before, after) in common.items()
            for change in _power(test, before, after)
        ),
        held_back=tuple(
            test
            for test, (before, after) in common.items()
            if all(result.verdict.limit in OUTSIDE for result in (*before, *after))
        ),
        conditions=_conditions(base.runs[0], other.runs[0]),
        gates=tuple(one for gate in gates for one in _judge(gate, base, other, common)),
    )


def _judge(
    gate: Gate,
    base: Side,
    other: Side,
    tests: Mapping[str, tuple[Sequence[Result], Sequence[Result]]],
) -> list[GateResult]:
    """In pairs those tests whose runs were measured in turn; trial by trial the others."""
    pairs = in_turn(base.runs, other.runs)
    turns = {test: both for test in tests if len((both := paired(test, pairs))[0]) > 1}
    single: dict[str, Samples] = {
        test: ([[one] for one in before], [[one] for one in after])
        for test, (before, after) in tests.items()
    }
    return judge(gate, {**single, **turns}, dict.fromkeys(turns, PAIRS))


#: Figures of power that are compared.
POWER_NAMES = {
    "idle W": "idle_watts",
    "W under load": "watts",
    "nJ/packet": "nj_per_packet",
}


def _power(test: str, before: list[Result], after: list[Result]) -> Iterable[PowerChange]:
    """Power of a test, where both have it from one kind of meter: others see other parts."""
    base, other = _measured_power(before), _measured_power(after)
    kinds = {(one.about.source, one.about.covers) for one in (*base, *other)}
    if not base or not other or len(kinds) > 1:
        return
    for name, field in POWER_NAMES.items():
        early, late = _mean(base, field), _mean(other, field)
        if early is not None and late is not None:
            yield PowerChange(test, name, early, late)


def _measured_power(results: list[Result]) -> list[PowerFigures]:
    return [one.power for one in results if one.power is not None and one.power.watts is not None]


def _mean(found: list[PowerFigures], field: str) -> Estimate | None:
    """Mean of repeated trials: what they differ by is an error of it, and each one's own."""
    each: list[Estimate] = [one for figures in found if (one := getattr(figures, field))]
    if not each:
        return None
    values = [one.value for one in each]
    own = statistics.fmean(one.plus_minus for one in each)
    spread = (max(values) - min(values)) / 2
    return Estimate(value=statistics.fmean(values), plus_minus=math.hypot(own, spread))


def _rates(results: list[Result]) -> Rates:
    return Rates(tuple(rates_of(results)))


def _turns(test: str, base: Side, other: Side) -> tuple[tuple[float, float], ...]:
    """Trials of one run share its start: where runs took turns their medians are compared."""
    before, after = paired(test, in_turn(base.runs, other.runs))
    if len(before) < pairs_needed():
        return ()
    medians = ([_rates(run).middle for run in runs] for runs in (before, after))
    return tuple(zip(*medians, strict=True))


def _changes(
    test: str, base: dict[str, float], other: dict[str, float], matters: float
) -> list[Change]:
    """Figures that are not the same, the largest change first."""
    names = dict.fromkeys([*base, *other])
    changes = [Change(test, name, base.get(name, 0.0), other.get(name, 0.0)) for name in names]
    grown = (change for change in changes if abs(change.by) >= matters)
    return sorted(grown, key=lambda change: -abs(change.by))


def _losses(results: list[Result]) -> dict[str, float]:
    """Per cent of the packets sent that were lost at each place, over all trials."""
    sent = sum(result.packets.sent for result in results)
    lost: dict[str, float] = {}
    for result in results:
        for place, packets in result.packets.losses.items():
            lost[place] = lost.get(place, 0.0) + (100 * packets / sent if sent else 0.0)
    return lost


def _clocks(results: list[Result]) -> dict[str, float]:
    """Cycles of each node of the forwarder for a packet of its own, over all trials."""
    spent: dict[str, tuple[int, int]] = {}
    for result in results:
        for ledger in forwarder_ledgers(result.time_at_load):
            for name, node in ledger.nodes.items():
                clocks, packets = spent.get(name, (0, 0))
                spent[name] = (clocks + node.clocks, packets + node.vectors)
    return {name: clocks / packets for name, (clocks, packets) in spent.items() if packets}


def _cost(results: list[Result]) -> float | None:
    """Cycles of all nodes of the forwarders for each packet that entered, over all trials."""
    ledgers = [ledger for result in results for ledger in result.time_at_load]
    return sum(cycles_by_node(ledgers).values()) or None


def _conditions(base: Run, other: Run) -> tuple[tuple[str, str, str], ...]:
    """Other differences: those of machines are none of devices."""
    here = _flat(base.environment) | _flat(base.testbed) | _faults(base) | _profiles(base)
    there = _flat(other.environment) | _flat(other.testbed) | _faults(other) | _profiles(other)
    return tuple(
        (name, here.get(name, "none"), there.get(name, "none"))
        for name in dict.fromkeys([*here, *there])
        if here.get(name) != there.get(name)
        and not (name in LATER and "" in (here.get(name), there.get(name)))
    )


def _faults(run: Run) -> dict[str, str]:
    """The doctor's findings before the run, in the same form."""
    return {"faults of the host": ", ".join(found.name for found in faults(run.host)) or "none"}


def _profiles(run: Run) -> dict[str, str]:
    """Tests' traffic profiles."""
    return {
        f"traffic of {one.test}": f"{one.profile.text} at {one.profile.rate}, "
        f"{one.profile.streams:,} streams, mean frame {one.profile.frame_bytes:.1f} B"
        for one in run.reported()
        if one.profile is not None
    }


def _flat(model: BaseModel, prefix: str = "") -> dict[str, str]:
    """Every field in text, by its path: `dut.mode`."""
    fields: dict[str, str] = {}
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            fields |= _flat(value, f"{prefix}{name}.")
        else:
            fields[prefix + name] = str(value)
    return fields


def sentence(pair: Pair) -> str:
    """The faster one, by how much, and the significance."""
    base, other = pair.base.called, pair.other.called
    count = len(pair.rates)
    if not pair.repeated:
        found = f"{_span(pair.rates)}; {_held_back(pair)}"
        return f"{other} against {base}: {found}{_unknown(pair)}."
    parts = []
    for judgement in ("faster", "slower"):
        those = [difference for difference in pair.rates if difference.judgement == judgement]
        if those:
            least = p_text(max(difference.rank_test.p for difference in those))
            p = f"p {least}" if least.startswith("<") else f"p ≤ {least}"
            parts.append(f"{judgement} in {len(those)} of {count} tests ({_span(those)}, {p})")
    same = sum(difference.judgement == "same" for difference in pair.rates)
    unknown = sum(difference.judgement == "unknown" for difference in pair.rates)
    if same:
        parts.append(f"no more than noise in {same} of {count}")
    if unknown:
        parts.append(f"too few repeats in {unknown}")
    text = "; ".join(parts)
    return f"{other} against {base}: {_held_back(pair)}{text}."


def _held_back(pair: Pair) -> str:
    """Equal rates at the line make no equal devices."""
    count, tests = len(pair.held_back), len(pair.rates)
    if not count:
        return ""
    which = "all tests" if count == tests else f"{count} of {tests} tests"
    return f"line or tester limited both in {which} (compare their cycles); "


def _unknown(pair: Pair) -> str:
    """Reason for no conclusion, and the remedy."""
    each = [(len(one.base.trials), len(one.other.trials)) for one in pair.rates]
    fewest = min(map(min, each), default=1)
    trials = "one trial" if fewest == 1 else f"{fewest} trials"
    if all(one.is_large for one in pair.rates):
        return f"{trials} of one of them, which differences this large do not need"
    return (
        f"{trials} of one of them: needs at least {repeats_needed()} repeats of each to tell "
        "(linerate bench --repeat, or linerate compare A1,A2 B1,B2)"
    )


def _span(differences: Sequence[Difference]) -> str:
    """From the least to the greatest difference: `+1.2 to +8.3 %`."""
    known = sorted(d.percent for d in differences if d.percent is not None)
    if not known:
        return "no rate to compare"
    if large := [one for one in differences if one.is_large]:
        parts = [
            _factors([factor for one in large if (factor := _factor(one, word))], word)
            for word in ("faster", "slower")
        ]
        return ", ".join(filter(None, parts)) + _others(differences)
    figures = dict.fromkeys(f"{round(value, 1) or 0.0:+.1f}" for value in (known[0], known[-1]))
    return " to ".join(figures) + " %"


def _factor(one: Difference, word: str) -> float | None:
    """Speed-up, or slow-down."""
    ratio = one.ratio or 0.0
    if word == "faster":
        return ratio if ratio >= LARGE else None
    return 1 / ratio if 0 < ratio <= 1 / LARGE else None


def _factors(found: list[float], word: str) -> str:
    """`3.2 to 140 × slower`."""
    if not found:
        return ""
    ends = dict.fromkeys(f"{value:.3g}" for value in (min(found), max(found)))
    return f"{' to '.join(ends)} × {word}"


def _others(differences: Sequence[Difference]) -> str:
    """Span of the tests without a large difference."""
    small = [one for one in differences if not one.is_large]
    return f", {_span(small)} in {len(small)} of {len(differences)} tests" if small else ""
