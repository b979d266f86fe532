"""A folder of a dataset is listed whole while others write in it; what it holds is counted once."""

import os
from contextlib import contextmanager
from datetime import UTC, datetime

from tests.trial_rows import made

from linerate.results.dataset.dataset import Dataset
from linerate.results.dataset.folder import Folder
from linerate.results.dataset.listing import PartRow, listing


class Gone:
    """A writer's temporary file that is gone before it is looked at."""

    path = ".gone"

    def is_dir(self, *, follow_symlinks):
        return False

    def stat(self, *, follow_symlinks):
        raise FileNotFoundError(self.path)


def test_a_file_that_goes_away_hides_no_other(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    names = [f"scenario=a/month=2026-1{month}/{key}.parquet" for month in (1, 2) for key in "abc"]
    for name in names:
        assert folder.add(name, b"rows")
    scandir = os.scandir

    @contextmanager
    def with_gone(path):
        with scandir(path) as entries:
            yield [Gone(), *entries]

    monkeypatch.setattr(os, "scandir", with_gone)
    assert sorted(file.name for file in folder.files()) == names


def test_a_unit_that_is_there_more_than_once_counts_once(tmp_path, monkeypatch):
    """By the run that began first: measured again elsewhere, or left by a compaction."""
    dataset = Dataset(tmp_path)
    late = datetime(2026, 2, 1, tzinfo=UTC)
    again = [made("a", trial, run="again", started=late, testbed="b") for trial in ("U1", "U2-2")]
    dataset.write("a", again)
    first = [made("a", trial, run="first", valid=trial != "U2") for trial in ("U1", "U2", "B1")]
    dataset.write("a", first)
    dataset.write("b", [made("b", "U1", started=late, commit="", version="2.0")])
    dataset.write("c", [made("c", "U1", started=late, commit="", version="2.1")])
    parts = (
        _part(month="2026-01", trials=3, invalid=1, units=1),
        _part(month="2026-02", trials=2, units=2, versions=2),
    )
    assert listing(dataset).parts == parts
    monkeypatch.setattr(dataset.store, "remove", lambda _: None)
    dataset.compact()
    assert listing(dataset).files > 3
    assert listing(dataset).parts == parts


def _part(**counts):
    ones = {"invalid": 0, "testbeds": 1, "devices": 1, "versions": 1}
    return PartRow(scenario="standard", **ones | counts)
