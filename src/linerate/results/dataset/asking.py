"""Questions in SQL that read the dataset, and can do nothing else.

A question is one SELECT. It runs in a database in memory that is closed (Dataset.locked): no file
but the dataset's, no network, no extension, no setting can be reached from it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linerate.results.dataset.dataset import Dataset, one_line
from linerate.results.dataset.store import DatasetError

if TYPE_CHECKING:
    import duckdb

#: Rows that are taken at once.
PIECE = 10_000
#: Times that a question is asked, where files go away: another process compacts.
TRIES = 3
#: Length of an error.
CHARACTERS_MAX = 240
#: The one column whose name is a word of SQL, where it may be meant.
_BARE = re.compile(r"(?<![\"\w])limit(?!\s+[\d$])(?![\"\w])", re.IGNORECASE)


class QuestionError(DatasetError):
    """A question that can't be answered; one line."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns with their types, and rows as they come."""

    columns: tuple[tuple[str, str], ...]
    rows: Iterator[tuple[Any, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(name for name, _ in self.columns)


def ask(dataset: Dataset, sql: str, values: Mapping[str, str | None] | None = None) -> Answer:
    """Ask; `values` are those of `$NAME` in it. Raises QuestionError, DatasetError."""
    import duckdb  # noqa: PLC0415 (slow to load)

    for left in reversed(range(TRIES)):
        database = dataset.locked()
        try:
            return _asked(database, _single(database, sql), values or {})
        except duckdb.IOException as error:
            database.close()
            if not left:
                raise QuestionError(one_line(error)) from error
        except duckdb.Error as error:
            database.close()
            raise QuestionError(_in_a_line(error, sql)) from error
        except BaseException:
            database.close()
            raise
    raise AssertionError("unreachable")


def _single(database: "duckdb.DuckDBPyConnection", sql: str) -> "duckdb.Statement":
    """The one SELECT that it must be."""
    import duckdb  # noqa: PLC0415 (slow to load)

    statements = database.extract_statements(sql)
    if len(statements) != 1:
        raise QuestionError(f"expected one SELECT, not {len(statements)} statements")
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = str(statements[0].type).rpartition(".")[2]
        raise QuestionError(f"expected a SELECT, not {kind}: a question changes nothing")
    return statements[0]


def _asked(
    database: "duckdb.DuckDBPyConnection",
    statement: "duckdb.Statement",
    values: Mapping[str, str | None],
) -> Answer:
    missing = sorted(set(statement.named_parameters) - values.keys())
    if missing:
        raise QuestionError(f"${missing[0]}: no value; --set {missing[0]}=… gives one")
    used = {name: values[name] for name in statement.named_parameters}
    found = database.execute(statement, used) if used else database.execute(statement)
    columns = _distinct([(name, str(kind)) for name, kind, *_ in found.description or ()])
    first = found.fetchmany(PIECE)
    return Answer(columns, _rows(database, first))


def _rows(
    database: "duckdb.DuckDBPyConnection", piece: list[tuple[Any, ...]]
) -> Iterator[tuple[Any, ...]]:
    import duckdb  # noqa: PLC0415 (slow to load)

    try:
        while piece:
            yield from piece
            piece = database.fetchmany(PIECE)
    except duckdb.Error as error:
        raise QuestionError(one_line(error)) from error
    finally:
        database.close()


def _distinct(columns: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Columns of one name get numbers: a row is an object in JSON."""
    seen: dict[str, int] = {}
    named = []
    for name, kind in columns:
        seen[name] = seen.get(name, 0) + 1
        named.append((name if seen[name] == 1 else f"{name}_{seen[name]}", kind))
    return tuple(named)


def _in_a_line(error: Exception, sql: str) -> str:
    """The first line of it, and the columns that may have been meant."""
    lines = str(error).splitlines()
    text = lines[0] if lines else type(error).__name__
    meant = [line.strip() for line in lines if line.startswith("Candidate bindings")]
    if "pytz" in str(error):
        return "a column is a moment with a zone: cast it, as now()::TIMESTAMP"
    if "syntax error" in text and (word := _BARE.search(sql)):
        meant.append(f'a column that is a word of SQL has quotes: "{word[0].lower()}"')
    return "; ".join([shortened(text), *meant])


def shortened(text: str) -> str:
    """A line that fits a screen: DuckDB names types whole."""
    return text if len(text) <= CHARACTERS_MAX else text[:CHARACTERS_MAX] + " …"
