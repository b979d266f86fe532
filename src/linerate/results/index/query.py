"""Query of the list of runs: words to find, columns to compare, an order, a page."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

#: Columns of the table, in order.
COLUMNS = {
    "name": "VARCHAR",
    "started": "TIMESTAMPTZ",
    "command": "VARCHAR",
    "suite": "VARCHAR",
    "labels": "VARCHAR",
    "dut": "VARCHAR",
    "wire": "VARCHAR",
    "card": "VARCHAR",
    "workers": "INTEGER",
    "loadtests": "VARCHAR",
    "trials": "INTEGER",
    "received_pps": "DOUBLE",
    "best_test": "VARCHAR",
    "line_percent": "DOUBLE",
    "ndr_pps": "DOUBLE",
    "verdict": "VARCHAR",
    "status": "VARCHAR",
    "problem": "VARCHAR",
    "cpu": "VARCHAR",
    "host": "VARCHAR",
    "commit": "VARCHAR",
}
WORDS = tuple(name for name, kind in COLUMNS.items() if kind == "VARCHAR")
#: As users call them.
ALIASES = {
    "date": "started",
    "limit": "verdict",
    "mpps": "received_pps",
    "best_mpps": "received_pps",
    "ndr": "ndr_pps",
    "ndr_mpps": "ndr_pps",
    "percent_of_line": "line_percent",
}
#: Figures among them that are given in millions.
IN_MILLIONS = ("mpps", "best_mpps", "ndr", "ndr_mpps")
_FILTER = re.compile(r"(\w+)\s*(!=|<=|>=|=|<|>)\s*(.*)", re.DOTALL)


class QueryError(ValueError):
    """A filter or an order that the table can't answer; one line."""


@dataclass(frozen=True, slots=True)
class Query:
    """`filters` all hold; each is `dut=router`, `best_mpps>5`, or words that stand anywhere."""

    filters: tuple[str, ...] = ()
    #: A column; with a dash before it, the largest first.
    sort: str = "-started"
    limit: int | None = None
    offset: int = 0

    def sql(self) -> tuple[str, list[Any]]:
        """As a statement and its values: nothing of a user's text stands in the statement."""
        where, values = self._where()
        descending = self.sort.startswith("-")
        column = _column(self.sort.removeprefix("-"))
        order = f'"{column}" {"DESC" if descending else "ASC"} NULLS LAST, "name" DESC'
        page = ""
        if self.limit is not None:
            page = " LIMIT ? OFFSET ?"
            values += [self.limit, self.offset]
        names = ", ".join(_wording(name) for name in COLUMNS)
        return f"SELECT {names} FROM runs{where} ORDER BY {order}{page}", values

    def count_sql(self) -> tuple[str, list[Any]]:
        """Number of matching rows, as `rows`."""
        where, values = self._where()
        return f'SELECT count(*) AS "rows" FROM runs{where}', values

    def _where(self) -> tuple[str, list[Any]]:
        parts, values = [], []
        for one in self.filters:
            part, its = _condition(one)
            parts.append(part)
            values += its
        return (" WHERE " + " AND ".join(parts) if parts else ""), values


def _wording(name: str) -> str:
    """A column as it is read: moments as text, in UTC."""
    if COLUMNS[name] == "TIMESTAMPTZ":
        return f"strftime(\"{name}\" AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS \"{name}\""
    return f'"{name}"'


def _column(name: str) -> str:
    found = ALIASES.get(name, name)
    if found not in COLUMNS:
        raise QueryError(f"'{name}': no such column; there are {', '.join(COLUMNS)}")
    return found


def _condition(text: str) -> tuple[str, list[Any]]:
    """One filter as a condition and its values."""
    if not _is_text(text):
        raise QueryError("a filter that is not UTF-8: write it in a terminal that is")
    match = _FILTER.fullmatch(text.strip())
    if match is None:
        anywhere = " || ' ' || ".join(f"coalesce(\"{name}\", '')" for name in WORDS)
        return f"contains(lower({anywhere}), lower(?))", [text.strip()]
    name, sign, value = _column(match[1]), match[2], match[3].strip()
    kind = COLUMNS[name]
    if kind == "VARCHAR":
        return _of_words(name, sign, value)
    if kind == "TIMESTAMPTZ" and sign in ("=", "!="):
        not_ = "NOT " if sign == "!=" else ""
        message = f"strftime(\"{name}\" AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ')"
        return f"{not_}starts_with({message}, ?)", [value]
    number = _moment(value) if kind == "TIMESTAMPTZ" else _number(match[1], value)
    return f'"{name}" {sign} ?', [number]


def _is_text(text: str) -> bool:
    """Whether a database takes it: bytes that are no text arrive as halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _of_words(name: str, sign: str, value: str) -> tuple[str, list[Any]]:
    """Part of what stands there, capitals or not."""
    if sign not in ("=", "!="):
        raise QueryError(f"{name}: expected {name}=… or {name}!=…")
    not_ = "NOT " if sign == "!=" else ""
    return f"{not_}contains(lower(coalesce(\"{name}\", '')), lower(?))", [value]


def _number(name: str, value: str) -> float:
    try:
        return float(value) * (1e6 if name in IN_MILLIONS else 1)
    except ValueError as error:
        raise QueryError(f"{name}: expected a number, not '{value}'") from error


def _moment(value: str) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except ValueError as error:
        raise QueryError(f"started: expected a date as 2026-11-21, not '{value}'") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
