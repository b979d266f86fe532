"""Results of an audit: as text, and as JSON."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from linerate.analysis.audit import Audit, Finding, Span
from linerate.analysis.audit.checks import ABOVE_THE_LINE, BIT_RATE, PERCENTAGE
from linerate.base.published import Output, published

TITLES = {
    PERCENTAGE: "Percentages that cannot follow from their packet rate",
    BIT_RATE: "Bit rate: cannot be that of the packet rate",
    ABOVE_THE_LINE: "Above the line: more than 100 %",
}
#: Unreadable rows that are shown, which suffice to see the problem.
UNREADABLE_MAX = 10


def print_audit(console: Console, audit: Audit) -> None:
    """Print what was found, under a heading each."""
    console.print(_heading(audit), soft_wrap=True)
    if audit.table.assumed:
        assumed = " and ".join(audit.table.assumed)
        console.print(Text(f"the table does not say it, assumed: {assumed}", "dim"))
    for heading, title in TITLES.items():
        _print_findings(console, title, audit.under(heading))
    _print_skipped(console, audit)


def _heading(audit: Audit) -> Text:
    found = len(audit.contradictions)
    rows = _count(len(audit.table.rows), "loadtest")
    what = _count(found, "contradiction") if found else "no contradiction"
    return Text(f"{audit.table.name}: {rows}, {what}", "bold red" if found else "bold green")


def _print_findings(console: Console, title: str, findings: Sequence[Finding]) -> None:
    if not findings:
        return
    console.print()
    console.print(Text(title, "bold"))
    width = len(str(max(found.row.line for found in findings)))
    for found in findings:
        wrong = f"  the {found.wrong} is probably wrong" if found.wrong else ""
        name = Text(f"  line {found.row.line:>{width}}  {found.row.name}")
        console.print(name.append(wrong, "yellow"), soft_wrap=True)
        for line in (found.sentence, found.others, *found.causes):
            if line:
                console.print(Text(f"  {'':{width}}  {line}"), soft_wrap=True)


def _print_skipped(console: Console, audit: Audit) -> None:
    lines = [
        f"{_count(skipped, 'loadtest')} without figures for it: {heading}"
        for heading, skipped in audit.skipped.items()
        if skipped
    ]
    unreadable = audit.table.unreadable
    lines += [f"line {line}: {problem}" for line, problem in unreadable[:UNREADABLE_MAX]]
    if len(unreadable) > UNREADABLE_MAX:
        lines.append(f"and {len(unreadable) - UNREADABLE_MAX} more that can't be read; see --json")
    if lines:
        console.print()
        console.print(Text("Skipped", "bold"))
    for line in lines:
        console.print(Text(f"  {line}"), soft_wrap=True)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + "s" * (number != 1)


#: Its two ends; None where the table does not have it.
Ends = tuple[float, float] | None


class FindingOutput(Output):
    """One row that can't be; figures as the ranges that round to what is published."""

    line: int
    #: The row's name.
    row: str
    sentence: str
    others: str
    probably_wrong: str | None
    causes: tuple[str, ...]
    mpps: Ends
    mpps_of_percent: Ends
    mpps_of_l1: Ends
    mpps_of_l2: Ends


class UnreadableOutput(Output):
    """A row that is none."""

    line: int
    problem: str


@published("audit", "JSON of `linerate audit --json`")
class AuditOutput(Output):
    """Findings in a published table."""

    table: str
    #: Number of them.
    loadtests: int
    #: Properties that the table does not say.
    assumed: tuple[str, ...]
    #: Percentages that can't follow from their packet rate.
    contradictions: tuple[FindingOutput, ...]
    bit_rate: tuple[FindingOutput, ...]
    above_the_line: tuple[FindingOutput, ...]
    #: By check: rows without figures for it.
    skipped: dict[str, int]
    unreadable: tuple[UnreadableOutput, ...]


def output(audit: Audit) -> AuditOutput:
    """Everything, for programs."""
    return AuditOutput(
        table=audit.table.name,
        loadtests=len(audit.table.rows),
        assumed=tuple(audit.table.assumed),
        contradictions=tuple(map(_finding, audit.contradictions)),
        bit_rate=tuple(map(_finding, audit.bit_rates)),
        above_the_line=tuple(map(_finding, audit.above_the_line)),
        skipped={heading.replace(" ", "_"): n for heading, n in audit.skipped.items()},
        unreadable=tuple(
            UnreadableOutput(line=line, problem=problem) for line, problem in audit.table.unreadable
        ),
    )


def _finding(found: Finding) -> FindingOutput:
    row = found.row
    return FindingOutput(
        line=row.line,
        row=row.name,
        sentence=found.sentence,
        others=found.others,
        probably_wrong=found.wrong or None,
        causes=found.causes,
        mpps=_ends(row.mpps),
        mpps_of_percent=_ends(row.mpps_of_percent),
        mpps_of_l1=_ends(row.mpps_of_l1),
        mpps_of_l2=_ends(row.mpps_of_l2),
    )


def _ends(span: Span | None) -> Ends:
    return None if span is None else (span.low, span.high)
