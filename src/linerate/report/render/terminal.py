"""A document in a terminal: the same through a pipe, cut nowhere."""

from collections.abc import Iterator
from dataclasses import replace

import rich.table
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from linerate.report.document import (
    Chapter,
    Document,
    Figure,
    Heading,
    Lead,
    Listing,
    Note,
    Section,
    Table,
)

STYLES = {
    "note": "dim",
    "text": "",
    "verdict": "bold",
    "passed": "green",
    "doubt": "yellow",
    "warning": "red",
}
LIMIT_STYLES = {
    "line": "green",
    "none": "green",
    "invalid": "red",
    "unknown": "red",
    "unexplained": "red",
}
TEST_WIDTH = 4
#: Longest names that lines stand beside.
NAME_WIDTH = 8
#: Words are not folded into less.
WORDS_WIDTH_MIN = 12
#: Wider than any table.
UNBOUNDED = 1000


def show(console: Console, document: Document) -> None:
    """Print the whole document."""
    console.print(Text(document.title, "bold"))
    for note in document.preface:
        console.print(_note(note))
    before: Section | None = None
    for section in filter(_in_terminals, document.sections):
        _show(console, section, before)
        before = section
    for note in document.abbreviations:
        console.print(_note(note))
    if document.ending or document.status:
        console.print()
    if document.status:
        console.print(_note(document.status))
    for note in document.ending:
        console.print(_note(note), soft_wrap=True)


def _in_terminals(section: Section) -> bool:
    """Whether it is more than the tables beside it say."""
    return not isinstance(section, Chapter | Figure | Lead)


def _note(note: Note) -> Text:
    style = STYLES[note.weight]
    return Text.assemble((note.lead, f"{style} bold"), (note.text, style))


def _show(console: Console, section: Section, before: Section | None) -> None:
    match section:
        case Heading():
            console.print()
            detail = f"  {section.detail}" if section.detail else ""
            console.print(Text(section.text + detail, "bold"))
        case Note():
            if isinstance(before, Listing):
                console.print()
            console.print(_note(section))
        case Table():
            _title(console, section.title if section.titled else "", before)
            for number, part in enumerate(_parts(console, section)):
                if number:
                    console.print()
                console.print(fitted(console, part))
        case Listing():
            _title(console, section.title if section.titled else "", before)
            _list(console, section)


def _title(console: Console, title: str, before: Section | None) -> None:
    """Title of a table, with a blank line above it, unless its heading stands there."""
    if title or not isinstance(before, Heading):
        console.print()
    if title:
        console.print(Text(title, "bold"))


def _list(console: Console, section: Listing) -> None:
    """Each line beside its name, and folded beneath itself; long names stand before it."""
    longest = max(len(name) for name, _ in section.rows)
    # Names of tests have two letters or four; a goal's may stick out by one.
    width = longest if longest > TEST_WIDTH + 1 else TEST_WIDTH
    for name, line in section.rows:
        beside = len(name) > 0 and width <= NAME_WIDTH
        first = f"{name:<{width}} " if beside else f"{name}: " if name else ""
        indent = 2 + len(first) if beside else 2
        lines = Text(first + line).wrap(console, console.width - indent)
        for number, one in enumerate(lines):
            one.rstrip()
            console.print(Padding(one, (0, 0, 0, indent if number else 2), expand=False))


def _parts(console: Console, table: Table) -> Iterator[Table]:
    """Tables of as many blocks of columns as fit beside the first column."""
    if not table.block:
        yield table
        return
    start, end = 1, len(table.columns)
    while start < end:
        stop = min(start + table.block, end)
        while stop < end and _fits(console, _columns(table, start, stop + table.block)):
            stop += table.block
        yield _columns(table, start, stop)
        start = stop


def _columns(table: Table, start: int, stop: int) -> Table:
    """The first column, and those from `start` to before `stop`."""
    return replace(
        table,
        columns=table.columns[:1] + table.columns[start:stop],
        rows=tuple(row[:1] + row[start:stop] for row in table.rows),
    )


def _fits(console: Console, table: Table) -> bool:
    return _width(console, _made(table, 1)) <= console.width


def _width(console: Console, made: rich.table.Table) -> int:
    unbounded = console.options.update(max_width=UNBOUNDED)
    return console.measure(made, options=unbounded).maximum


def fitted(console: Console, table: Table) -> rich.table.Table:
    """Nearer together, without spare columns, with words folded, or with fewer figures.

    Figures are never cut: where the narrowest words leave no room, columns go.
    """
    gaps = (1,) if table.block else (2, 1)
    ranks = sorted({column.spare for column in table.columns})
    tables = [_made(_without(table, rank), gap) for rank in ranks for gap in gaps]
    for made in tables:
        if _width(console, made) <= console.width:
            return made
    least = _without(table, ranks[-1])
    while _folded_width(least) > console.width and (figure := _last_figure(least)):
        least = _but(least, figure)
    return _folded(least)


def _last_figure(table: Table) -> int:
    """Number of the last column of figures behind the first column; 0: there is none."""
    sides = enumerate(column.side for column in table.columns)
    return max((number for number, side in sides if side == "figure" and number), default=0)


def _but(table: Table, number: int) -> Table:
    """A table without one of its columns."""
    return replace(
        table,
        columns=table.columns[:number] + table.columns[number + 1 :],
        rows=tuple(row[:number] + row[number + 1 :] for row in table.rows),
    )


def _folded_width(table: Table) -> int:
    """Width in which each figure is whole, and each column of words has room for some."""
    return sum(_least_widths(table)) + len(table.columns) - 1


def _least_widths(table: Table) -> list[int]:
    widths = (
        max(cell_len(cell) for cell in (column.name, *(row[number] for row in table.rows)))
        for number, column in enumerate(table.columns)
    )
    return [
        width if column.side == "figure" else min(width, WORDS_WIDTH_MIN)
        for column, width in zip(table.columns, widths, strict=True)
    ]


def _folded(table: Table) -> rich.table.Table:
    made = _made(table, 1)
    for column, width in zip(made.columns, _least_widths(table), strict=True):
        column.min_width = width
        if column.justify == "left":
            column.no_wrap = False
    return made


def _without(table: Table, spare: int) -> Table:
    """A table without its spare columns up to a rank; 0: all of it."""
    kept = [
        number
        for number, column in enumerate(table.columns)
        if not column.spare or column.spare > spare
    ]
    return replace(
        table,
        columns=tuple(table.columns[number] for number in kept),
        rows=tuple(tuple(row[number] for number in kept) for row in table.rows),
    )


def _made(table: Table, gap: int) -> rich.table.Table:
    made = rich.table.Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for column in table.columns:
        made.add_column(
            Text(column.name),
            justify="right" if column.side == "figure" else "left",
            no_wrap=column.side != "sentence",
            overflow="fold",
        )
    limits = [column.side == "limit" for column in table.columns]
    for row in table.rows:
        cells = (
            Text(cell, LIMIT_STYLES.get(cell, "yellow") if limit else "")
            for cell, limit in zip(row, limits, strict=True)
        )
        made.add_row(*cells, style="bold" if row[0] in table.totals else None)
    return made
