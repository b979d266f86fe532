"""Files of others that are opened only if they are files: a pipe would keep its reader for ever."""

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
