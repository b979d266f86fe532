"""Files that are there whole or not at all, whatever ends the writer."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text and a line's end so that the file is there whole or not at all."""
    write_bytes_whole(path, f"{text}\n".encode())


def write_bytes_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    with written_beside(path, content) as temporary:
        temporary.replace(path)


@contextmanager
def written_beside(path: Path, content: bytes) -> Iterator[Path]:
    """A whole file under a hidden name beside `path`, for the caller to name; else it goes."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        yield Path(temporary)
    finally:
        Path(temporary).unlink(missing_ok=True)
