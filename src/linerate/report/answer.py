"""Answers to questions in SQL: a table that fits the terminal, CSV, or values of JSON."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from linerate.report.document import NONE

#: Types whose values stand to the right.
_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "REAL")
#: Columns of text are made no narrower than this: then each row is a block of lines.
TEXT_WIDTH = 8
GAP = 2
#: Entries of a map that a cell shows.
ENTRIES = 6


def answer(
    console: Console, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]
) -> RenderableType:
    """A table; where it would be too wide, one block of lines a row."""
    cells = [[cell(value) for value in row] for row in rows]
    widths = [
        max([len(name), *(len(row[place]) for row in cells)])
        for place, (name, _) in enumerate(columns)
    ]
    least = [
        width if _is_number(kind) else min(width, max(TEXT_WIDTH, len(name)))
        for width, (name, kind) in zip(widths, columns, strict=True)
    ]
    fits = sum(least) + GAP * (len(least) - 1) <= console.width
    return _table(columns, cells) if fits else _blocks(columns, cells)


def _table(columns: Sequence[tuple[str, str]], cells: list[list[str]]) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for name, kind in columns:
        if _is_number(kind):
            table.add_column(name, justify="right", no_wrap=True)
        else:
            table.add_column(name, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    return table


def _blocks(columns: Sequence[tuple[str, str]], cells: list[list[str]]) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for number, row in enumerate(cells):
        if number:
            table.add_row("", "")
        for (name, _), value in zip(columns, row, strict=True):
            table.add_row(Text(name), Text(value))
    return table


def _is_number(kind: str) -> bool:
    return any(word in kind for word in _NUMBERS) and "(VARCHAR" not in kind and "[" not in kind


def cell(value: object) -> str:
    """One value in as few characters as say it."""
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return _entries(value)
    if isinstance(value, float | Decimal):
        return _figure(float(value))
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _entries(value: dict[Any, Any]) -> str:
    """A map, the largest figures first."""
    items = list(value.items())
    if all(isinstance(one, int | float) for _, one in items):
        items.sort(key=lambda item: -item[1])
    shown = ", ".join(f"{key} {cell(one)}" for key, one in items[:ENTRIES])
    return shown + (f", {len(items) - ENTRIES} more" if len(items) > ENTRIES else "") or NONE


def _figure(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def csv_lines(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Lines of CSV, figures unrounded; unknown is empty, maps are JSON."""
    for row in (names, *rows) if not isinstance(rows, Iterator) else _after(names, rows):
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(
            json.dumps(plain_value(value)) if isinstance(value, dict | list) else plain_value(value)
            for value in row
        )
        yield text.getvalue()


def _after(names: Sequence[object], rows: Iterator[Sequence[object]]) -> Iterator[Sequence[object]]:
    yield names
    yield from rows


def plain_value(value: object) -> Any:  # noqa: ANN401 (what JSON can hold)
    """A value as JSON has it; what is no number, or infinite, is null."""
    if isinstance(value, dict):
        return {str(key): plain_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | str) else str(value)
