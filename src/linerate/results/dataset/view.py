"""The rows of many files as one view in DuckDB, each unit of one file and one run alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linerate.results.dataset.columns import selected
from linerate.results.dataset.store import DatasetError

if TYPE_CHECKING:
    import duckdb

#: Columns without which a file is none of a dataset.
NEEDED = frozenset(("unit_key", "trial", "run", "started"))
#: The run that began first, of a unit that is in several files or was measured twice.
_CHOSEN = """
CREATE TEMP TABLE chosen AS
SELECT unit_key, arg_min({{'filename': filename, 'run': run}}, (started, run, filename)) AS it
FROM (
    SELECT unit_key, filename, run, min(started) AS started FROM {files} GROUP BY ALL
)
GROUP BY unit_key HAVING count(*) > 1
"""


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Sequence[object]) -> str:
    """A list of texts in SQL."""
    return "[" + ", ".join(literal(str(text)) for text in texts) + "]"


def files(paths: Sequence[Path]) -> str:
    """All rows of them in SQL; columns that some have not are NULL there."""
    options = "union_by_name = true, filename = true, hive_partitioning = false"
    return f"read_parquet({literals(paths)}, {options})"


def columns(database: "duckdb.DuckDBPyConnection", paths: Sequence[Path]) -> set[str]:
    """Columns of the files; raises DatasetError where they are no dataset's."""
    described = database.execute(f"DESCRIBE SELECT * FROM {files(paths)}").fetchall()
    there = {str(name) for name, *_ in described} - {"filename"}
    if missing := sorted(NEEDED - there):
        raise DatasetError(f"no dataset of trials: its files have no column {missing[0]}")
    return there


def once(database: "duckdb.DuckDBPyConnection", paths: Sequence[Path]) -> tuple[str, set[str]]:
    """Each trial once in SQL, with all columns of the files; and those columns."""
    everything = files(paths)
    there = columns(database, paths)
    database.execute(_CHOSEN.format(files=everything))
    if database.execute("SELECT count(*) FROM chosen").fetchall() == [(0,)]:
        return everything, there
    kept = (
        f"(SELECT found.* FROM {everything} AS found LEFT JOIN chosen USING (unit_key) "
        "WHERE it IS NULL OR (it.filename = found.filename AND it.run = found.run))"
    )
    return kept, there


def create(database: "duckdb.DuckDBPyConnection", paths: Sequence[Path]) -> None:
    """Make the view `trials`; without files it is empty."""
    if paths:
        source, there = once(database, paths)
        database.execute(f"CREATE VIEW trials AS SELECT {selected(there)} FROM {source}")
    else:
        database.execute(f"CREATE VIEW trials AS SELECT {selected(set())} LIMIT 0")


def create_copies(database: "duckdb.DuckDBPyConnection", paths: Sequence[Path]) -> None:
    """Make the view `copies`: all rows, those of a unit as often as files have them."""
    there = columns(database, paths)
    chosen = f"{selected(there)}, file_index"
    database.execute(f"CREATE VIEW copies AS SELECT {chosen} FROM {files(paths)}")
