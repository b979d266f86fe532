"""Files of others that are opened only if they are files: a pipe would keep its reader for ever.

And files of ours that are written only where no other user has laid anything.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


@contextmanager
def open_regular(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file to read it. Raises OSError: of what is no file too."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        yield file


def read_regular(path: Path, bytes_max: int) -> bytes:
    """Read a regular file of `bytes_max` at most. Raises OSError."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > bytes_max:
            raise OSError(errno.EFBIG, f"more than {bytes_max:,} bytes", str(path))
        return file.read()


@contextmanager
def open_own(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of this user's to write it anew, or make it; no symbolic link is followed.

    A named pipe of the user's will do: its reader gets what is written at once. Raises OSError:
    of what belongs to another user too, since that user can read or move it.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        status = os.fstat(file.fileno())
        if status.st_uid != os.geteuid():
            raise OSError(errno.EPERM, "belongs to another user", str(path))
        if stat.S_ISREG(status.st_mode):
            if status.st_nlink != 1:
                raise OSError(errno.EPERM, "has other names (hard links)", str(path))
            os.ftruncate(file.fileno(), 0)
        elif not stat.S_ISFIFO(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        yield file
