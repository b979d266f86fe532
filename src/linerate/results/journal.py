"""Journal of a run while it is measured: `live.jsonl`, one line for each event."""

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = "live.jsonl"


class Journal:
    """The file. A line that can't be written is left out: no trial fails for that."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._trials = 0

    def begin_trial(self) -> int:
        """Number the next trial, from 1."""
        self._trials += 1
        return self._trials

    @property
    def trials(self) -> int:
        """Number of trials that have begun."""
        return self._trials

    def note(self, event: str, **message: Any) -> None:  # noqa: ANN401 (what JSON can hold)
        """Write one line, at once."""
        line = json.dumps({"event": event, "at": round(time.time(), 3), **message})
        with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def read(path: Path) -> Iterator[dict[str, Any]]:
    """All lines so far that are whole; what is no JSON is left out."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            document = json.loads(line)
            if isinstance(document, dict):
                yield document
