"""A dataset's folder is listed whole while others write in it."""

import os
from contextlib import contextmanager

from linerate.results.dataset.folder import Folder


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
