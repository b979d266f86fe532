"""Sources that people name: files, folders, archives of a support bundle, standard input."""

import io
import lzma
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from linerate.base.safe_open import open_regular
from linerate.parsers.text import SIZE_MAX_BYTES, TextError, decode, read_bytes

#: Files that a folder or an archive may have, and bytes of all of them: a bundle of one trial.
FILES_MAX = 400
ALL_BYTES_MAX = 4 * SIZE_MAX_BYTES
#: Name of standard input on a command line.
STANDARD_INPUT = "-"

_ZIP = b"PK\x03\x04"
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
#: Where a tar archive that is not compressed says so (POSIX ustar).
_USTAR = slice(257, 262)

#: Errors that a damaged, encrypted or hostile archive raises while it is read.
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True)
class Source:
    """One text of a source, or why it is none."""

    name: str
    content: str = ""
    #: One line; empty where the text was read.
    mistake: str = ""


def sources_of(path: Path) -> Iterator[Source]:
    """Read whatever a name stands for; what can't be read is a source with a mistake."""
    if str(path) == STANDARD_INPUT:
        yield _source("standard input", sys.stdin.buffer.read(SIZE_MAX_BYTES + 1))
    elif path.is_dir():
        yield from _folder(path)
    else:
        yield from _file(path)


def _file(path: Path) -> Iterator[Source]:
    try:
        with open_regular(path) as file:
            begin = file.read(512)
            if begin.startswith(_ZIP):
                yield from _members(path, _zip_members(path))
                return
            if begin.startswith(_PACKED) or begin[_USTAR] == b"ustar":
                yield from _members(path, _tar_members(path))
                return
    except OSError as error:
        yield Source(path.name, mistake=f"{path}: {(error.strerror or str(error)).lower()}")
        return
    try:
        yield Source(path.name, decode(read_bytes(path), str(path)))
    except TextError as error:
        yield Source(path.name, mistake=str(error))


def _folder(folder: Path) -> Iterator[Source]:
    files = sorted(one for one in folder.rglob("*") if one.is_file() and not one.is_symlink())
    if len(files) > FILES_MAX:
        yield Source(
            folder.name, mistake=f"{folder}: {len(files)} files; expected {FILES_MAX} at most"
        )
        return
    left = ALL_BYTES_MAX
    for path in files:
        left -= path.stat().st_size
        if left < 0:
            yield _too_large(str(folder))
            return
        for source in _file(path):
            name = str(path.relative_to(folder))
            yield Source(name, source.content, source.mistake)


def _members(path: Path, members: Iterator[tuple[str, BinaryIO]]) -> Iterator[Source]:
    """Read an archive's files one after the other; nothing is written anywhere."""
    left, files = ALL_BYTES_MAX, 0
    try:
        for name, file in members:
            files += 1
            content = file.read(min(left, SIZE_MAX_BYTES) + 1)
            left -= len(content)
            if left < 0 or files > FILES_MAX:
                yield _too_large(str(path))
                return
            yield _source(str(PurePosixPath(name)), content)
    except _BROKEN as error:
        yield Source(path.name, mistake=f"{path}: no whole archive ({str(error)[:80]})")


def _tar_members(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            if member.isfile() and (file := archive.extractfile(member)) is not None:
                yield member.name, io.BytesIO(file.read(SIZE_MAX_BYTES + 1))


def _zip_members(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                with archive.open(member) as file:
                    yield member.filename, io.BytesIO(file.read(SIZE_MAX_BYTES + 1))


def _too_large(name: str) -> Source:
    return Source(
        name,
        mistake=f"{name}: over {ALL_BYTES_MAX >> 20} MiB or {FILES_MAX} files; give the outputs of "
        "one trial",
    )


def _source(name: str, content: bytes) -> Source:
    try:
        return Source(name, decode(content, name))
    except TextError as error:
        return Source(name, mistake=str(error))
