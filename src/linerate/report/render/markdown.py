"""A document as Markdown; text of others stays text."""

import re
from collections.abc import Iterable

from linerate.report.document import Document, Figure, Heading, Lead, Listing, Note, Section, Table

#: Characters that Markdown, or the HTML that may stand in it, would read as more than text.
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")


def escaped(words: str) -> str:
    """Text that stays text, in one line."""
    return SPECIAL.sub(r"\\\1", " ".join(words.split()))


def render(document: Document) -> str:
    """The whole document."""
    parts = [f"# {escaped(document.title)}"]
    for section in document.written:
        parts += _lines(section)
    return "\n\n".join(parts)


def _lines(section: Section) -> list[str]:
    match section:
        case Heading():
            detail = f": {escaped(section.detail)}" if section.detail else ""
            doubts = [escaped(doubt) for doubt in section.doubts]
            return [f"## {escaped(section.text)}{detail}", *doubts]
        case Lead():
            return [f"**{escaped(section.sentence)}**"]
        case Note():
            return [_note(section)]
        case Table():
            title = [f"### {escaped(section.title)}"] if section.titled else []
            return [*title, _table(section)]
        case Listing():
            title = [f"### {escaped(section.title)}"] if section.title and section.titled else []
            return [*title, *_list(section)]
        case Figure():
            # A picture is for pages; here are its figures.
            return [] if section.table is None else _lines(section.table)


def _note(note: Note) -> str:
    if note.lead:
        return f"**{escaped(note.lead)}** {escaped(note.text)}"
    return escaped(note.text) if note.weight in ("note", "text") else f"**{escaped(note.text)}**"


def _list(section: Listing) -> list[str]:
    if any(name for name, _ in section.rows):
        return [_table(section.table)]
    return ["\n".join(f"- {escaped(line)}" for _, line in section.rows)]


def _table(table: Table) -> str:
    names = [escaped(column.heading) for column in table.columns]
    rules = ["---:" if column.side == "figure" else "---" for column in table.columns]
    rows = ([escaped(cell) for cell in row] for row in table.rows)
    return "\n".join(map(_row, (names, rules, *rows)))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
