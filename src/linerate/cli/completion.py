"""Shell completion: words of a list, one or several, and runs on disk."""

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

#: From the typed prefix to all completions.
Completer = Callable[[str], list[str]]


def one_of(words: Iterable[str]) -> Completer:
    """Complete to one of the words."""
    known = list(words)

    def complete(typed: str) -> list[str]:
        return [word for word in known if word.startswith(typed)]

    return complete


def several_of(known: Callable[[], Iterable[str]]) -> Completer:
    """Complete the last of several words: `U1,B` to `U1,B1` and so on."""

    def complete(typed: str) -> list[str]:
        before, comma, last = typed.rpartition(",")
        fitting = [word for word in known() if word.startswith(last)]
        return [f"{before}{comma}{word}" for word in fitting]

    return complete


def complete_run(incomplete: str) -> list[str]:
    """Folders of runs under ./runs, the newest first (their names begin with the time)."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        found = [file.parent for file in Path("runs").glob("*/run.json")]
    names = sorted((str(folder) for folder in found), reverse=True)
    return [name for name in names if name.startswith(incomplete)]
