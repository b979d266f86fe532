"""The bench: a suite of loadtests on a testbed, from the first engine to the last result."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from linerate import __version__, engine, host
from linerate.engine import Engine, EngineError, Files
from linerate.evidence import Evidence, Load, Progress
from linerate.explain import explain
from linerate.store import Ceiling, Judged, Result, Run, RunFolder, result_of
from linerate.suite import Loadtest, Traffic
from linerate.telemetry import TelemetryError
from linerate.testbed import Testbed
from linerate.tester.engine import EngineTester
from linerate.trial import TrialError, run_trial
from linerate.validity import caused_by_tester, doubts, reasons
from linerate.wiring import CARD, bench_config, ceiling_config

#: An invalid trial is retried so often.
RETRIES = 2
#: Of its own ceiling, the tester is asked for no more than this.
OF_CEILING = 0.95
CEILING_SECONDS = 0.5
FULL_SCALE_PPM = 1_000_000


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM: stop, and keep what was measured."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


class Observer(Protocol):
    """Is told how a bench gets on."""

    def step(self, text: str, seconds: float) -> None:
        """Say that something starts that takes about so long."""

    def progress(self, progress: Progress) -> None:
        """Say how far the trial is; called a few times a second."""

    def measured(self, result: Result) -> None:
        """Say that a trial is done, valid or not."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    testbed: Testbed
    suite: str
    loadtests: tuple[Loadtest, ...]
    duration_seconds: float
    command: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """How long all steps send, if no trial is repeated."""
        ceilings = len(self.kinds) if self.testbed.wire == "card" else 0
        return ceilings * CEILING_SECONDS + len(self.loadtests) * self.duration_seconds

    @property
    def kinds(self) -> list[tuple[Traffic, int]]:
        """The different kinds of traffic, each with its directions."""
        return list(dict.fromkeys((test.traffic, test.directions) for test in self.loadtests))


