"""Tables that meters write: a time and watts a row, with a head or without."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

#: Names of the two columns, in the order in which they are looked for.
TIMES = ("time", "timestamp", "date", "datetime", "at", "ts")
WATTS = ("watts", "power", "w", "power_w", "apower", "watt", "active power")
#: Seconds since 1970 are from 2001 to 2100; larger ones are milliseconds.
EPOCH = (1e9, 4.2e9)
ROWS_MAX = 5_000_000
#: A meter that says so much is none of a box's.
WATTS_MAX = 1e6


class MeterTableError(ValueError):
    """A table without times and watts; one line with the reason."""


@dataclass(frozen=True, slots=True)
class Row:
    """One reading; seconds since 1970."""

    at: float
    watts: float


@dataclass(frozen=True, slots=True)
class MeterTable:
    """Readings in the order of time."""

    rows: tuple[Row, ...]
    #: Smallest step that its digits allow.
    resolution_watts: float

    @property
    def interval_seconds(self) -> float:
        """Time between two readings: the middle one of all."""
        gaps = sorted(
            late.at - early.at for early, late in zip(self.rows, self.rows[1:], strict=False)
        )
        return gaps[len(gaps) // 2] if gaps else 0.0


def read_table(text: str, name: str) -> MeterTable:
    """Read a table with commas, semicolons or tabs; `name` is in each error."""
    text = text.removeprefix("\ufeff")
    # Where a comma is in the figures, another mark is between them.
    mark = next((one for one in "\t;" if one in text.partition("\n")[0]), ",")
    try:
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if line]
    except csv.Error as error:
        raise MeterTableError(f"{name}: no table: {error}") from error
    if not lines:
        raise MeterTableError(f"{name}: empty, expected a time and watts in each row")
    if len(lines) > ROWS_MAX:
        raise MeterTableError(f"{name}: more than {ROWS_MAX:,} rows")
    time_column, watts_column, first = _columns(lines[0], name)
    rows, digits = [], 0
    for number, line in enumerate(lines[first:], start=first + 1):
        if len(line) <= max(time_column, watts_column):
            raise MeterTableError(f"{name}: row {number}: too few columns")
        word = line[watts_column].strip().replace(",", ".")
        watts, at = _number(word), moment(line[time_column])
        if at is None or watts is None or not 0 <= watts < WATTS_MAX:
            raise MeterTableError(
                f"{name}: row {number}: expected a time and watts, not '{_short(line)}'"
            )
        digits = max(digits, len(word.partition(".")[2]))
        rows.append(Row(at, watts))
    if not rows:
        raise MeterTableError(f"{name}: no rows")
    return MeterTable(tuple(sorted(rows, key=lambda row: row.at)), 10.0 ** -min(digits, 6))


def _columns(head: Sequence[str], name: str) -> tuple[int, int, int]:
    """Columns of time and watts, and the first row of figures."""
    if moment(head[0]) is not None and len(head) > 1:
        return 0, 1, 0
    names = [one.strip().lower() for one in head]
    found = [next((names.index(one) for one in known if one in names), None)
             for known in (TIMES, WATTS)]  # fmt: skip
    if found[0] is None or found[1] is None:
        raise MeterTableError(f"{name}: expected columns `time` and `watts`, not {_short(head)}")
    return found[0], found[1], 1


def moment(word: str) -> float | None:
    """Seconds since 1970 of ISO 8601 (without a zone: this host's) or of seconds; or None."""
    word = word.strip()
    value = _number(word)
    if value is not None:
        if EPOCH[0] <= value / 1000 <= EPOCH[1]:
            value /= 1000
        return value if EPOCH[0] <= value <= EPOCH[1] else None
    try:
        return datetime.fromisoformat(word).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _number(word: str) -> float | None:
    if len(word) > 30 or not word.isascii():
        return None
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _short(line: Sequence[str]) -> str:
    text = "".join(one for one in ", ".join(line) if one.isprintable())
    return text if len(text) <= 60 else text[:57] + "..."
