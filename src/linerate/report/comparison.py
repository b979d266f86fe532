"""A comparison of runs as a document."""

from collections.abc import Iterator, Sequence
from functools import partial

from pydantic import Field

from linerate.base.published import Number, Output, published
from linerate.model.power import Estimate
from linerate.report import gates
from linerate.report.compared_lead import outcome, times
from linerate.report.document import (
    Document,
    Heading,
    Note,
    Section,
    Table,
    figures,
    sentences,
    text,
)
from linerate.report.figures import diverging
from linerate.report.figures.compared import bars
from linerate.report.framed import filled
from linerate.report.power import shown
from linerate.report.terminal import mpps
from linerate.results.compare import (
    Change,
    Difference,
    Judgement,
    Pair,
    PowerChange,
    Side,
    sentence,
)
from linerate.results.gates import Outcome
from linerate.results.statistics import p_text, repeats_needed

#: Largest changes of a test's ledgers that are printed.
CHANGES_A_TEST = 3
JUDGED = {
    "faster": "faster",
    "slower": "slower",
    "same": "no more than noise",
    "unknown": "too few repeats",
}
Row = tuple[str, ...]
COLUMNS = (
    *text("test"),
    *figures("base Mpps", "other Mpps", "change", "spreads", "p"),
    *text("verdict"),
)


def row(difference: Difference) -> Row:
    """One test, in text."""
    spreads = [
        "–" if rates.spread is None else mpps(rates.spread)
        for rates in (difference.base, difference.other)
    ]
    return (
        difference.test,
        mpps(difference.base.middle),
        mpps(difference.other.middle),
        difference.change,
        " / ".join(spreads),
        p_text(difference.rank_test.p) if difference.rank_test.can_tell else "–",
        _judged(difference),
    )


def _judged(difference: Difference) -> str:
    """A factor is seen without repeats."""
    if difference.judgement == "unknown" and difference.is_large:
        return "faster" if (difference.ratio or 0.0) > 1 else "slower"
    return JUDGED[difference.judgement]


def change_rows(changes: tuple[Change, ...], unit: str) -> list[Row]:
    """The largest changes of each test, in text."""
    rows: list[Row] = []
    taken: dict[str, int] = {}
    for change in changes:
        taken[change.test] = taken.get(change.test, 0) + 1
        if taken[change.test] <= CHANGES_A_TEST:
            figures = f"{change.base:.2f}", f"{change.other:.2f}", f"{change.by:+.2f}{unit}"
            rows.append((change.test, change.name, *figures))
    return rows


def power_row(change: PowerChange) -> Row:
    """One figure of power, in text."""
    figures = shown(change.base), shown(change.other), shown(change.by)
    return (change.test, change.name, *figures, "yes" if change.is_more_than_error else "no")


def document(pairs: list[Pair]) -> Document:
    """All pairs, which have one base: their outcomes, bars, and a section for each."""
    names = [pair.other.called for pair in reversed(pairs)]
    parts = [part for number, pair in enumerate(pairs, start=1) for part in _pair(number, pair)]
    return Document(
        title=" against ".join([*names, pairs[0].base.called]),
        sections=filled((*map(outcome, pairs), *map(_in_a_sentence, pairs), bars(pairs), *parts)),
        data=partial(outputs, pairs),
        schema="compare",
        cases=partial(gates.cases, pairs),
        sheet=partial(as_rows, pairs),
        page_title=f"{pairs[0].other.called} against {pairs[0].base.called}: linerate",
        about=tuple(
            (side.called, runs)
            for side in _sides(pairs)
            if (runs := ", ".join(_runs(side))) != side.called
        ),
    )


def _in_a_sentence(pair: Pair) -> Note:
    """The outcome of all tests in a sentence."""
    return Note(sentence(pair), "verdict")


def _sides(pairs: list[Pair]) -> list[Side]:
    return [pairs[0].base, *(pair.other for pair in pairs)]


def _runs(side: Side) -> list[str]:
    more = len(side.runs) - 1
    return [side.name, *([f"{more} more"] if more else [])]


def _pair(number: int, pair: Pair) -> list[Section]:
    """Rates, then all else that was not the same; empty tables left out."""
    title = f"{pair.other.called} against {pair.base.called}"
    rates = Table("Rates", COLUMNS, tuple(map(row, pair.rates)), titled=False)
    columns = figures("base", "other", "change")
    changes = (
        Table(
            "Power, each figure with its error",
            (*text("test", "figure"), *columns, *text("more than the error")),
            tuple(map(power_row, pair.power)),
        ),
        Table(
            "What changed in the losses, per cent of the packets sent",
            (*text("test"), *sentences("place"), *columns),
            tuple(change_rows(pair.losses, "")),
        ),
        Table(
            "Changes of cycles/packet, by node",
            (*text("test"), *sentences("node"), *columns),
            tuple(change_rows(pair.clocks, "")),
        ),
        Table(
            "What else was not the same",
            (*text("what"), *sentences("base", "other")),
            tuple(pair.conditions),
        ),
    )
    return [
        Heading(title, f"pair-{number}"),
        *gates.sections(pair),
        rates,
        *([costs] if (costs := _costs(pair)).rows else []),
        diverging.of_costs(number, pair),
        diverging.of_losses(number, pair),
        *(table for table in changes if table.rows),
    ]


def _costs(pair: Pair) -> Table:
    """Cycles of all nodes: what is left to compare where both reach the line."""
    rows = (
        (
            one.test,
            f"{one.base:,.1f}",
            f"{one.other:,.1f}",
            times(one.other / one.base),
            "yes" if one.test in pair.held_back else "no",
        )
        for one in pair.costs
    )
    columns = (
        *text("test"),
        *figures("base", "other", "change"),
        *text("line or tester limits both"),
    )
    return Table("Cycles of all nodes for each packet that entered", columns, tuple(rows))


