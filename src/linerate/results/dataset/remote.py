"""A dataset in another store: S3 and what speaks it, sftp, or whatever fsspec has a driver for.

What is read is kept on this machine, under the user's cache, and only what is new is fetched: a
file of a store is never changed. DuckDB then reads local files alone.
"""

import contextlib
import hashlib
import os
import posixpath
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linerate.base.atomic_write import write_bytes_whole
from linerate.results.dataset.folder import HIDDEN, PARQUET
from linerate.results.dataset.store import DatasetError, File, Progress, silent

#: Stores whose files are there whole or not at all by themselves; elsewhere a name comes last.
OBJECTS = frozenset(
    ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "r2", "memory")
)
#: Marks of a file's content, as stores have them: the first that is there.
STAMPS = ("ETag", "etag", "md5Hash", "content_md5", "LastModified", "mtime", "created")
#: Files that are fetched at once.
BATCH = 64
_LOGIN = re.compile(r"//[^/@]*@")


class Remote:
    """Files of a store that fsspec reaches by a URL."""

    def __init__(self, url: str) -> None:
        #: Without a login: it is printed.
        self.shown = _LOGIN.sub("//", url)
        self._fs, self._root = self._reach(url)
        protocol = self._fs.protocol
        self._objects = bool(
            OBJECTS & {protocol} if isinstance(protocol, str) else OBJECTS & {*protocol}
        )

    def files(self) -> list[File]:
        """All of them; none where nothing was written yet."""
        with self._errors():
            self._fs.invalidate_cache()
            try:
                found = self._fs.find(self._root, detail=True)
            except FileNotFoundError:
                return []
        files = (self._file(path, about) for path, about in found.items())
        return sorted((file for file in files if _is_ours(file.name)), key=lambda file: file.name)

    def add(self, name: str, content: bytes) -> bool:
        """Write a file whole or not at all; False where it is there already."""
        path = posixpath.join(self._root, name)
        with self._errors():
            try:
                self._put(path, content)
            except FileExistsError:
                return False
        return True

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone already are no error."""
        with self._errors():
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    self._fs.rm_file(posixpath.join(self._root, name))

    def local(self, files: list[File], progress: Progress = silent) -> list[Path]:
        """Fetch what is not kept here yet, and forget what the store has no more."""
        folder = _cache(self.shown)
        kept = {file.name: folder / _kept_as(file) for file in files}
        self._forget(folder, {path.name for path in kept.values()})
        missing = [file for file in files if not kept[file.name].exists()]
        for begin in range(0, len(missing), BATCH):
            progress(begin, len(missing))
            self._fetch(missing[begin : begin + BATCH], kept)
        progress(len(missing), len(missing))
        return [kept[file.name] for file in files]

    def sweep(self) -> None:
        """Leave all: no reader takes what a killed writer left, and its age is not sure."""

    def _put(self, path: str, content: bytes) -> None:
        if self._objects:
            self._fs.pipe_file(path, content, mode="create")
            return
        folder, name = posixpath.split(path)
        if self._fs.exists(path):
            raise FileExistsError(path)
        self._fs.makedirs(folder, exist_ok=True)
        temporary = posixpath.join(folder, f"{HIDDEN}{name}-{secrets.token_hex(6)}")
        try:
            self._fs.pipe_file(temporary, content)
            self._fs.mv(temporary, path)
        except BaseException:
            with contextlib.suppress(Exception):
                self._fs.rm_file(temporary)
            raise

    def _fetch(self, files: list[File], kept: dict[str, Path]) -> None:
        paths = {posixpath.join(self._root, file.name): kept[file.name] for file in files}
        with self._errors():
            found = self._fs.cat(list(paths))
            # A single file comes by itself.
            found = found if isinstance(found, dict) else dict.fromkeys(paths, found)
        for path, target in paths.items():
            write_bytes_whole(target, found[path])

    def _forget(self, folder: Path, names: set[str]) -> None:
        for path in folder.iterdir():
            if path.name not in names and path.name.endswith(PARQUET):
                path.unlink(missing_ok=True)

    def _file(self, path: str, about: dict[str, Any]) -> File:
        stamp = next((str(about[key]) for key in STAMPS if about.get(key) is not None), "")
        name = posixpath.relpath(path, self._root)
        return File(name, int(about.get("size") or 0), stamp)

    def _reach(self, url: str) -> tuple[Any, str]:
        import fsspec  # noqa: PLC0415 (slow to load)

        if "::" in url:
            raise DatasetError(f"{self.shown}: expected one store, not one within another (::)")
        with self._errors():
            fs, root = fsspec.core.url_to_fs(url)
            return fs, root.rstrip("/")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Whatever a driver raises, as a line that names the dataset."""
        try:
            yield
        except (DatasetError, FileExistsError, FileNotFoundError):
            raise
        except ImportError as error:
            raise DatasetError(f"{self.shown}: a driver is missing: {error}") from error
        except Exception as error:  # each driver has errors of its own
            text = _LOGIN.sub("//", str(error)) or type(error).__name__
            raise DatasetError(f"{self.shown}: {text}") from error


def _is_ours(name: str) -> bool:
    """Whether it is a dataset's file: two folders deep, and whole."""
    base = name.rpartition("/")[2]
    return name.count("/") == 2 and base.endswith(PARQUET) and not base.startswith(HIDDEN)


def _cache(url: str) -> Path:
    """Folder of this user alone in which a dataset's files are kept. Raises DatasetError."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    digest = hashlib.sha256(url.encode()).hexdigest()[:16]
    folder = Path(home) / "linerate" / "datasets" / digest
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = folder.lstat()
    except OSError as error:
        raise DatasetError(f"{folder}: {(error.strerror or str(error)).lower()}") from error
    if status.st_uid != os.geteuid():
        raise DatasetError(f"{folder}: it belongs to user {status.st_uid}; set XDG_CACHE_HOME")
    return folder


def _kept_as(file: File) -> str:
    text = f"{file.name}\n{file.bytes}\n{file.stamp}"
    return hashlib.sha256(text.encode()).hexdigest()[:40] + PARQUET
