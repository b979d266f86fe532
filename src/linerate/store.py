"""Runs on disk: a folder with run.json and the evidence of each trial.

Written as soon as measured, each file whole or not at all, so that whatever ends
a run leaves what was measured before.
"""

import contextlib
import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from linerate.evidence import Evidence
from linerate.explain import Verdict
from linerate.host import Environment
from linerate.ledger import PacketLedger, TimeLedger
from linerate.testbed import Testbed

#: Raised when a reader of older runs would misunderstand a newer one.
SCHEMA = 1

Status = Literal["running", "complete", "interrupted", "failed"]


class StoreError(Exception):
    """A run that is not there, or that this version can't read."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class Result(_Model):
    """What one trial came to: figures, both ledgers, verdict."""

    test: str
    attempt: int
    #: File name (without .json) of its evidence.
    trial: str
    text: str
    valid: bool
    invalid: tuple[str, ...] = ()
    suspect: tuple[str, ...] = ()
    duration_seconds: float
    directions: int
    frame_bytes: int
    asked_pps: float
    offered_pps: float
    received_pps: float
    l1_bps: float
    l2_bps: float
    l2_bps_no_fcs: float
    percent_of_line: float
    loss_percent: float
    verdict: Verdict
    packets: PacketLedger
    time: tuple[TimeLedger, ...]
    time_at_load: tuple[TimeLedger, ...]


class Ceiling(_Model):
    """What the tester can do by itself with one kind of traffic."""

    text: str
    directions: int
    pps: float


class Run(_Model):
    """Everything that one command measured."""

    schema_version: int = SCHEMA
    command: tuple[str, ...]
    started: datetime
    finished: datetime | None = None
    status: Status = "running"
    problem: str = ""
    suite: str
    tests: tuple[str, ...]
    testbed: Testbed
    environment: Environment
    ceilings: tuple[Ceiling, ...] = ()
    #: Every attempt, invalid ones too, in the order in which they were measured.
    results: tuple[Result, ...] = ()

    def reported(self) -> list[Result]:
        """Return one result for each test: the last attempt."""
        last = {result.test: result for result in self.results}
        return list(last.values())


def result_of(test: str, text: str, attempt: int, evidence: Evidence, judged: "Judged") -> Result:
    """Sum up one trial."""
    received = evidence.received
    return Result(
        test=test,
        attempt=attempt,
        trial=test if attempt == 1 else f"{test}-{attempt}",
        text=text,
        valid=not judged.invalid,
        invalid=judged.invalid,
        suspect=judged.suspect,
        duration_seconds=evidence.seconds,
        directions=evidence.load.directions,
        frame_bytes=evidence.load.frame_bytes,
        asked_pps=evidence.load.asked_pps,
        offered_pps=evidence.offered.packets_per_second,
        received_pps=received.packets_per_second,
        l1_bps=received.l1_bps,
        l2_bps=received.l2_bps,
        l2_bps_no_fcs=received.l2_bps_no_fcs,
        percent_of_line=evidence.percent_of_line,
        loss_percent=evidence.loss_percent,
        verdict=judged.verdict,
        packets=evidence.packets,
        time=evidence.time,
        time_at_load=evidence.time_at_load,
    )


class Judged(_Model):
    """What is thought of a trial."""

    invalid: tuple[str, ...] = ()
    suspect: tuple[str, ...] = ()
    verdict: Verdict


class RunFolder:
    """The folder of a run that is being measured."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, runs: Path, label: str, now: datetime | None = None) -> "RunFolder":
        """Make a new folder under `runs`, named after the time and a label."""
        moment = (now or datetime.now(UTC)).astimezone()
        stem = f"{moment:%Y%m%d-%H%M%S}-{label}"
        for number in range(1, 1000):
            path = runs / (stem if number == 1 else f"{stem}-{number}")
            with contextlib.suppress(FileExistsError):
                path.mkdir(parents=True)
                (path / "evidence").mkdir()
                (path / "engine").mkdir()
                return cls(path)
        raise StoreError(f"{runs / stem}: such a run is there already")

    def save(self, run: Run) -> None:
        """Write run.json anew."""
        write_whole(self.path / "run.json", run.model_dump_json(indent=1, by_alias=False))

    def save_evidence(self, trial: str, evidence: Evidence) -> None:
        """Write the evidence of one trial."""
        path = self.path / "evidence" / f"{trial}.json"
        write_whole(path, evidence.model_dump_json(indent=1))

    def engine_file(self, name: str) -> Path:
        """Name a file that belongs to one engine."""
        return self.path / "engine" / name


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load_run(path: Path) -> Run:
    """Read a run: its folder, or the run.json in it. Raises StoreError."""
    file = path / "run.json" if path.is_dir() else path
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        version = document.get("schema_version") if isinstance(document, dict) else None
        if version != SCHEMA:
            raise StoreError(f"{file}: schema {version}, this version reads {SCHEMA}")
        return Run.model_validate(document)
    except OSError as error:
        raise StoreError(f"{file}: {(error.strerror or str(error)).lower()}") from error
    except json.JSONDecodeError as error:
        raise StoreError(f"{file}: line {error.lineno}: expected JSON") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise StoreError(f"{file}: {key}: {first['msg'].lower()}") from error


def load_evidence(folder: Path, trial: str) -> Evidence:
    """Read the evidence of one trial of a run. Raises StoreError."""
    file = folder / "evidence" / f"{trial}.json"
    try:
        return Evidence.model_validate_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(f"{file}: {(error.strerror or str(error)).lower()}") from error
    except ValidationError as error:
        raise StoreError(f"{file}: no evidence that this version reads") from error
