"""A dataset: files of rows that are written once, and a view in which each trial is once.

A unit is what is measured and written together: all trials of one run, under a key of its own. Its
file is there whole or not at all. The same unit may stand in several files for a while (a run that
was done again elsewhere, a compaction that was killed halfway); readers see it from one of them.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

from linerate.base import ownership
from linerate.results.dataset import view
from linerate.results.dataset.columns import COLUMNS
from linerate.results.dataset.folder import PARQUET, Folder
from linerate.results.dataset.parquet import parquet_of, utc
from linerate.results.dataset.remote import Remote
from linerate.results.dataset.row import TrialRow
from linerate.results.dataset.store import DatasetError, Progress, Store, silent

if TYPE_CHECKING:
    import duckdb

__all__ = ["Dataset", "DatasetError"]

#: Begins the names of files with several units.
COMPACT = "compact-"
_UNIT_KEY = re.compile(r"(?!compact-)[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
#: Folder of trials of no scenario, as readers of such folders call it.
NO_SCENARIO = "__HIVE_DEFAULT_PARTITION__"
#: Times that all is read, where files go away while they are.
TRIES = 5
#: Nothing comes from the network, or of this process's variables.
SETTINGS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
#: Settings that close it for good.
LOCKED = ("enable_external_access = false", "lock_configuration = true")
#: Columns in their order.
_ORDER = {name: place for place, name in enumerate(COLUMNS)}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Compacted:
    """Files and trials of a compaction."""

    files_before: int
    files_after: int
    trials: int


class Dataset:
    """The dataset at a URL of fsspec's, or in a folder."""

    def __init__(self, url: str | Path, progress: Progress = silent) -> None:
        self.store = _store(str(url))
        #: As it may be printed: without a login.
        self.shown = self.store.shown
        self._progress = progress

    def write(self, unit_key: str, rows: Sequence[TrialRow]) -> bool:
        """Write a unit's rows, once: False where a file has it already. Raises DatasetError.

        The file is there whole or not at all, whatever ends this process, and whoever else writes
        the same unit at this time.
        """
        if not _UNIT_KEY.fullmatch(unit_key):
            raise DatasetError(f"unit key '{unit_key}': expected letters, digits and . _ - in it")
        if not rows:
            raise DatasetError(f"unit {unit_key}: no trials, nothing to write")
        keyed = [row.model_copy(update={"unit_key": unit_key}) for row in rows]
        name = f"{partition(keyed[0])}/{unit_key}{PARQUET}"
        return self.store.add(name, parquet_of(keyed))

    def require(self) -> "Dataset":
        """Itself, where there are trials. Raises DatasetError."""
        if not self.store.files():
            raise DatasetError(
                f"{self.shown}: no trials there; `linerate dataset add RUN… --to {self.shown}` "
                "adds those of runs"
            )
        return self

    def unit_keys(self) -> set[str]:
        """Keys of all units that are there. Raises DatasetError."""
        return self._again(self._unit_keys)

    def connect(self) -> "duckdb.DuckDBPyConnection":
        """A database in memory with a view `trials`: each trial once. Raises DatasetError."""
        return self._again(self._connect)

    def copies(self) -> "duckdb.DuckDBPyConnection":
        """A database with a view `copies`: rows of all files, a unit's as often as it was written.

        For who counts by unit: to leave out further copies first, as `connect` does, takes as long
        as a question over all. There must be a file. Raises DatasetError.
        """
        return self._again(self._copies)

    def locked(self) -> "duckdb.DuckDBPyConnection":
        """The same, for questions of others: it reads the dataset's files, and nothing else."""
        return self._again(self._locked)

    def rows(self, where: str = "", values: Sequence[object] = ()) -> list[TrialRow]:
        """Rows for which a condition in SQL holds, the oldest first. Raises DatasetError."""
        return self._again(lambda: self._rows(where, values))

    def compact(self) -> Compacted:
        """Put the files of each scenario and month together. Raises DatasetError.

        Whatever ends it, and whoever compacts at the same time, no trial is lost or is there
        twice: files go away only after the one that has all of theirs is there.
        """
        self.store.sweep()
        before = self.store.files()
        for partition in sorted({_folder_of(file.name) for file in before}):
            self._again(partial(self._compact, partition))
        with self.connect() as database:
            ((trials,),) = database.execute("SELECT count(*) FROM trials").fetchall()
        return Compacted(len(before), len(self.store.files()), trials)

    def _unit_keys(self) -> set[str]:
        found = self.store.files()
        single = {_unit_of(file.name) for file in found if not _is_compact(file.name)}
        several = [file for file in found if _is_compact(file.name)]
        if not several:
            return single
        with _database() as database:
            source = view.files(self.store.local(several, self._progress))
            keys = database.execute(f"SELECT DISTINCT unit_key FROM {source}").fetchall()
        return single | {key for (key,) in keys}

    def _connect(self) -> "duckdb.DuckDBPyConnection":
        return self._opened(self.store.local(self.store.files(), self._progress))

    def _copies(self) -> "duckdb.DuckDBPyConnection":
        paths = self.store.local(self.store.files(), self._progress)
        return self._opened(paths, view.create_copies)

    def _locked(self) -> "duckdb.DuckDBPyConnection":
        paths = self.store.local(self.store.files(), self._progress)
        database = self._opened(paths)
        database.execute(f"SET allowed_paths = {view.literals(paths)}")
        for setting in LOCKED:
            database.execute(f"SET {setting}")
        return database

    def _opened(
        self, paths: list[Path], create: Callable[..., None] = view.create
    ) -> "duckdb.DuckDBPyConnection":
        database = _database()
        try:
            create(database, paths)
        except BaseException:
            database.close()
            raise
        return database

    def _rows(self, where: str, values: Sequence[object]) -> list[TrialRow]:
        condition = f" WHERE {where}" if where else ""
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        order = "ORDER BY started, unit_key, trial"
        with self._connect() as database:
            sql = f"SELECT {names} FROM trials{condition} {order}"
            return [_row(found) for found in database.execute(sql, values).fetchall()]

    def _compact(self, folder: str) -> None:
        """Put the files of one folder together."""
        found = [file for file in self.store.files() if _folder_of(file.name) == folder]
        if len(found) < 2:
            return
        content = merged(self.store.local(found, self._progress))
        digest = hashlib.sha256(content).hexdigest()[:24]
        name = f"{folder}/{COMPACT}{digest}{PARQUET}"
        self.store.add(name, content)
        if (name, len(content)) not in {(file.name, file.bytes) for file in self.store.files()}:
            raise DatasetError(f"{self.shown}: {name} is not there as it was written")
        self.store.remove(file.name for file in found if file.name != name)

    def _again(self, read: Callable[[], T]) -> T:
        """Read; once more where a file went away, as another process compacted."""
        import duckdb  # noqa: PLC0415 (slow to load)

        for left in reversed(range(TRIES)):
            try:
                return read()
            except duckdb.IOException as error:
                if not left:
                    raise DatasetError(f"{self.shown}: {one_line(error)}") from error
            except duckdb.Error as error:
                raise DatasetError(f"{self.shown}: {one_line(error)}") from error
        raise AssertionError("unreachable")


