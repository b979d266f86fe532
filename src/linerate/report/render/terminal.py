"""A document in a terminal: the same through a pipe, cut nowhere."""

import rich.table
from rich.console import Console
from rich.text import Text

from linerate.report.document import Document, Figure, Heading, Note, Section, Table

STYLES = {"note": "dim", "verdict": "bold", "warning": "red"}


def show(console: Console, document: Document) -> None:
    """Print the whole document."""
    console.print(Text(document.title, "bold"))
    for section in document.sections:
        _show(console, section)


def _show(console: Console, section: Section) -> None:
    match section:
        case Heading():
            console.print()
            console.print(Text(section.text, "bold underline"))
        case Note():
            console.print(Text(section.text, STYLES[section.weight]))
        case Table():
            console.print()
            if section.titled:
                console.print(Text(section.title, "bold"))
            console.print(_table(console, section))
        case Figure():
            # The tables beside it have its figures.
            return


def _table(console: Console, table: Table) -> rich.table.Table:
    """Nearer together, or folded, where it would not fit: figures are never cut."""
    unbounded = console.options.update(max_width=1000)
    for gap in (2, 1):
        made = _made(table, gap)
        if console.measure(made, options=unbounded).maximum <= console.width:
            return made
    for column, described in zip(made.columns, table.columns, strict=True):
        if described.side != "figure":
            column.no_wrap, column.overflow = False, "fold"
    return made


def _made(table: Table, gap: int) -> rich.table.Table:
    made = rich.table.Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for column in table.columns:
        made.add_column(
            Text(column.name),
            justify="right" if column.side == "figure" else "left",
            no_wrap=column.side != "sentence",
            overflow="fold",
        )
    for row in table.rows:
        made.add_row(*map(Text, row))
    return made
