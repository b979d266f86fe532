"""Runs on disk: a folder with run.json and the evidence of each trial.

Written as soon as measured, each file whole or not at all, so that whatever ends
a run leaves what was measured before.
"""

import os
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, ValidationError

from linerate.analysis.explain import Verdict
from linerate.analysis.host_losses import left_out
from linerate.analysis.measured_evidence import written
from linerate.analysis.validity import WIRE_TOOK
from linerate.base.atomic_write import write_whole
from linerate.base.errors import UserError
from linerate.base.frozen_model import FrozenModel
from linerate.base.line_rate import WIRE_OVERHEAD_BYTES
from linerate.base.open_beneath import read_beneath
from linerate.base.published import published
from linerate.base.safe_load import DocumentError, json_of
from linerate.model.box_files import files_of
from linerate.model.environment import Environment
from linerate.model.findings import Finding
from linerate.model.ledger import PacketLedger, TimeLedger, forwarder_ledgers
from linerate.model.measurement import Measurement
from linerate.model.measurement.latency import LatencyFigures, LatencyLoads, figures
from linerate.model.power import PowerFigures
from linerate.model.power import figures_of as power_figures
from linerate.model.run_records import FrameSize, Hop, Search, SoakState
from linerate.model.scenario import ScenarioUse
from linerate.model.suites import TESTER_PORTS, Profiled
from linerate.model.testbed import Testbed
from linerate.model.tester_workers import TesterWorkers
from linerate.results.journal import FILE as LIVE_FILE
from linerate.results.journal import Journal

#: Raised when a reader of older runs would misunderstand a newer one.
SCHEMA = 3
#: Schemas of runs that this version reads.
READ = (2, SCHEMA)
#: Size of a run.json: a sweep of hundreds of trials has some megabytes.
RUN_BYTES_MAX = 64 << 20
EVIDENCE_BYTES_MAX = 256 << 20

Status = Literal["running", "complete", "interrupted", "failed"]


class StoreError(UserError):
    """A run that is not there, or that this version can't read."""


class FlowFigures(FrozenModel):
    """Counters of a flow table in a trial, and the part that the cards took over."""

    #: Whether ports were asked to look flows up.
    offload: bool
    #: L1 rate, preamble and gap included, received from the first port and the second.
    upstream_bps: float
    downstream_bps: float
    #: Share of the workers' time under load.
    busy_percent: float
    #: Share of the packets that the card had looked up.
    marked_percent: float
    #: At the end of the trial.
    rules: int
    flows: int
    created: int
    not_recorded: int


class Which(FrozenModel):
    """The trial of a result."""

    test: str
    text: str
    attempt: int = 1
    #: In a sweep: number of the repeated trial, and its configuration.
    repeat: int = 1
    configuration: str = ""


class Judged(FrozenModel):
    """Judgement of a trial."""

    invalid: tuple[str, ...] = ()
    suspect: tuple[str, ...] = ()
    #: It would be invalid for the first of `suspect`, had suspect figures not been asked for.
    provisional: bool = False
    verdict: Verdict


class Result(Judged, Which):
    """Result of one trial: figures, both ledgers, verdict."""

    #: File name (without .json) of its evidence.
    trial: str
    valid: bool
    duration_seconds: float
    directions: int
    frame_bytes: int | float
    asked_pps: float
    offered_pps: float
    received_pps: float
    l1_bps: float
    l2_bps: float
    l2_bps_no_fcs: float
    #: `percent_of_line` in runs of schema 2.
    line_percent: float = Field(validation_alias=AliasChoices("line_percent", "percent_of_line"))
    loss_percent: float
    #: Packets lost that count as the host's: loss and verdict leave them out.
    left_out: int = 0
    #: Undisturbed part of the trial, where rates and loss are of that part; and the 95 % confidence
    #: interval of its received rate.
    clean_seconds: float | None = None
    received_pps_interval: tuple[float, float] | None = None
    flow_table: FlowFigures | None = None
    #: The traffic profile at full scale.
    profile: Profiled | None = None
    #: Latency of each stream, and over the bare link at this load: the tester's own.
    latency: tuple[LatencyFigures, ...] = ()
    own_latency: tuple[LatencyFigures, ...] = ()
    packets: PacketLedger
    time: tuple[TimeLedger, ...]
    time_at_load: tuple[TimeLedger, ...]
    #: Power of the device, where a meter is read.
    power: PowerFigures | None = None

    @property
    def came_back(self) -> int:
        """Packets that the tester got back; of a profile without signatures, of no stream too."""
        unsigned = self.profile is not None and not self.profile.signed
        return self.packets.returned if unsigned else self.packets.received

    @property
    def nothing_came_back(self) -> bool:
        """Whether packets were sent, and none came through."""
        return self.packets.sent > 0 and not self.received_pps

    @property
    def disturbed(self) -> bool:
        """Whether there are doubts but that the wire, as it always does, pushed back."""
        return any(not doubt.startswith(WIRE_TOOK) for doubt in self.suspect)


