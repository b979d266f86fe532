"""A document as Markdown; text of others stays text."""

import re
from collections.abc import Iterable

from linerate.report.document import Document, Figure, Heading, Note, Section, Table

#: Characters that Markdown, or the HTML that may stand in it, would read as more than text.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")


def escaped(words: str) -> str:
    """Text that stays text, in one line."""
    return SPECIAL.sub(r"\\\1", " ".join(words.split()))


def render(document: Document) -> str:
    """The whole document."""
    parts = [f"# {escaped(document.title)}"]
    for section in document.sections:
        parts += _lines(section)
    return "\n\n".join(parts)


def _lines(section: Section) -> list[str]:
    match section:
        case Heading():
            return [f"## {escaped(section.text)}"]
        case Note(weight="note"):
            return [escaped(section.text)]
        case Note():
            return [f"**{escaped(section.text)}**"]
        case Table():
            title = [f"### {escaped(section.title)}"] if section.titled else []
            return [*title, _table(section)]
        case Figure():
            # The tables beside it have its figures.
            return []


def _table(table: Table) -> str:
    names = [escaped(column.name) for column in table.columns]
    rules = ["---:" if column.side == "figure" else "---" for column in table.columns]
    rows = ([escaped(cell) for cell in row] for row in table.rows)
    return "\n".join(map(_row, (names, rules, *rows)))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
