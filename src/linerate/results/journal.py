"""Journal of a run while it is measured: `live.jsonl`, one line for each event."""

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from linerate.base.frozen_model import FrozenModel
from linerate.base.published import published

FILE = "live.jsonl"


class _Line(FrozenModel):
    #: Seconds since 1970.
    at: float


class StatusLine(_Line):
    """The run began, or ended."""

    event: Literal["status"]
    status: Literal["running", "complete", "interrupted", "failed"]
    problem: str
    pid: int
    dut: str
    tests: tuple[str, ...]


class _TrialLine(_Line):
    #: Number of the trial, from 1.
    number: int


class TrialLine(_TrialLine):
    """A trial begins."""

    event: Literal["trial"]
    #: Its test and configuration.
    label: str
    loadtest: str
    text: str
    #: The line's rate over all directions; unknown of older runs.
    line_pps: int = 0


class SendingLine(_TrialLine):
    """Its streams start."""

    event: Literal["sending"]
    seconds: float
    #: Over all directions, millionths of the line's rate.
    scale_ppm: int


class WorkerCycles(FrozenModel):
    """Cycles of a worker since the line before."""

    role: str
    tsc_hz: int
    clocks: int
    overhead_clocks: int
    away_clocks: int
    sleep_clocks: int
    loops: int
    #: By node: calls, vectors, clocks, idle calls, idle clocks.
    nodes: dict[str, tuple[int, int, int, int, int]]


class SampleLine(_TrialLine):
    """Counters since the line before of the same trial; `closed` is its last."""

    event: Literal["sample", "closed"]
    label: str
    #: Since the first packet, on the tester's clock.
    at_us: int
    seconds: float
    sent_pps: int
    received_pps: int
    workers: dict[str, WorkerCycles]
    #: Place and kind in the packet ledger, packets.
    packets: tuple[tuple[str, str, int], ...]


class DrainingLine(_TrialLine):
    """All is sent; packets are on their way."""

    event: Literal["draining"]


class MeasuredLine(_TrialLine):
    """Its evidence is on the disk."""

    event: Literal["measured"]
    trial: str


class ResultLine(_TrialLine):
    """Its result is in run.json."""

    event: Literal["result"]
    test: str
    trial: str
    valid: bool
    invalid: tuple[str, ...]
    received_pps: int
    line_percent: float
    loss_percent: float
    limit: str
    sentence: str


published("journal", "A line of live.jsonl, in the folder of a run", form="kept")(
    StatusLine | TrialLine | SendingLine | SampleLine | DrainingLine | MeasuredLine | ResultLine
)


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