class Ceiling(FrozenModel):
    """The tester's own rate with one kind of traffic."""

    text: str
    wire: str = "card"
    directions: int
    pps: float


class Absent(FrozenModel):
    """A configuration that was not measured, or not to the end, and why."""

    configuration: str
    reason: str
    #: Remedy.
    remedy: str = ""
    #: Known before anything was measured.
    planned: bool = False


class Sweep(FrozenModel):
    """Range of a sweep; its tests are named CONFIGURATION@SIZE."""

    #: Names, in the order of the report.
    configurations: tuple[str, ...]
    frame_bytes: tuple[int, ...]
    repeats: int
    directions: int
    absent: tuple[Absent, ...] = ()
    #: Cost of a hop over veth for its sender, where measured.
    hop: Hop | None = None


@published("run", "run.json, in the folder of a run", SCHEMA, form="kept")
class Run(FrozenModel):
    """Everything that one command measured."""

    schema_version: int = SCHEMA
    command: tuple[str, ...]
    started: datetime
    finished: datetime | None = None
    status: Status = "running"
    problem: str = ""
    #: By key, words of the user by which it is found again.
    labels: dict[str, str] = {}
    suite: str
    tests: tuple[str, ...]
    testbed: Testbed
    environment: Environment
    #: Findings of a short check of the host before the first trial (`linerate doctor`).
    host: tuple[Finding, ...] = ()
    #: The tester's, where it has several or too few.
    tester_workers: TesterWorkers | None = None
    ceilings: tuple[Ceiling, ...] = ()
    #: Tests without any trial, as the host gave an engine no CPU twice; `configuration` names them.
    absent: tuple[Absent, ...] = ()
    #: The scenario that it measured; `tests` are its traffic.
    scenario: ScenarioUse | None = None
    sweep: Sweep | None = None
    searches: tuple[Search, ...] = ()
    rfc2544: tuple[FrameSize, ...] = ()
    soak: SoakState | None = None
    latencies: tuple[LatencyLoads, ...] = ()
    #: Every attempt, invalid ones too, in the order in which they were measured.
    results: tuple[Result, ...] = ()

    def repeats(self) -> dict[str, list[Result]]:
        """By test, the last attempt of each repeated trial."""
        last = {(result.test, result.repeat): result for result in self.results}
        found: dict[str, list[Result]] = {}
        for (test, _), result in last.items():
            found.setdefault(test, []).append(result)
        return found

    def reported(self) -> list[Result]:
        """Return one result for each test: the last attempt; of repeated trials, the middle one."""
        return [_middle(results) for results in self.repeats().values()]


def sound(results: Iterable[Result]) -> list[Result]:
    """Valid results; provisional ones only where there are no others."""
    valid = [result for result in results if result.valid]
    return [result for result in valid if not result.provisional] or valid