class Bench:
    """Measures one plan into one run folder."""

    def __init__(self, plan: Plan, folder: RunFolder, observer: Observer) -> None:
        self._plan = plan
        self._folder = folder
        self._observer = observer
        self._cpus = plan.testbed.cpus or host.allowed_cpus()
        self._ceilings: dict[tuple[Traffic, int], float] = {}
        self._engines = 0
        self.run = Run(
            command=plan.command,
            started=datetime.now(UTC),
            suite=plan.suite,
            tests=tuple(test.name for test in plan.loadtests),
            testbed=plan.testbed,
            environment=host.environment(__version__, self._cpus),
        )

    def measure(self) -> Run:
        """Measure all; whatever ends it, what was measured is kept and returned.

        Interrupted is raised again after the run was saved.
        """
        own_cpus = os.sched_getaffinity(0)
        self._update()
        try:
            self._keep_aside()
            engine.sweep()
            self._measure_all()
            self._update(status="complete")
        except (EngineError, TelemetryError, TrialError) as error:
            self._update(status="failed", problem=str(error))
        except KeyboardInterrupt:
            self._update(status="interrupted")
            raise
        except BaseException as error:
            self._update(status="failed", problem=f"{type(error).__name__}: {error}")
            raise
        finally:
            os.sched_setaffinity(0, own_cpus)
        return self.run

    def _keep_aside(self) -> None:
        """Share the first CPU (the tester's, or housekeeping's), never the forwarder's."""
        allowed = os.sched_getaffinity(0)
        if self._cpus[0] in allowed:
            os.sched_setaffinity(0, {self._cpus[0]})

    def _update(self, **changes: Any) -> None:  # noqa: ANN401 (fields of Run)
        if changes.get("status"):
            changes["finished"] = datetime.now(UTC)
        self.run = self.run.model_copy(update=changes)
        self._folder.save(self.run)

    def _measure_all(self) -> None:
        if self._plan.testbed.wire == "card":
            for traffic, directions in self._plan.kinds:
                self._measure_ceiling(Loadtest("ceiling", traffic, directions))
        for loadtest in self._plan.loadtests:
            self._measure_loadtest(loadtest)

    def _engine(self, config: dict[str, Any], label: str) -> Engine:
        files = Files(
            config=self._folder.engine_file(f"{label}.config.json"),
            log=self._folder.engine_file(f"{label}.log"),
        )
        return Engine(config, files, self._cpus)

    def _name(self) -> str:
        """Name an engine; two labs on one host must not meet."""
        self._engines += 1
        return f"bench-{os.getpid()}-{self._engines}"

    def _measure_ceiling(self, loadtest: Loadtest) -> None:
        """Find out what the tester can do by itself, over the bare wire."""
        self._observer.step(f"tester's ceiling, {loadtest.text}", CEILING_SECONDS)
        config = ceiling_config(self._plan.testbed, loadtest, self._name())
        label = f"ceiling-{len(self._ceilings) + 1}"
        with self._engine(config, label) as running, running.connect() as telemetry:
            tester = EngineTester(telemetry, (CARD,))
            load = self._load(loadtest, FULL_SCALE_PPM, CEILING_SECONDS)
            evidence = run_trial(tester, load, self._observer.progress)
        self._folder.save_evidence(label, evidence)
        pps = evidence.received.packets_per_second
        self._ceilings[loadtest.traffic, loadtest.directions] = pps
        ceiling = Ceiling(text=loadtest.text, directions=loadtest.directions, pps=pps)
        self._update(ceilings=(*self.run.ceilings, ceiling))

    def _load(self, loadtest: Loadtest, scale_ppm: int, seconds: float) -> Load:
        return Load(
            frame_bytes=loadtest.traffic.frame_bytes,
            directions=loadtest.directions,
            link_bps=self._plan.testbed.line_bps,
            scale_ppm=scale_ppm,
            duration_us=round(seconds * 1e6),
        )

    def _measure_loadtest(self, loadtest: Loadtest) -> None:
        """Measure one loadtest, again when the trial was invalid."""
        testbed = self._plan.testbed
        ceiling = self._ceilings.get((loadtest.traffic, loadtest.directions))
        scale_ppm = first_scale_ppm(loadtest.line_pps(testbed.line_bps), ceiling)
        config = bench_config(testbed, loadtest, self._name())
        self._observer.step(f"{loadtest.name}, {loadtest.text}", self._plan.duration_seconds)
        with self._engine(config, loadtest.name) as running, running.connect() as telemetry:
            card = testbed.card if testbed.wire == "card" else None
            tester = EngineTester(telemetry, (CARD,) if card else ())
            self._note_engine(tester.info)
            for attempt in range(1, RETRIES + 2):
                load = self._load(loadtest, scale_ppm, self._plan.duration_seconds)
                evidence = run_trial(tester, load, self._observer.progress, card, ceiling)
                result = self._keep(loadtest, attempt, evidence)
                if result.valid or attempt > RETRIES:
                    return
                scale_ppm = next_scale_ppm(scale_ppm, attempt, evidence)
                again = f"{loadtest.name} again, {loadtest.text}"
                self._observer.step(again, self._plan.duration_seconds)

    def _note_engine(self, info: dict[str, Any]) -> None:
        """Keep what the engine says of itself, once it is set up as a whole."""
        if not self.run.environment.layout:
            said = {key: str(info.get(key, "")) for key in ("dpdk", "memory", "layout")}
            self._update(environment=self.run.environment.model_copy(update=said))

    def _keep(self, loadtest: Loadtest, attempt: int, evidence: Evidence) -> Result:
        """Judge a trial and write it down at once."""
        invalid = reasons(evidence)
        judged = Judged(
            invalid=invalid,
            suspect=doubts(evidence),
            verdict=explain(evidence, invalid),
        )
        result = result_of(loadtest.name, loadtest.text, attempt, evidence, judged)
        self._folder.save_evidence(result.trial, evidence)
        self._update(results=(*self.run.results, result))
        self._observer.measured(result)
        return result


def first_scale_ppm(line_pps: float, ceiling_pps: float | None) -> int:
    """Offer the line's rate, or nearly what the tester can do if that is less."""
    if ceiling_pps is None:
        return FULL_SCALE_PPM
    return min(FULL_SCALE_PPM, max(1, int(FULL_SCALE_PPM * OF_CEILING * ceiling_pps / line_pps)))


def next_scale_ppm(scale_ppm: int, attempt: int, evidence: Evidence) -> int:
    """Try the same once more (the host may have been busy), then what the tester managed."""
    if attempt == 1 or not caused_by_tester(evidence):
        return scale_ppm
    asked = evidence.load.asked_pps
    managed = min(1.0, evidence.offered.packets_per_second / asked) if asked else 1.0
    return max(1, int(scale_ppm * OF_CEILING * managed))
