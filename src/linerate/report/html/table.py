"""Tables of the page, and text in it: all of it escaped, since runs come from other people."""

import html
from dataclasses import dataclass

from linerate.report.marks import COLUMN, left_out, marks
from linerate.report.terminal import loss, mpps
from linerate.results.store import Result

NO_FIGURE = "–"
#: Words that stay in one line, however narrow the page.
SHORT = 20


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text; the first cell of each is its heading."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    #: Numbers of the columns that hold text; the others hold figures, and stand to the right.
    words: frozenset[int] = frozenset({0})


def text(message: str) -> str:
    """Text as HTML."""
    return html.escape(message)


def render(table: Table) -> str:
    """A table as HTML, in a box of its own that scrolls when the page is narrow."""
    head = "".join(
        f'<th scope="col"{_side(table, number)}>{text(name)}</th>'
        for number, name in enumerate(table.columns)
    )
    body = "".join(f"<tr>{_row(table, row)}</tr>\n" for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(table.caption)}">'
        f"<table><caption>{text(table.caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
    )


def _row(table: Table, row: tuple[str, ...]) -> str:
    heading, *cells = row
    return f'<th scope="row">{text(heading)}</th>' + "".join(
        f"<td{_side(table, number, cell)}>{text(cell)}</td>"
        for number, cell in enumerate(cells, start=1)
    )


def _side(table: Table, number: int, cell: str = "") -> str:
    if number not in table.words:
        return ' class="figure"'
    return ' class="short"' if len(cell) <= SHORT else ""


def details(summary: str, inner: str) -> str:
    """Something that opens by a click or a key; printed open."""
    return f"<details><summary>{text(summary)}</summary>\n{inner}\n</details>"


def results_table(results: list[Result]) -> Table:
    """All tests: rates, loss, limit; of invalid ones, that they are."""
    return Table(
        caption="All tests: received rates, both directions together",
        columns=(
            "test",
            "Mpps",
            "% of line",
            "loss",
            COLUMN,
            "limit",
            "confidence",
            "L1 Gb/s",
            "traffic",
        ),
        rows=tuple(_result(result) for result in results),
        words=frozenset({0, 5, 6, 8}),
    )


def _result(result: Result) -> tuple[str, ...]:
    if not result.valid:
        return (result.test, *[NO_FIGURE] * 4, "invalid", *[NO_FIGURE] * 2, result.text)
    verdict = result.verdict
    return (
        result.test + marks(result),
        mpps(result.received_pps),
        f"{result.percent_of_line:.1f}",
        loss(result),
        left_out(result),
        ", ".join((verdict.limit, *verdict.also)),
        verdict.confidence,
        f"{result.l1_bps / 1e9:.2f}",
        result.text,
    )