class RankTestOutput(Output):
    """Whether a difference is more than noise."""

    test: str
    #: Probability that chance alone separates the trials this way.
    p: Number
    #: Whether so few trials could show any difference at all.
    can_tell: bool
    #: Trials of each that could.
    repeats_needed: int


class DifferenceOutput(Output):
    """One test on two devices."""

    test: str
    #: Each trial.
    base_trials_pps: tuple[Number, ...]
    other_trials_pps: tuple[Number, ...]
    base_median_pps: Number
    other_median_pps: Number
    #: From the slowest trial to the fastest; None of a single one.
    base_spread_pps: Number | None
    other_spread_pps: Number | None
    #: Speed-up; None where one forwarded nothing.
    ratio: Number | None
    #: By how much faster, or slower (negative).
    change_percent: Number | None
    judgement: Judgement
    rank_test: RankTestOutput


class ChangeOutput(Output):
    """One figure of a ledger on two devices."""

    test: str
    #: A place of loss, or a node.
    name: str
    base: Number
    other: Number
    change: Number = Field(validation_alias="by")


class PowerChangeOutput(Output):
    """A figure of power on two devices."""

    test: str
    #: `idle W`, `W under load`, `nJ/packet`.
    name: str
    base: Estimate
    other: Estimate
    change: Estimate = Field(validation_alias="by")
    is_more_than_error: bool


class ConditionOutput(Output):
    """Something that was not the same."""

    what: str
    base: str
    other: str


class GateOutput(Output):
    """A change, judged by a gate."""

    gate: str
    test: str
    #: `all`, a node or a stream.
    part: str
    #: Medians.
    base: Number
    other: Number
    change: Number
    #: Whether the change is in per cent of the base.
    percent: bool
    #: Probability that chance alone changes it this way; one-sided.
    p: Number
    outcome: Outcome
    #: Repeats of each that could tell.
    repeats_needed: int
    #: Repeats of each that were measured.
    repeats: int
    #: Repeats with which a change as large as the limit is found nine times in ten, by the spread
    #: of those measured; null: more than 500, too few were measured to know, or the limit is 0.
    repeats_to_tell: int | None
    #: Whether a change as large as the limit would have been found.
    is_precise: bool


class PairOutput(Output):
    """A device against the first."""

    base: str
    other: str
    sentence: str
    tests: tuple[DifferenceOutput, ...]
    #: Tests in which line or tester held both back.
    held_back: tuple[str, ...]
    #: Per cent of the packets lost at each place.
    losses_percent: tuple[ChangeOutput, ...]
    #: Cycles a packet of each node.
    cycles_per_packet: tuple[ChangeOutput, ...]
    #: Power, where both were measured.
    power: tuple[PowerChangeOutput, ...] = ()
    conditions: tuple[ConditionOutput, ...]
    #: Where changes were to be judged (`--fail-if`).
    gates: tuple[GateOutput, ...] = ()


published("compare", "JSON of `linerate compare --json`")(list[PairOutput])


def outputs(pairs: list[Pair]) -> list[PairOutput]:
    """The same for programs, figures unrounded."""
    return [
        PairOutput(
            base=pair.base.name,
            other=pair.other.name,
            sentence=sentence(pair),
            tests=tuple(map(_difference, pair.rates)),
            held_back=pair.held_back,
            losses_percent=tuple(map(ChangeOutput.model_validate, pair.losses)),
            cycles_per_packet=tuple(map(ChangeOutput.model_validate, pair.clocks)),
            **({"power": _power(pair)} if pair.power else {}),
            conditions=tuple(
                ConditionOutput(what=what, base=base, other=other)
                for what, base, other in pair.conditions
            ),
            **({"gates": tuple(map(GateOutput.model_validate, pair.gates))} if pair.gates else {}),
        )
        for pair in pairs
    ]


def as_rows(pairs: list[Pair]) -> Iterator[Sequence[object]]:
    """A row for each test of each pair."""
    names = ("base_median_pps", "other_median_pps", "base_spread_pps", "other_spread_pps",
             "change_percent", "judgement")  # fmt: skip
    yield ("base", "other", "test", "base_trials", "other_trials", *names, "p")
    for pair in pairs:
        for one in map(_difference, pair.rates):
            counts = (len(one.base_trials_pps), len(one.other_trials_pps))
            cells = (getattr(one, name) for name in names)
            key = (pair.base.name, pair.other.name, one.test)
            yield (*key, *counts, *("" if cell is None else cell for cell in cells),
                   one.rank_test.p)  # fmt: skip


def _power(pair: Pair) -> tuple[PowerChangeOutput, ...]:
    return tuple(map(PowerChangeOutput.model_validate, pair.power))


def _difference(found: Difference) -> DifferenceOutput:
    return DifferenceOutput(
        test=found.test,
        base_trials_pps=found.base.trials,
        other_trials_pps=found.other.trials,
        base_median_pps=found.base.middle,
        other_median_pps=found.other.middle,
        base_spread_pps=found.base.spread,
        other_spread_pps=found.other.spread,
        ratio=found.ratio,
        change_percent=found.percent,
        judgement=found.judgement,
        rank_test=RankTestOutput(
            test=found.rank_test.name,
            p=found.rank_test.p,
            can_tell=found.rank_test.can_tell,
            repeats_needed=repeats_needed(),
        ),
    )
