"""A document's sheet as comma-separated values, figures unrounded."""

import csv
import io

from linerate.report.document import Document

#: A spreadsheet takes a cell that begins so for a formula, and would run it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(document: Document) -> str:
    """Rows by RFC 4180, with the line ends of Unix tools."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in document.sheet():
        writer.writerow(map(_harmless, row))
    return out.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
