"""All runs of a folder as a table in DuckDB, made from the run folders at any time.

What was read of a run is kept in `.index.jsonl` beside the runs, with the time and size of its
run.json, and only what changed is read again. Each process has a database of its own, in memory,
and the kept rows are replaced whole: processes cannot stand in each other's way, and a row that is
lost is read anew.
"""

import contextlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linerate.base.atomic_write import write_whole
from linerate.base.open_beneath import read_beneath, status_beneath
from linerate.results.index.query import COLUMNS, Query, QueryError
from linerate.results.index.row import alive, broken_row, row_of
from linerate.results.store import StoreError, load_run

if TYPE_CHECKING:
    import duckdb

__all__ = ["Index", "Query", "QueryError"]

CACHE = ".index.jsonl"
#: A run has some hundred bytes.
CACHE_BYTES_MAX = 64 << 20
#: Rows that another version kept are read anew.
VERSION = 3
#: Stands for the time and size of what is not read, as the folder's name is no text.
NO_TEXT = (-1, -1)
Row = dict[str, Any]


class Index:
    """The runs of one folder."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self._rows: dict[str, Row] = {}
        self._database: duckdb.DuckDBPyConnection | None = None
        self._kept = False

    def refresh(self) -> None:
        """Read what is new or changed, and forget what is gone. Raises StoreError."""
        if not self._kept:
            self._kept = True
            self._rows = _kept_rows(self.runs)
        found = _stamps(self.runs)
        same = {
            name: row
            for name, row in self._rows.items()
            if name in found and (row["mtime_ns"], row["bytes"]) == found[name]
        }
        new = {
            name: _read(self.runs / name, *stamp)
            for name, stamp in found.items()
            if name not in same
        }
        if new or len(same) != len(self._rows):
            self._rows = same | new
            self._forget()
            self._keep()
        self._look_for_killed()

    def __contains__(self, name: str) -> bool:
        return name in self._rows

    def folder(self, name: str) -> Path | None:
        """The folder of a run that is in the index; None of any other name."""
        return self.runs / name if name in self._rows else None

    def row(self, name: str) -> Row | None:
        """Data of one run."""
        return self._rows.get(name)

    def running(self) -> list[str]:
        """Runs that are being measured now, the newest first."""
        names = [name for name, row in self._rows.items() if row["status"] == "running"]
        return sorted(names, reverse=True)

    def select(self, query: Query) -> list[Row]:
        """Rows that fit, in the order asked for. Raises QueryError."""
        sql, values = query.sql()
        return self._fetch(sql, values)

    def count(self, query: Query) -> int:
        """Number of matches, on all pages."""
        sql, values = query.count_sql()
        (row,) = self._fetch(sql, values)
        return int(row["rows"])

    def words(self, column: str) -> list[str]:
        """Distinct values of a column: the choices."""
        if column not in COLUMNS:
            raise QueryError(f"{column}: no such column")
        values = {str(row[column]) for row in self._rows.values() if row[column]}
        return sorted(values)

    def _fetch(self, sql: str, values: list[Any]) -> list[Row]:
        if self._database is None:
            self._database = _load(self._rows)
        with self._database.cursor() as cursor:
            found = cursor.execute(sql, values)
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def _forget(self) -> None:
        """The database has old rows: its memory is given back at once."""
        if self._database is not None:
            self._database.close()
        self._database = None

    def _look_for_killed(self) -> None:
        """A run whose process is gone ended without saying so."""
        for row in self._rows.values():
            if row["status"] == "running" and not alive(self.runs / row["name"]):
                row["status"] = "killed"
                self._forget()

    def _keep(self) -> None:
        """Keep the rows for the next process; a folder that can't be written has none."""
        # Unreadable ones may be by a later version.
        read = [row for row in self._rows.values() if row["status"] != "broken"]
        lines = [json.dumps({"version": VERSION}), *map(json.dumps, read)]
        with contextlib.suppress(OSError):
            write_whole(self.runs / CACHE, "\n".join(lines))


def _stamps(runs: Path) -> dict[str, tuple[int, int]]:
    """Time and size of each run.json, by the name of its folder; 0 where there is none."""
    found: dict[str, tuple[int, int]] = {}
    try:
        with os.scandir(runs) as entries:
            folders = [e.name for e in entries if not e.name.startswith(".") and _is_folder(e)]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"{runs}: {(error.strerror or str(error)).lower()}") from error
    for name in folders:
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        if shown != name:
            found.setdefault(shown, NO_TEXT)
            continue
        status = status_beneath(runs, f"{name}/run.json")
        found[name] = (status.st_mtime_ns, status.st_size) if status else (0, 0)
    return found


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """Whether it is one; a link that leads in a circle is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _read(folder: Path, mtime_ns: int, size: int) -> Row:
    """Read one run; one that can't be read is a row that says why."""
    stamp = {"mtime_ns": mtime_ns, "bytes": size}
    if (mtime_ns, size) == NO_TEXT:
        return broken_row(folder.name, "the folder's name is not UTF-8: rename it") | stamp
    try:
        return row_of(folder.name, load_run(folder, folder.parent)) | stamp
    except StoreError as error:
        text = str(error).removeprefix(f"{folder}/")
        return broken_row(folder.name, text) | stamp
    except Exception as error:  # whatever a foreign file does to a reader
        return broken_row(folder.name, f"{type(error).__name__}: {error}") | stamp


def _kept_rows(runs: Path) -> dict[str, Row]:
    """Rows that an earlier process kept; none of what it can't have written."""
    wanted = {*COLUMNS, "mtime_ns", "bytes"}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        head, *lines = read_beneath(runs, CACHE, CACHE_BYTES_MAX).decode().splitlines()
        if json.loads(head) == {"version": VERSION}:
            rows = [json.loads(line) for line in lines]
            return {
                row["name"]: row for row in rows if isinstance(row, dict) and row.keys() == wanted
            }
    return {}


def _load(rows: dict[str, Row]) -> "duckdb.DuckDBPyConnection":
    """Put all rows into a database in memory; all at once, as columns."""
    import duckdb  # noqa: PLC0415 (slow to load)

    database = duckdb.connect(":memory:", config={"threads": 1})
    columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
    database.execute(f"CREATE TABLE runs ({columns})")
    values = [[row[name] for row in rows.values()] for name in COLUMNS]
    if rows:
        lists = ", ".join(f"unnest(?::{kind}[])" for kind in COLUMNS.values())
        database.execute(f"INSERT INTO runs SELECT {lists}", values)
    return database
