"""Files below a folder, opened so that no link leads out of it, and only those of its owners.

The kernel resolves the whole path at once (openat2: beneath the folder, no symbolic links); where
it has no such call, or a container forbids it, each component is opened by itself (O_NOFOLLOW).
Pipes, devices and folders are no files, and a file is taken from this user, from root, or from the
owner of the folder that was named: in a folder that all may write, others' files are left alone.
"""

import contextlib
import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

OPENAT2 = 437
RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 0x02, 0x04, 0x08
_BENEATH = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS
#: Without waiting: a pipe would keep its reader for ever.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_STEP = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: A kernel that has no openat2, or a filter of system calls that refuses it.
_UNKNOWN = (errno.ENOSYS, errno.EPERM)
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def open_beneath(folder: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a regular file `name` (`RUN/run.json`) below `folder` to read it. Raises OSError."""
    base = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        descriptor = _open_owned(base, name, folder / name)
    finally:
        os.close(base)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def read_beneath(folder: Path, name: str, bytes_max: int) -> bytes:
    """Read a regular file of `bytes_max` at most below `folder`. Raises OSError."""
    with open_beneath(folder, name) as file:
        content = file.read(bytes_max + 1)
        if len(content) > bytes_max:
            raise OSError(errno.EFBIG, f"more than {bytes_max:,} bytes", str(folder / name))
        return content


def status_beneath(folder: Path, name: str) -> os.stat_result | None:
    """Status of such a file; None where there is none that would be opened."""
    with contextlib.suppress(OSError), open_beneath(folder, name) as file:
        return os.fstat(file.fileno())
    return None


def _open_owned(base: int, name: str, path: Path) -> int:
    try:
        descriptor = _open(base, name)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EXDEV):
            why = "a symbolic link, which is not followed: put the file itself there"
            raise OSError(error.errno, why, str(path)) from error
        raise
    try:
        _check(os.fstat(descriptor), os.fstat(base), path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check(status: os.stat_result, base: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    if status.st_uid not in (os.geteuid(), 0, base.st_uid):
        why = f"it belongs to user {status.st_uid}, who is neither you, root nor the folder's owner"
        raise OSError(errno.EACCES, why, str(path))


def _open(base: int, name: str) -> int:
    try:
        return _openat2(base, name)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
    return _component_by_component(base, name)


def _openat2(base: int, name: str) -> int:
    how = struct.pack("QQQ", _READ, 0, _BENEATH)
    path = ctypes.c_char_p(os.fsencode(name))
    while True:
        descriptor = _libc.syscall(OPENAT2, base, path, how, ctypes.c_size_t(len(how)))
        if descriptor >= 0:
            return int(descriptor)
        number = ctypes.get_errno()
        # EAGAIN: something was renamed while the kernel walked.
        if number not in (errno.EINTR, errno.EAGAIN):
            raise OSError(number, os.strerror(number), name)


def _component_by_component(base: int, name: str) -> int:
    *folders, last = Path(name).parts
    if Path(name).is_absolute() or ".." in (*folders, last):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
    here = os.dup(base)
    try:
        for one in folders:
            if stat.S_ISLNK(os.stat(one, dir_fd=here, follow_symlinks=False).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
            there = os.open(one, _STEP, dir_fd=here)
            os.close(here)
            here = there
        return os.open(last, _READ | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)
