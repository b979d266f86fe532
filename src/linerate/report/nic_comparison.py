"""Output of `linerate nic compare`."""

from collections.abc import Iterator

from linerate.base.published import Output, published
from linerate.report.document import NONE, Document, Note, Section, Table, figures, sentences, text
from linerate.report.host import printable
from linerate.results.nic_probes import FigureChange, NicDifference, RuleChange


class VersionChange(Output):
    """A part in another release."""

    name: str
    before: str
    after: str


class RuleChangeOutput(Output):
    """A pattern with actions that is answered in another way."""

    pattern: str
    actions: str
    #: `gained`, `lost`, `another reason`, `acts otherwise`.
    change: str
    before: str
    after: str


class FigureChangeOutput(Output):
    """A figure that differs; its unit is in the name."""

    name: str
    before: float
    after: float
    factor: float | None


@published("nic-compare", "JSON of `linerate nic compare --json`")
class NicCompareOutput(Output):
    """All that differs between two probes of a NIC."""

    #: Patterns with actions that both tried.
    compared: int
    versions: tuple[VersionChange, ...]
    rules: tuple[RuleChangeOutput, ...]
    figures: tuple[FigureChangeOutput, ...]


def document(names: tuple[str, str], found: NicDifference) -> Document:
    """The first as it was, the second as it is now."""
    return Document(
        f"{printable(names[1])} against {printable(names[0])}",
        tuple(_sections(found)),
        data=lambda: output(found),
        schema="nic-compare",
    )


def output(found: NicDifference) -> NicCompareOutput:
    """For programs."""
    return NicCompareOutput(
        compared=found.compared,
        versions=tuple(
            VersionChange(name=name, before=before, after=after)
            for name, before, after in found.versions
        ),
        rules=tuple(map(RuleChangeOutput.model_validate, found.rules)),
        figures=tuple(map(FigureChangeOutput.model_validate, found.figures)),
    )


def _sections(found: NicDifference) -> Iterator[Section]:
    yield Note(_summary(found), "doubt" if found.lost else "verdict")
    if found.versions:
        rows = tuple(tuple(map(printable, one)) for one in found.versions)
        columns = (*text("part"), *sentences("before", "after"))
        yield Table("Releases", columns, tuple((a, b, c) for a, b, c in rows))
    if found.rules:
        columns = (*text("pattern", "actions", ""), *sentences("before → after"))
        yield Table("Rules", columns, tuple(map(_rule_row, found.rules)))
    if found.figures:
        columns = (*text("figure"), *figures("before", "after", "×"))
        yield Table("Figures", columns, tuple(map(_figure_row, found.figures)))


def _summary(found: NicDifference) -> str:
    counts = {
        change: sum(1 for one in found.rules if one.change == change)
        for change in ("gained", "lost", "another reason", "acts otherwise")
    }
    parts = [f"{count:,} {change}" for change, count in counts.items() if count]
    answers = ", ".join(parts) if parts else "all answered alike"
    return f"{found.compared:,} rules tried in both: {answers}"


def _rule_row(one: RuleChange) -> tuple[str, ...]:
    answers = f"{printable(one.before)} → {printable(one.after)}"
    return (printable(one.pattern), printable(one.actions), one.change, answers)


def _figure_row(one: FigureChange) -> tuple[str, ...]:
    factor = NONE if one.factor is None else f"{one.factor:.2f}"
    return (one.name, f"{one.before:,.6g}", f"{one.after:,.6g}", factor)
