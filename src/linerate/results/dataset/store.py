"""Where the files of a dataset are: a folder, or any store that fsspec reaches.

A store lists files, and adds and removes them whole. None is ever changed: what has a name and a
stamp has its content for good.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from linerate.base.errors import UserError

#: Called with the files that are done, and their number.
Progress = Callable[[int, int], None]


def silent(done: int, of: int) -> None:
    """No progress is shown."""


class DatasetError(UserError):
    """A dataset that can't be reached, read or written; one line."""


@dataclass(frozen=True, slots=True)
class File:
    """One file, by its path within the store."""

    name: str
    bytes: int
    #: Differs where the content does.
    stamp: str


class Store(Protocol):
    """Files of one dataset."""

    #: The folder or URL as it may be printed: without a login.
    shown: str

    def files(self) -> list[File]:
        """All of them, by name. Raises DatasetError."""

    def add(self, name: str, content: bytes) -> bool:
        """Write a file whole or not at all; False where it is there already."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone already are no error."""

    def local(self, files: list[File], progress: Progress = silent) -> list[Path]:
        """Paths on this machine from which they can be read, in their order."""

    def sweep(self) -> None:
        """Remove what writers that were killed left behind."""
