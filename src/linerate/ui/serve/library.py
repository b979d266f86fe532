"""The runs folder, shared by all requests: read when asked for, once a second at most."""

import threading
import time
from pathlib import Path
from typing import Any

from linerate.base.open_beneath import read_beneath, status_beneath
from linerate.model.measurement import Measurement
from linerate.results.compare import CompareError, Pair, compare, sides
from linerate.results.index import Index, Query
from linerate.results.index.row import process_of
from linerate.results.store import (
    RUN_BYTES_MAX,
    SCHEMA,
    Run,
    StoreError,
    load_measurement,
    load_run,
    run_of,
)

REFRESH_SECONDS = 1.0


class NoSuchRunError(Exception):
    """A name that no run has; nothing was looked for on the disk."""


class Library:
    """All runs; its methods may be called from any thread."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self._index = Index(runs)
        self._lock = threading.Lock()
        self._read_at = float("-inf")

    def page(self, query: Query) -> tuple[list[dict[str, Any]], int]:
        """Rows of one page, and how many there are on all. Raises QueryError, StoreError."""
        with self._lock:
            self._refresh()
            return self._index.select(query), self._index.count(query)

    def words(self, columns: tuple[str, ...]) -> dict[str, list[str]]:
        """Choices in some columns."""
        with self._lock:
            self._refresh()
            return {column: self._index.words(column) for column in columns}

    def folder(self, name: str) -> Path:
        """A run's folder; only names in the index have one. Raises NoSuchRunError."""
        with self._lock:
            if name not in self._index:
                self._refresh()
            folder = self._index.folder(name)
        if folder is None:
            raise NoSuchRunError(f"no such run: {name}")
        return folder

    def load(self, name: str) -> Run:
        """Read a run. Raises NoSuchRunError, StoreError."""
        return load_run(self.folder(name), self.runs)

    def document(self, name: str) -> bytes:
        """Content of a valid run.json, one of an older schema as this version writes it.

        Raises NoSuchRunError, OSError, StoreError.
        """
        folder = self.folder(name)
        # Whole, before its length is sent: a bench replaces it.
        content = read_beneath(self.runs, f"{name}/run.json", RUN_BYTES_MAX)
        run = run_of(content, folder / "run.json")
        if run.schema_version == SCHEMA:
            return content
        newer = run.model_copy(update={"schema_version": SCHEMA})
        return newer.model_dump_json(indent=1, by_alias=False).encode()

    def evidence(self, folder: Path, trial: str) -> Measurement | None:
        """Measurement of a trial; None where it is lost."""
        try:
            return load_measurement(folder, trial, self.runs)
        except StoreError:
            return None

    def has(self, name: str, file: str) -> bool:
        """Whether a run has a file that may be read."""
        return status_beneath(self.runs, f"{name}/{file}") is not None

    def running(self) -> str | None:
        """The run that was begun last of those that are being measured."""
        with self._lock:
            self._refresh()
            return next(iter(self._index.running()), None)

    def running_now(self) -> str | None:
        """The same, looked for again: one that has just ended would keep the next from starting."""
        with self._lock:
            self._read_at = float("-inf")
        return self.running()

    def is_running(self, name: str) -> bool:
        """Whether a run is still being measured."""
        with self._lock:
            self._refresh()
            row = self._index.row(name)
        return row is not None and row["status"] == "running"

    def run_of(self, pid: int) -> str | None:
        """The run that a process measures."""
        with self._lock:
            self._refresh()
        return self.known_run_of(pid)

    def known_run_of(self, pid: int) -> str | None:
        """The same of the runs that were there when they were looked for last; does not wait."""
        names = self._index.running()
        return next((name for name in names if process_of(self.runs / name) == pid), None)

    def compare(self, names: list[str]) -> list[Pair]:
        """Each against the first. Raises NoSuchRunError, StoreError, CompareError."""
        if len(set(names)) != len(names):
            raise CompareError("a run against itself: choose others")
        return compare(sides([[(name, self.load(name))] for name in names]))

    def _refresh(self) -> None:
        if time.monotonic() - self._read_at < REFRESH_SECONDS:
            return
        try:
            self._index.refresh()
        except StoreError:
            # A folder that can't be read now has what it had.
            return
        finally:
            self._read_at = time.monotonic()
