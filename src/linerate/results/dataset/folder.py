"""A dataset in a folder of this machine, or on a file system that it has mounted."""

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from linerate.base.atomic_write import written_beside
from linerate.results.dataset.store import DatasetError, File, Progress, silent

#: Ends the names of the dataset's files.
PARQUET = ".parquet"
#: Begins the names of files that are being written: no reader takes them.
HIDDEN = "."
#: Time after which such a file has no writer any more.
STALE_SECONDS = 3600.0


class Folder:
    """Files two folders deep: `scenario=…/month=…/NAME.parquet`."""

    def __init__(self, path: Path) -> None:
        # DuckDB takes them for patterns.
        if set(str(path)) & set("*?[]{}"):
            raise DatasetError(f"{path}: a folder with one of *?[]{{}} in its path: rename it")
        self.shown = str(path)
        self.path = path.absolute()

    def files(self) -> list[File]:
        """All of them; none where there is no folder yet."""
        return sorted(
            (
                File(name, status.st_size, str(status.st_mtime_ns))
                for name, status in self._found()
                if name.endswith(PARQUET) and not _base(name).startswith(HIDDEN)
            ),
            key=lambda file: file.name,
        )

    def add(self, name: str, content: bytes) -> bool:
        """Write a file whole or not at all; False where it is there already."""
        path = self.path / name
        try:
            self._make_folders(path.parent)
            return _add(path, content)
        except OSError as error:
            raise DatasetError(f"{path}: {(error.strerror or str(error)).lower()}") from error

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone already are no error."""
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def local(self, files: list[File], progress: Progress = silent) -> list[Path]:
        """They are here already."""
        return [self.path / file.name for file in files]

    def sweep(self) -> None:
        """Remove files whose writers were killed an hour ago or more."""
        for name, status in self._found():
            if _base(name).startswith(HIDDEN) and time.time() - status.st_mtime > STALE_SECONDS:
                (self.path / name).unlink(missing_ok=True)

    def _make_folders(self, folder: Path) -> None:
        """Each of both, and none by a link that somebody laid."""
        self.path.mkdir(parents=True, exist_ok=True)
        for one in (folder.parent, folder):
            with contextlib.suppress(FileExistsError):
                one.mkdir()
            if not stat.S_ISDIR(one.lstat().st_mode):
                raise DatasetError(f"{one}: expected a folder of the dataset, not a link or file")

    def _found(self) -> Iterator[tuple[str, os.stat_result]]:
        """Regular files two folders deep, no links, of this user, root or the folder's owner."""
        prefix = f"{self.path}/"
        try:
            owners = {os.geteuid(), 0, self.path.stat().st_uid}
            for scenario in _folders(self.path):
                for month in _folders(scenario):
                    for path, status in _entries(month):
                        if stat.S_ISREG(status.st_mode) and status.st_uid in owners:
                            yield path[len(prefix) :], status
        except FileNotFoundError:
            # Not there yet, or it went away while it was listed.
            return
        except OSError as error:
            raise DatasetError(f"{self.path}: {(error.strerror or str(error)).lower()}") from error


def _folders(path: Path | str) -> list[str]:
    with os.scandir(path) as entries:
        return sorted(one.path for one in entries if one.is_dir(follow_symlinks=False))


def _entries(folder: str) -> list[tuple[str, os.stat_result]]:
    """All entries of a folder: a writer's temporary file may go while it is listed."""
    found = []
    with os.scandir(folder) as entries:
        for one in entries:
            with contextlib.suppress(FileNotFoundError):
                found.append((one.path, one.stat(follow_symlinks=False)))
    return found


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _add(path: Path, content: bytes) -> bool:
    """A second name is given to a whole file: that fails where another writer was first."""
    with written_beside(path, content) as temporary:
        return _named(temporary, path)


def _named(temporary: Path, path: Path) -> bool:
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:
        # A file system without hard links: whole all the same, and the last of two writers wins.
        if path.exists():
            return False
        temporary.replace(path)
    _sync(path.parent)
    return True


def _sync(folder: Path) -> None:
    """Keep a new name through a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
