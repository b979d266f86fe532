"""The record of a bisection on disk: written whole after each round, read when it goes on."""

import fcntl
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from linerate.base.atomic_write import write_whole
from linerate.base.errors import UserError
from linerate.base.safe_open import read_regular
from linerate.model.bisection import BisectionRecord, LeftOut, Round

RECORD_BYTES_MAX = 64 << 20
STATE = "state.json"


class RecordError(UserError):
    """A record that can't be read, or that another bisection writes."""


class RecordFolder:
    """The folder of one question; a context manager that holds it for this process.

    The same question has the same folder.
    """

    def __init__(self, runs: Path, question: Mapping[str, str]) -> None:
        content = json.dumps(dict(sorted(question.items())))
        digest = hashlib.sha256(content.encode()).hexdigest()[:8]
        self.path = runs / f"bisect-{question['good'][:7]}-{question['bad'][:7]}-{digest}"
        self.record = BisectionRecord(question=dict(question))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it, with what it has. Raises RecordError."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / "lock").open("a", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RecordError(
                    f"{self.path}: this bisection runs already; wait for it, or end it"
                ) from None
            self.record = self._read()
            yield

    def add(self, event: Round | LeftOut, seconds: float) -> None:
        """Write down a round, or a commit that is left out, and the time that it took."""
        self._write(events=(*self.record.events, event), seconds=self.record.seconds + seconds)

    def add_built(self, commit: str) -> None:
        """Write down that a commit's build was tried."""
        if commit not in self.record.built:
            self._write(built=(*self.record.built, commit))

    def _write(self, **changes: object) -> None:
        self.record = self.record.model_copy(update=changes)
        write_whole(self.path / STATE, self.record.model_dump_json())

    def _read(self) -> BisectionRecord:
        path = self.path / STATE
        try:
            return BisectionRecord.model_validate_json(read_regular(path, RECORD_BYTES_MAX))
        except FileNotFoundError:
            return self.record
        except ValidationError as error:
            raise RecordError(
                f"{path}: not a bisection's record; move {self.path} away to begin again"
            ) from error
