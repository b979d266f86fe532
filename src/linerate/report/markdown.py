"""A run as Markdown: the verdict, the table, each test's losses and what to try."""

import re
from collections.abc import Iterable, Sequence

from linerate.report import flow_table, latency, marks
from linerate.report.summary import about, headline
from linerate.report.terminal import heading, loss, mpps
from linerate.results.store import Result, Run

#: Characters that Markdown, or the HTML in it, would interpret.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")


def plain(message: str) -> str:
    """Text that stays text, in one line."""
    return SPECIAL.sub(r"\\\1", " ".join(message.split()))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table; the first `words` columns are text, the others figures."""
    rules = ["---" if number < words else "---:" for number in range(len(columns))]
    lines = [columns, rules, *([plain(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def framed(run: Run, parts: Iterable[str]) -> str:
    """A whole page: what was tested, whether to the end, these parts, and on what machine."""
    head = [f"# {plain(heading(run).plain)}"]
    if run.status != "complete":
        head.append(f"**{run.status}:** {plain(run.problem or 'stopped before the end')}")
    measured_on = table(("what", "value"), about(run), words=2)
    return "\n\n".join([*head, *parts, f"## Measured on\n\n{measured_on}"])


def render(run: Run) -> str:
    """The whole run."""
    results = run.reported()
    parts = [f"**{plain(headline(run))}**"]
    if results:
        columns = ("test", "traffic", "limit", "Mpps", "L1 Gb/s", "% of line", "loss", marks.COLUMN)
        parts.append(table(columns, map(_row, results), words=3))
    for title, lines in marks.footnotes(results):
        parts += [plain(title), _list(f"{test}: {message}" for test, message in lines)]
    if rows := flow_table.rows(results):
        cells = (row.cells for row in rows)
        parts += [
            f"## {plain(flow_table.TITLE)}",
            table(flow_table.COLUMNS, cells, words=flow_table.WORDS),
            plain(flow_table.EXPLAINED),
        ]
    if timed := latency.rows(results):
        parts += [f"## {plain(latency.TITLE)}", table(latency.COLUMNS, timed, words=2)]
    parts += [_test(result) for result in results]
    if run.absent:
        left = (f"{one.configuration}: {one.reason}" for one in run.absent)
        parts += ["## Not measured, because", _list(left)]
    return framed(run, parts)


def _row(result: Result) -> tuple[str, ...]:
    if not result.valid:
        return (result.test, result.text, "invalid", *["–"] * 5)
    verdict = result.verdict
    return (
        result.test + marks.marks(result),
        result.text,
        f"{', '.join((verdict.limit, *verdict.also))} ({verdict.confidence})",
        mpps(result.received_pps),
        f"{result.l1_bps / 1e9:.2f}",
        f"{result.percent_of_line:.1f}",
        loss(result),
        marks.left_out(result),
    )


def _test(result: Result) -> str:
    title = f"## {plain(result.test)}: {plain(result.text)}"
    if not result.valid:
        return "\n\n".join((title, "Invalid: no result, because", _list(result.invalid)))
    verdict, ledger = result.verdict, result.packets
    parts = [title, plain(verdict.sentence)]
    places = {"sent": ledger.sent, "received": ledger.received, **ledger.losses}
    if ledger.unexplained:
        places["unexplained"] = ledger.unexplained
    rows = [(place, f"{packets:,}") for place, packets in places.items()]
    parts.append(table(("place", "packets"), rows))
    if verdict.ceilings:
        known = [(c.name, c.derivation, mpps(c.mpps * 1e6)) for c in verdict.ceilings]
        parts.append(table(("ceiling", "how it is known", "Mpps"), known, words=2))
    if verdict.evidence:
        lines = [f"{quote.source}:{quote.line}: {quote.text}" for quote in verdict.evidence]
        parts += ["Evidence:", _list(lines)]
    if verdict.try_:
        parts += ["To try:", _list(verdict.try_)]
    return "\n\n".join(parts)


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {plain(line)}" for line in lines)
