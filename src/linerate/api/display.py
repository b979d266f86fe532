"""A report's tables as HTML that stands in a notebook: no script, no style of its own."""

from collections.abc import Iterator
from html import escape

from linerate.report.document import Document, Figure, Heading, Listing, Note, Section, Table


def html_of(document: Document) -> str:
    """Everything but figures and details."""
    status = () if document.status is None else (document.status,)
    parts = [f"<h3>{escape(document.title)}</h3>"]
    for section in (*status, *document.sections):
        parts += _section(section)
    return "\n".join(parts)


def _section(section: Section) -> Iterator[str]:
    match section:
        case Heading():
            yield f"<h4>{escape(section.text)}</h4>"
        case Note():
            lead = f"<b>{escape(section.lead)}</b> " if section.lead else ""
            yield f"<p>{lead}{escape(section.text)}</p>"
        case Table():
            yield _table(section)
        case Listing():
            yield _table(section.table)
        case Figure():
            # Pictures need a script: the page of `linerate report` has it.
            return


def _table(table: Table) -> str:
    caption = f"<caption>{escape(table.title)}</caption>" if table.titled and table.title else ""
    head = "".join(f'<th scope="col">{escape(one.name)}</th>' for one in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
