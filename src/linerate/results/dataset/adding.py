"""Trials of a run, put into a dataset once."""

from dataclasses import dataclass
from pathlib import Path

from linerate.results.dataset.dataset import Dataset
from linerate.results.dataset.row import TrialKeys
from linerate.results.dataset.rows_of import rows_of, unit_key_of
from linerate.results.index.row import alive
from linerate.results.store import StoreError, load_run


@dataclass(frozen=True, slots=True)
class Added:
    """One run, and what became of it."""

    run: str
    unit_key: str
    trials: int
    #: Whether it was written now; else the dataset had it already.
    added: bool


def add_run(target: Dataset, folder: Path, keys: TrialKeys, there: set[str]) -> Added:
    """Write a run's trials, unless its key is `there`; raises StoreError of one that can't be."""
    run = load_run(folder)
    folder = folder if folder.is_dir() else folder.parent
    if run.status == "running" and alive(folder):
        raise StoreError(f"{folder}: it is being measured now; add it when it is done")
    if not run.results:
        raise StoreError(f"{folder}: no trials in it")
    key = unit_key_of(run, folder)
    rows = rows_of(run, folder, keys)
    added = key not in there and target.write(key, rows)
    return Added(folder.resolve().name, key, len(rows), added)