def merged(paths: Sequence[Path]) -> bytes:
    """All rows of some files, each trial once, in one; columns of later versions too."""
    with _database() as database, ownership.temporary_folder("dataset") as name:
        source, there = view.once(database, paths)
        columns = ", ".join(f'"{column}"' for column in sorted(there, key=_place))
        made = Path(name) / "merged.parquet"
        query = f"SELECT {columns} FROM {source} ORDER BY started, unit_key, trial"
        database.sql(query).write_parquet(str(made), compression="zstd")
        return made.read_bytes()


def one_line(error: Exception) -> str:
    """The first line of what DuckDB says."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _place(column: str) -> tuple[int, str]:
    """Columns of the row in their order, then those of later versions."""
    return (_ORDER.get(column, len(_ORDER)), column)


def _store(url: str) -> Store:
    """A folder, or what fsspec has a driver for."""
    if "://" not in url and "::" not in url:
        return Folder(Path(url).expanduser())
    return Folder(Path(unquote(url[7:]))) if url.startswith("file:///") else Remote(url)


def _database() -> "duckdb.DuckDBPyConnection":
    import duckdb  # noqa: PLC0415 (slow to load)

    database = duckdb.connect(":memory:", config=dict(SETTINGS))
    database.execute("SET parquet_metadata_cache = true")
    return database


def partition(row: TrialRow) -> str:
    """Folder of its scenario and month, as other readers of Parquet know them."""
    scenario = quote(row.scenario, safe="") or NO_SCENARIO
    return f"scenario={scenario}/month={utc(row.started):%Y-%m}"


def _folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def _unit_of(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(PARQUET)


def _is_compact(name: str) -> bool:
    return _unit_of(name).startswith(COMPACT)


def _row(values: Sequence[Any]) -> TrialRow:
    """A row of the view; what older versions did not have is as it is when unknown."""
    known = {name: value for name, value in zip(COLUMNS, values, strict=True) if value is not None}
    return TrialRow.model_validate(known | {"started": known["started"].replace(tzinfo=UTC)})
