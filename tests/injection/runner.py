"""Runs the matrix with the lab's own code: engines, trials, evidence, verdicts."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.injection.matrix import Clock, Event, Strength

from linerate.analysis.explain import Verdict
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import caused_by_host, reasons
from linerate.engine.engine_process import Engine, Files
from linerate.experiments.asked_load import FULL_SCALE_PPM, AskedLoad
from linerate.host import machine
from linerate.lab.engine_config import bench_config, ceiling_config
from linerate.lab.links import find
from linerate.lab.links.card import CARD, CardLink
from linerate.lab.tester.engine import EngineTester
from linerate.lab.trial import run_trial
from linerate.model.evidence import Evidence
from linerate.model.measurement import Load, Progress
from linerate.model.measurement.slices import limit_us
from linerate.model.suites import Loadtest, Traffic
from linerate.model.testbed import Testbed
from linerate.results.verdicts import verdicts

CEILING_SECONDS = 0.3
#: A starved engine is stopped and let go on for this long each, all through the trial: less than a
#: tick (1 ms; engine/tester/slices.h), so that none is undisturbed.
TURN_SECONDS = 0.0004
TURNS = 50
#: An invalid trial is repeated; more often than by the bench, whose trials are longer.
ATTEMPTS = 5
#: Other programs on a small machine make trials invalid.
PRIORITY = -19

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: a limit of one strength with one loadtest, and its verdict."""

    strength: Strength
    loadtest: Loadtest
    verdict: Verdict
    received_pps: float
    attempts: int
    #: The host took the CPUs away each time: nothing to judge.
    no_result: bool = False

    @property
    def expected(self) -> str:
        return self.strength.expects(self.loadtest)

    @property
    def right(self) -> bool:
        return self.verdict.limit == self.expected

    @property
    def text(self) -> str:
        """Everything that helps to mend a rule."""
        ceilings = ", ".join(f"{one.name} {one.mpps:.3f}" for one in self.verdict.ceilings)
        return (
            f"{self.strength.injected} ({self.strength.text}), {self.loadtest.name} "
            f"{self.loadtest.text}: expected {self.expected}, got {self.verdict.limit} "
            f"(also {', '.join(self.verdict.also) or 'none'}) at {self.received_pps / 1e6:.3f} "
            f"Mpps, attempt {self.attempts}: {self.verdict.sentence}; ceilings: {ceilings}"
        )


@dataclass(frozen=True, slots=True)
class _Trial:
    """Measurement of a case."""

    evidence: Evidence
    attempts: int
    host_was_busy: bool

    def closed_box(self) -> "_Trial":
        """Evidence of a device without counters of its own."""
        known = Evidence(
            trial=self.evidence.trial,
            conditions=self.evidence.conditions,
            tester_ceiling_pps=self.evidence.tester_ceiling_pps,
            invalid=self.evidence.invalid,
        )
        return replace(self, evidence=known)


@dataclass(slots=True)
class Runner:
    """Measures strengths one after the other."""

    folder: Path
    seconds: float
    say: Say
    cpus: tuple[int, ...] = field(default_factory=machine.allowed_cpus)
    _ceilings: dict[tuple[int | None, float, str, int], float] = field(default_factory=dict)
    _besides: dict[tuple[str, Loadtest], "_Trial"] = field(default_factory=dict)
    _engines: int = 0

    def clock(self) -> Clock:
        """Ask an engine for the rate of the time stamp counter."""
        loadtest = Loadtest("U2", Traffic(64, "many"), 1)
        with CardLink().bare(Testbed()) as ends:
            config = ceiling_config(Testbed(), ends, loadtest, self._name())
        with self._engine(config) as running, running.connect() as telemetry:
            return Clock(float(telemetry.ask("/linerate/info")["tsc_hz"]))

    def run(self, strength: Strength) -> list[Outcome]:
        """Measure its loadtests, and judge them together."""
        self.say(f"{strength.injected}: {strength.text}")
        trials = [
            (one, self._measured(strength, one, strength.testbed)) for one in strength.loadtests
        ]
        beside = [
            self._beside(strength, one, strength.beside)
            for one in strength.loadtests
            if strength.beside is not None
        ]
        outcomes = _judged(strength, trials, beside)
        if strength.closed_box is not None:
            shut = replace(
                strength, injected=strength.closed_box, text=f"{strength.text}, closed box"
            )
            boxes = [(one, trial.closed_box()) for one, trial in trials]
            outcomes += _judged(shut, boxes, [])
        return outcomes

    def _beside(self, strength: Strength, loadtest: Loadtest, testbed: Testbed) -> "_Trial":
        """Several strengths are compared with the same trial."""
        key = (testbed.model_dump_json(), loadtest)
        if key not in self._besides:
            self._besides[key] = self._measured(strength, loadtest, testbed)
        return self._besides[key]

    def _measured(self, strength: Strength, loadtest: Loadtest, testbed: Testbed) -> "_Trial":
        """Measure one loadtest, again when it was invalid, as the bench does."""
        ceiling = self._ceiling(testbed, loadtest)
        line_pps = loadtest.line_pps(testbed.line_bps)
        asked = AskedLoad.first(line_pps, ceiling)
        if strength.offered_pps is not None:
            wanted = FULL_SCALE_PPM * strength.offered_pps(loadtest) / line_pps
            asked = replace(asked, scale_ppm=min(asked.scale_ppm, max(1, int(wanted))))
        load = Load(
            frame_bytes=loadtest.traffic.frame_bytes,
            directions=loadtest.directions,
            link_bps=testbed.line_bps,
            scale_ppm=asked.scale_ppm,
            duration_us=round(self.seconds * 1e6),
            flows=loadtest.traffic.flows,
            protocol=loadtest.traffic.protocol,
        )
        with find("card").joined(testbed) as ends:
            config = bench_config(testbed, ends, loadtest, self._name())
        with self._engine(config) as running, running.connect() as telemetry:
            tester = EngineTester(telemetry, (CARD,))
            if loadtest.warmup_seconds:
                warmup = load.model_copy(
                    update={"duration_us": round(loadtest.warmup_seconds * 1e6)}
                )
                run_trial(tester, warmup, lambda progress: None)
            for attempt in range(1, ATTEMPTS + 1):
                watch = _Watch(strength.event, running.pid, tester, self.seconds)
                measurement = run_trial(tester, load, watch, testbed.card, asked.ceiling_pps)
                invalid = reasons(measurement)
                if not invalid or strength.event is not None or attempt == ATTEMPTS:
                    break
                asked = asked.after(measurement)
                load = load.model_copy(update={"scale_ppm": asked.scale_ppm})
        evidence = evidence_of(measurement, loadtest.name, "measured", invalid)
        return _Trial(evidence, attempt, strength.event is None and caused_by_host(measurement))

    def _ceiling(self, testbed: Testbed, loadtest: Loadtest) -> float:
        """The tester's own rate; the number of flows matters little to it."""
        burn = testbed.tester.burn if testbed.tester is not None else None
        traffic = loadtest.traffic
        clocks = burn.clocks if burn else None
        key = (clocks, traffic.frame_bytes, traffic.protocol, loadtest.directions)
        if key not in self._ceilings:
            self._ceilings[key] = self._measured_ceiling(testbed, loadtest)
        return self._ceilings[key]

    def _measured_ceiling(self, testbed: Testbed, loadtest: Loadtest) -> float:
        load = Load(
            frame_bytes=loadtest.traffic.frame_bytes,
            directions=loadtest.directions,
            link_bps=testbed.line_bps,
            scale_ppm=FULL_SCALE_PPM,
            duration_us=round(CEILING_SECONDS * 1e6),
        )
        with CardLink().bare(testbed) as ends:
            config = ceiling_config(testbed, ends, loadtest, self._name())
        with self._engine(config) as running, running.connect() as telemetry:
            measurement = run_trial(EngineTester(telemetry, (CARD,)), load, lambda progress: None)
        return measurement.received.packets_per_second

    def _engine(self, config: dict[str, object]) -> Engine:
        name = str(config["name"])
        return Engine(
            config, Files(self.folder / f"{name}.json", self.folder / f"{name}.log"), self.cpus
        )

    def _name(self) -> str:
        self._engines += 1
        return f"injection-{os.getpid()}-{self._engines}"