def _middle(results: list[Result]) -> Result:
    """The sound one whose rate is the median (the lower of two), or the last when none is."""
    valid = sorted(sound(results), key=lambda result: result.received_pps)
    return valid[(len(valid) - 1) // 2] if valid else results[-1]


def trial_name(test: str, repeat: int = 1, attempt: int = 1) -> str:
    """Name a trial: `U2`; its third attempt `U2-3`; the second repeat of all that `U2.2-3`."""
    again = f"-{attempt}" if attempt > 1 else ""
    return test + (f".{repeat}" if repeat > 1 else "") + again


def result_of(which: Which, measurement: Measurement, judged: Judged) -> Result:
    """Sum up one trial."""
    received = measurement.received
    return Result(
        **dict(which),
        **dict(judged),
        trial=trial_name(which.test, which.repeat, which.attempt),
        valid=not judged.invalid,
        duration_seconds=measurement.seconds,
        directions=measurement.load.directions,
        frame_bytes=measurement.load.frame_bytes,
        asked_pps=measurement.asked_pps,
        offered_pps=measurement.offered.packets_per_second,
        received_pps=received.packets_per_second,
        l1_bps=received.l1_bps,
        l2_bps=received.l2_bps,
        l2_bps_no_fcs=received.l2_bps_no_fcs,
        line_percent=measurement.line_percent,
        loss_percent=measurement.loss_percent,
        left_out=left_out(measurement),
        clean_seconds=measurement.clean.clean_us / 1e6 if measurement.clean else None,
        received_pps_interval=measurement.clean.received_pps_interval
        if measurement.clean
        else None,
        flow_table=flow_figures(measurement),
        profile=measurement.load.offered.summary if measurement.load.offered else None,
        latency=figures(measurement.latency, measurement.streams),
        packets=measurement.packets,
        time=measurement.time,
        time_at_load=measurement.time_at_load,
        power=power_figures(measurement.power, received.packets_per_second),
    )


def flow_figures(measurement: Measurement) -> FlowFigures | None:
    """Sum up what a flow table did; None where there is none."""
    flows = measurement.flows
    if flows is None:
        return None
    busy = [ledger.busy_percent for ledger in forwarder_ledgers(measurement.time_at_load)]
    ports = measurement.ports
    return FlowFigures(
        offload=bool(flows.ports),
        # Packets sent by the first port are received at the second.
        upstream_bps=_wire_bps(measurement, ports.get(TESTER_PORTS[1], {})),
        downstream_bps=_wire_bps(measurement, ports.get(TESTER_PORTS[0], {})),
        busy_percent=sum(busy) / len(busy) if busy else 0.0,
        marked_percent=flows.marked_percent,
        rules=flows.rules,
        flows=flows.table.get("flows", 0),
        created=flows.table.get("created", 0),
        not_recorded=flows.not_recorded,
    )


def _wire_bps(measurement: Measurement, counters: dict[str, int]) -> float:
    """Received bytes count the FCS, and nothing else of what a frame takes."""
    received = counters.get("rx_bytes", 0)
    received += WIRE_OVERHEAD_BYTES * counters.get("rx_packets", 0)
    return received * 8 / measurement.seconds if measurement.seconds else 0.0


class RunFolder:
    """The folder of a run that is being measured."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: For those who watch.
        self.journal = Journal(path / LIVE_FILE)
        #: Those of the user, for the run.
        self.labels: dict[str, str] = {}
        self._noted = 0
        self._status = ""

    @classmethod
    def create(cls, runs: Path, label: str, now: datetime | None = None) -> "RunFolder":
        """Make a new folder under `runs`, named after the time and a label."""
        moment = (now or datetime.now(UTC)).astimezone()
        stem = f"{moment:%Y%m%d-%H%M%S}-{label}"
        for number in range(1, 1000):
            path = runs / (stem if number == 1 else f"{stem}-{number}")
            try:
                path.mkdir(parents=True)
                (path / "evidence").mkdir()
                (path / "engine").mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                if runs.is_file():
                    raise StoreError(f"{runs}: a file, expected a folder for runs") from None
                reason = (error.strerror or str(error)).lower()
                raise StoreError(f"{path}: {reason}; --runs names another folder") from error
            return cls(path)
        raise StoreError(f"{runs / stem}: such a run is there already")

    def remove_unused(self) -> None:
        """Remove it as long as no run was written."""
        if not (self.path / "run.json").exists():
            self.remove()

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)

    def save(self, run: Run) -> None:
        """Write run.json anew."""
        write_whole(self.path / "run.json", run.model_dump_json(indent=1, by_alias=False))
        self._note(run)

    def _note(self, run: Run) -> None:
        """Tell those who watch what is new."""
        if run.status != self._status:
            self._status = run.status
            about = {"pid": os.getpid(), "dut": run.testbed.dut.name, "tests": list(run.tests)}
            self.journal.note("status", status=run.status, problem=run.problem, **about)
        for result in run.results[self._noted :]:
            self.journal.note("result", number=self.journal.trials, **_in_short(result))
        self._noted = len(run.results)

    def save_measurement(self, trial: str, measurement: Measurement) -> None:
        """Write what one trial measured, as evidence."""
        path = self.path / "evidence" / f"{trial}.json"
        write_whole(path, written(measurement))
        if measurement.box is not None:
            answers = self.path / "box" / trial
            answers.mkdir(parents=True, exist_ok=True)
            for name, text in files_of(measurement.box).items():
                write_whole(answers / name, text)
        self.journal.note("measured", number=self.journal.trials, trial=trial)

    def save_so_far(self, run: Run, trial: str, measurement: Measurement) -> None:
        """Write a run with a trial that goes on; its result is no line of the journal yet."""
        write_whole(self.path / "evidence" / f"{trial}.json", written(measurement))
        write_whole(self.path / "run.json", run.model_dump_json(indent=1, by_alias=False))

    def engine_file(self, name: str) -> Path:
        """Name a file that belongs to one engine."""
        return self.path / "engine" / name


def _in_short(result: Result) -> dict[str, Any]:
    """Summary of a trial for viewers."""
    verdict = result.verdict
    return {"test": result.test, "trial": result.trial, "valid": result.valid,
            "invalid": list(result.invalid), "received_pps": round(result.received_pps),
            "line_percent": round(result.line_percent, 2),
            "loss_percent": round(result.loss_percent, 4),
            "limit": verdict.limit, "sentence": verdict.sentence}  # fmt: skip


def load_run(path: Path, runs: Path | None = None) -> Run:
    """Read a run: its folder, or the run.json in it. Raises StoreError.

    No link below `path` is followed; given `runs`, which holds the folder, none below that.
    """
    file = path / "run.json" if runs or path.is_dir() else path
    try:
        return run_of(_read(file.parent, file.name, RUN_BYTES_MAX, runs), file)
    except OSError as error:
        raise StoreError(f"{file}: {(error.strerror or str(error)).lower()}") from error


def run_of(content: bytes, file: Path) -> Run:
    """Contents of a run.json; `file` is named where it is no run. Raises StoreError."""
    try:
        document = json_of(content.decode())
        version = document.get("schema_version") if isinstance(document, dict) else None
        if version not in READ:
            known = f"this version reads {READ[0]} to {SCHEMA}"
            raise StoreError(f"{file}: schema {version}, {known}: {_remedy(version)}")
        return Run.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise StoreError(f"{file}: {key}: {first['msg'].lower()}") from error
    except DocumentError as error:
        raise StoreError(f"{file}: {error}") from error
    except UnicodeDecodeError as error:
        raise StoreError(f"{file}: expected JSON in UTF-8") from error


def _remedy(version: object) -> str:
    """Advice about a run of another schema."""
    if version == 1:
        return "written before version 0.1, the first release; measure it again"
    if isinstance(version, int) and version > SCHEMA:
        return "written by a newer version; open it with that one"
    return "no run.json of linerate"


def load_measurement(folder: Path, trial: str, runs: Path | None = None) -> Measurement:
    """Read the evidence of one trial of a run; links as in load_run. Raises StoreError."""
    return load_evidence(folder, trial, runs)[1]


def load_evidence(folder: Path, trial: str, runs: Path | None = None) -> tuple[str, Measurement]:
    """The same, and the file's text: a verdict quotes its lines."""
    file = folder / (name := f"evidence/{trial}.json")
    try:
        text = _read(folder, name, EVIDENCE_BYTES_MAX, runs).decode()
        return text, Measurement.model_validate_json(text)
    except OSError as error:
        raise StoreError(f"{file}: {(error.strerror or str(error)).lower()}") from error
    except (UnicodeDecodeError, ValidationError) as error:
        raise StoreError(f"{file}: no evidence that this version reads") from error


def _read(folder: Path, name: str, bytes_max: int, runs: Path | None) -> bytes:
    base, below = (folder, name) if runs is None else (runs, f"{folder.name}/{name}")
    return read_beneath(base, below, bytes_max)
