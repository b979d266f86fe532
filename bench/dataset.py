"""Time that a list and questions take over a dataset of made-up trials.

`python -m bench.dataset --trials 100000` makes it in a folder of its own, asks, and prints seconds:
the least of some repeats, each by a process of its own as a user starts it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.trial_rows import unit

from linerate.results.dataset.dataset import COMPACT, Dataset, partition
from linerate.results.dataset.folder import PARQUET
from linerate.results.dataset.parquet import parquet_of
from linerate.results.dataset.questions import ready
from linerate.results.dataset.row import TrialRow

TRIALS_A_UNIT = 8


def main() -> None:
    """Make the dataset, and time what reads it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--loose", type=int, default=0, help="units that are files of their own")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="linerate-") as folder:
        _make(Path(folder), given.trials, given.loose)
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
        for name, words in _commands(folder):
            seconds = min(_timed(words) for _ in range(given.repeat))
            print(f"{name:28} {seconds:6.2f} s")


def _make(folder: Path, trials: int, loose: int) -> None:
    """Write all but some units as a compaction leaves them: a file for each is slow to make."""
    dataset = Dataset(folder)
    units = range(trials // TRIALS_A_UNIT)
    together: dict[str, list[TrialRow]] = {}
    for number in units[: len(units) - loose]:
        rows = unit(number, TRIALS_A_UNIT)
        together.setdefault(partition(rows[0]), []).extend(rows)
    for name, rows in together.items():
        dataset.store.add(f"{name}/{COMPACT}made{PARQUET}", parquet_of(rows))
    begin = time.monotonic()
    for number in units[len(units) - loose :]:
        dataset.write(f"unit-{number}", unit(number, TRIALS_A_UNIT))
    seconds = time.monotonic() - begin
    files = dataset.store.files()
    size = sum(file.bytes for file in files) / 1e6
    print(f"{trials:,} trials in {len(files)} files, {size:.1f} MB")
    if loose:
        print(f"{loose} units written in {seconds:.1f} s")


def _commands(folder: str) -> Iterator[tuple[str, list[str]]]:
    yield "dataset list", ["dataset", "list", "--dataset", folder]
    yield "query count", ["query", "select count(*) from trials", "--dataset", folder]
    for name in ready():
        yield f"query --ready {name}", ["query", "--ready", name, "--dataset", folder]


def _timed(words: list[str]) -> float:
    begin = time.monotonic()
    command = [sys.executable, "-m", "linerate", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


if __name__ == "__main__":
    main()