class _Watch:
    """Does to the engine what the case says, once the trial runs."""

    def __init__(self, event: Event | None, pid: int, tester: EngineTester, seconds: float) -> None:
        self._event = event
        self._pid = pid
        self._tester = tester
        self._seconds = seconds

    def __call__(self, progress: Progress) -> None:
        if progress.state != "running" or self._event is None:
            return
        event, self._event = self._event, None
        if event == "cut short":
            self._tester.stop()
            return
        # So that no slice of it is undisturbed, however long it goes on.
        longest = limit_us(round(self._seconds * 1e6), round(self._seconds * 1e6)) / 1e6
        until = time.monotonic() + 2 * longest
        while time.monotonic() < until and self._tester.progress().state == "running":
            for sent in (signal.SIGSTOP, signal.SIGCONT) * TURNS:
                os.kill(self._pid, sent)
                time.sleep(TURN_SECONDS)


def _judged(
    strength: Strength, trials: Sequence[tuple[Loadtest, _Trial]], beside: Sequence[_Trial]
) -> list[Outcome]:
    """Judge trials as those of one run; `beside` are of another testbed, one a loadtest."""
    evidence = {one.name: trial.evidence for one, trial in trials}
    others = {
        f"{one.name}-beside": two.evidence for (one, _), two in zip(trials, beside, strict=False)
    }
    judged = verdicts(evidence | others)
    compares = bool(beside) or strength.injected == "shared-direction"
    busy = {one.traffic for one, trial in trials if trial.host_was_busy}
    busy |= {
        one.traffic for (one, _), two in zip(trials, beside, strict=False) if two.host_was_busy
    }
    return [
        Outcome(
            strength,
            one,
            judged[one.name],
            _received_pps(trial.evidence),
            trial.attempts,
            # Judged by comparison, a case needs the other trials of its traffic too.
            trial.host_was_busy or (compares and one.traffic in busy),
        )
        for one, trial in trials
    ]


def _received_pps(evidence: Evidence) -> float:
    return evidence.conditions.received_pps if evidence.conditions else 0.0


def run_all(runner: Runner, strengths: Iterable[Strength]) -> Iterator[Outcome]:
    """Measure all, kept on the first CPU as the bench keeps itself."""
    own_cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {runner.cpus[0]})
    try:
        for strength in strengths:
            with _before_others():
                outcomes = runner.run(strength)
            yield from outcomes
    finally:
        os.sched_setaffinity(0, own_cpus)


@contextlib.contextmanager
def _before_others() -> Iterator[None]:
    """Let engines have the CPUs before other programs, of other sessions too, if we may.

    A nice value counts within a session alone where the kernel groups by sessions: sched(7).
    """
    session = Path("/proc/self/autogroup")
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    group = ""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
        # Some sandboxes have the file with nothing in it.
        _, _, group = session.read_text(encoding="ascii").rstrip().rpartition(" ")
        if group:
            session.write_text(str(PRIORITY), encoding="ascii")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, nice)
            if group:
                session.write_text(group, encoding="ascii")
