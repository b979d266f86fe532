"""The bench: a suite of loadtests on a testbed, from the first engine to the last result."""

import contextlib
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from linerate import __version__
from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import (
    caused_by_host,
    caused_by_tester,
    doubts,
    may_be_accepted,
    reasons,
)
from linerate.base.errors import SetupError
from linerate.base.signals import held_back
from linerate.engine import cleanup, engine_process
from linerate.engine.engine_process import EngineError, NotReadyError
from linerate.engine.telemetry import NoAnswerError, TelemetryError
from linerate.experiments.asked_load import FULL_SCALE_PPM, AskedLoad
from linerate.experiments.first_packets import SECONDS, first_packets, refusal
from linerate.experiments.plan import CEILING_SECONDS, Kind, Plan, Step, kind_of
from linerate.experiments.tester_workers import with_tester_workers
from linerate.host import machine
from linerate.host.doctor import Host, busy_now, examine_shortly
from linerate.host.nic_stamp import nic_stamp
from linerate.lab.rig import Rig, Trials, dpdk_devices, hugepages_megabytes
from linerate.lab.trial import TrialError, run_trial, watch
from linerate.model.counting import counted, generates, takes_turns
from linerate.model.environment import Environment
from linerate.model.evidence import Evidence
from linerate.model.findings import Finding
from linerate.model.measurement import Load, Measurement, Progress
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed
from linerate.model.tester_workers import TesterWorkers
from linerate.results.store import (
    Absent,
    Ceiling,
    Judged,
    Result,
    Run,
    RunFolder,
    Status,
    Which,
    result_of,
    trial_name,
)
from linerate.results.verdicts import judged_together, source_of

#: Further attempts for a tester that can't send the intended load: again, then with less.
LOWER_LOADS = 4
#: Most short trials that find the tester's rate at the first load.
LOOKS = 4
#: As many that offered all of it are enough.
LOOKS_ENOUGH = 2
LOOK_SECONDS = 0.25
#: Repetitions of an invalid trial before suspect figures are accepted.
ACCEPTED_RETRIES = 1
#: Total starts of an engine that the host starves.
STARVED_STARTS = 2
#: Trials in a row that the host spoilt, with none before them, that end a run: two tests.
HOST_TAKES = 6


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM: stop, and keep what was measured."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number


class Observer(Protocol):
    """Receives the progress of a bench."""

    def step(self, text: str, seconds: float) -> None:
        """Say that something starts that takes about so long."""

    def progress(self, progress: Progress) -> None:
        """Say how far the trial is; called a few times a second."""

    def waiting(self, text: str) -> None:
        """Say what is waited for before trials can begin."""

    def measured(self, result: Result) -> None:
        """Say that a trial is done, valid or not."""

    def absent(self, absent: Absent) -> None:
        """Say that a configuration can't be measured."""


@dataclass(slots=True)
class Known:
    """Rates of a tester that one bench finds, and others of its testbed need not find again."""

    ceilings: dict[Kind, float] = field(default_factory=dict)
    #: By test: the load, and the tester's ceiling, that made its last trial valid.
    loads: dict[str, AskedLoad] = field(default_factory=dict)


class Bench:
    """Measures one plan into one run folder."""

    #: Whether a step without a result takes the others nothing away.
    steps_stand_alone = True

    def __init__(
        self, plan: Plan, folder: RunFolder, observer: Observer, known: Known | None = None
    ) -> None:
        self._cpus = plan.testbed.cpus or machine.allowed_cpus()
        plan, self._tester_workers = with_tester_workers(plan, self._cpus)
        self._plan = plan
        self._folder = folder
        self._observer = observer
        known = known or Known()
        self._ceilings, self._loads = known.ceilings, known.loads
        #: Why each of the last trials in a row is invalid, where that is the host's doing.
        self._host_took: list[str] = []
        #: By trial, the last attempt of each test: what is judged together in the end.
        self._evidence: dict[str, Evidence] = {}
        # Made before the lab keeps aside: they look at which CPUs may be used.
        self._rigs = {
            testbed: Rig(
                testbed, folder.engine_file, folder.journal, observer.step, observer.waiting
            )
            for testbed in dict.fromkeys(step.testbed for step in plan.steps)
        }
        self.run = Run(
            command=plan.command,
            labels=folder.labels,
            started=datetime.now(UTC),
            suite=plan.suite,
            tests=plan.tests,
            sweep=plan.sweep,
            testbed=plan.testbed,
            environment=_environment(plan.testbed, self._cpus),
            host=_looked_at(plan.testbed, self._cpus),
            tester_workers=self._worth_saying(plan.testbed),
        )

    def measure(self) -> Run:
        """Measure all; whatever ends it, what was measured is kept and returned.

        Interrupted is raised again after the run was saved.
        """
        own_cpus = os.sched_getaffinity(0)
        self._update()
        try:
            self._keep_aside()
            cleanup.remove(cleanup.find())
            with contextlib.ExitStack() as boxes:
                for rig in self._rigs.values():
                    boxes.enter_context(rig.with_box())
                self._measure_all()
            self._judge_together()
            self._update(status="complete")
        except (EngineError, TelemetryError, TrialError, SetupError) as error:
            self._ended("failed", str(error))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            where = error.filename or self._folder.path
            self._ended("failed", f"{where}: {reason}; is the disk full, or the run's folder gone?")
        except KeyboardInterrupt:
            self._ended("interrupted")
            raise
        except BaseException as error:
            self._update(status="failed", problem=f"{type(error).__name__}: {error}")
            raise
        finally:
            with held_back():
                # A signal may have come just as something was to be removed, or that failed.
                engine_process.sweep()
                cleanup.remove(cleanup.find_own())
                os.sched_setaffinity(0, own_cpus)
        return self.run

    def _ended(self, status: Status, problem: str = "") -> None:
        """Say how it ended, where that can still be written."""
        with contextlib.suppress(OSError):
            self._update(status=status, problem=problem)

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
        self._check_first_packets()
        for kind, testbed in reversed(self._plan.kinds.items()):
            if kind not in self._ceilings:
                self._despite_host(partial(self._measure_ceiling, kind, testbed))
        for step in self._plan.steps:
            self._measure_step(step)
            self._check_host()

    def _check_first_packets(self) -> None:
        """Send a few packets through a box; raises SetupError where none comes through."""
        step = next((one for one in self._plan.steps if _is_sent_through_box(one.testbed)), None)
        if step is None or not step.testbed.dut.first_packets:
            return
        self._observer.step("first packets", SECONDS)
        testbed, loadtest = step.testbed, step.loadtest
        with self._rigs[testbed].under_test(loadtest, "first-packets") as trials:
            found = first_packets(trials, testbed, loadtest, self._observer.progress)
        if why := refusal(found):
            raise SetupError(why)

    def _despite_host(self, measure: Callable[[], None]) -> str:
        """Measure, once more where the host gave an engine no CPU; returns why not, if not."""
        for _ in range(STARVED_STARTS):
            try:
                measure()
            except (NoAnswerError, NotReadyError) as error:
                why = str(error)
            else:
                return ""
        return why

    def _check_host(self) -> None:
        """Raise SetupError on a machine that gives no valid trial: more would be the same.

        Not within a sweep: where its first forwarders find no room, others may.
        """
        if self.run.sweep is not None or any(one.valid for one in self.run.results):
            return
        if len(self._host_took) < HOST_TAKES:
            return
        helps = "; ".join(
            fix for one in self.run.host if one.check == "busy" for fix in one.fix[:1]
        )
        raise SetupError(
            f"{len(self._host_took)} trials in a row have no result ({self._host_took[-1]}): more "
            f"would be the same; {helps or 'linerate doctor'} helps, or another machine"
        )

    def _measure_step(self, step: Step) -> None:
        """Measure a step; in a sweep, what can't be measured takes the others nothing away."""
        if self.run.sweep is None:
            self._measure_alone(step)
            return
        if any(one.configuration == step.configuration for one in self.run.sweep.absent):
            return
        try:
            self._measure_alone(step)
        except (EngineError, TelemetryError, TrialError, SetupError) as error:
            absent = Absent(configuration=step.configuration, reason=str(error))
            changed = self.run.sweep.model_copy(update={"absent": (*self.run.sweep.absent, absent)})
            self._update(sweep=changed)
            self._observer.absent(absent)

    def _measure_alone(self, step: Step) -> None:
        """Measure a step that needs no other: without an engine twice it has no result."""
        if not self.steps_stand_alone:
            self._measure_loadtest(step)
        elif why := self._despite_host(lambda: self._measure_loadtest(self._anew(step))):
            absent = Absent(configuration=step.loadtest.name, reason=why)
            self._update(absent=(*self.run.absent, absent))
            self._observer.absent(absent)

    def _anew(self, step: Step) -> Step:
        """The step, without what an engine that was lost then measured of it."""
        kept = tuple(
            one
            for one in self.run.results
            if (one.test, one.repeat) != (step.loadtest.name, step.repeat)
        )
        if kept != self.run.results:
            self._update(results=kept)
        return step

    def _measure_ceiling(self, kind: Kind, testbed: Testbed) -> None:
        """Find out what the tester can do by itself, over the bare link."""
        wire, traffic, directions = kind
        loadtest = Loadtest("ceiling", traffic, directions)
        self._observer.step(f"tester's ceiling, {loadtest.text}", CEILING_SECONDS)
        label = f"ceiling-{len(self._ceilings) + 1}"
        with self._rigs[testbed].bare(loadtest, label) as trials:
            load = self._load(testbed, loadtest, FULL_SCALE_PPM, CEILING_SECONDS)
            # Whatever counts of the device: here there is none.
            load = load.model_copy(update={"counted": "received"})
            measurement = run_trial(trials.tester, load, self._observer.progress)
            trials.check()
        self._folder.save_measurement(label, measurement)
        pps = measurement.received.packets_per_second
        self._ceilings[kind] = pps
        ceiling = Ceiling(text=loadtest.text, wire=wire, directions=loadtest.directions, pps=pps)
        self._update(ceilings=(*self.run.ceilings, ceiling))

    def _load(self, testbed: Testbed, loadtest: Loadtest, scale_ppm: int, seconds: float) -> Load:
        return Load(
            frame_bytes=loadtest.traffic.frame_bytes,
            directions=loadtest.links,
            link_bps=testbed.line_bps,
            scale_ppm=scale_ppm,
            duration_us=round(seconds * 1e6),
            flows=loadtest.traffic.flows,
            protocol=loadtest.traffic.protocol,
            counted=counted(testbed),
            takes_turns=takes_turns(testbed, self._cpus),
            pushes_back=self._rigs[testbed].pushes_back,
            offered=loadtest.traffic.offered,
            tester_workers=self._worth_saying(testbed),
        )

    def _worth_saying(self, testbed: Testbed) -> TesterWorkers | None:
        """The tester's workers, unless there is one and that is enough."""
        known = self._tester_workers.get(testbed)
        return known if known is not None and known.text else None

    def _measure_loadtest(self, step: Step) -> None:
        """Measure one loadtest, again when the trial was invalid."""
        testbed, loadtest = step.testbed, step.loadtest
        sends = generates(testbed)
        asked = self._first_load(step) if sends else AskedLoad(0)
        seconds = loadtest.warmup_seconds + self._plan.duration_seconds
        self._observer.step(step.text, seconds)
        card = testbed.card if testbed.wire == "card" else None
        label = trial_name(loadtest.name, step.repeat)
        if testbed.by_tool:
            load = self._load(testbed, loadtest, FULL_SCALE_PPM, self._plan.duration_seconds)
            self._keep(step, 1, self._rigs[testbed].by_tool(loadtest, load, label))
            return
        with self._rigs[testbed].under_test(loadtest, label) as trials:
            self._note_engine(trials.info)
            if loadtest.warmup_seconds and sends:
                asked = asked.after_warmup(self._warm_up(trials, step, asked.scale_ppm))
            if self._needs_look(step):
                asked = self._look(trials, step, asked)
            for attempt in itertools.count(1):
                load = self._load(testbed, loadtest, asked.scale_ppm, self._plan.duration_seconds)
                load = load.model_copy(
                    update={
                        "fell_short_pps": asked.fell_short_pps,
                        "offered_within": asked.offered_within,
                    }
                )
                ceiling = asked.ceiling_pps
                trial = run_trial if sends else watch
                measurement = trial(trials.tester, load, self._observer.progress, card, ceiling)
                trials.check()
                result = self._keep(step, attempt, measurement)
                if result.valid:
                    self._loads[loadtest.name] = asked
                if result.valid or attempt > self._retries(measurement):
                    return
                asked = asked.after(measurement)
                self._observer.step(f"{step.text}, again", self._plan.duration_seconds)

    def _warm_up(self, trials: Trials, step: Step, scale_ppm: int) -> Measurement:
        """Let the device learn what it has to; what comes of that is no result."""
        load = self._load(step.testbed, step.loadtest, scale_ppm, step.loadtest.warmup_seconds)
        return run_trial(trials.tester, load, self._observer.progress)

    def _needs_look(self, step: Step) -> bool:
        """Whether what the tester manages with this device behind it is to be found first.

        Of connections and bursts a short trial shows nothing; on a wire that pushes back the load
        is what it takes.
        """
        load = self._load(step.testbed, step.loadtest, FULL_SCALE_PPM, LOOK_SECONDS)
        long_enough = self._plan.duration_seconds >= LOOK_SECONDS
        return (
            generates(step.testbed)
            and bool(load.clean_us)
            and long_enough
            and (step.loadtest.name not in self._loads)
        )

    def _look(self, trials: Trials, step: Step, asked: AskedLoad) -> AskedLoad:
        """The tester's rate, by short trials: more where it fell short of the load."""
        load = self._load(step.testbed, step.loadtest, asked.scale_ppm, LOOK_SECONDS)
        looks: list[Measurement] = []
        enough = 0
        while len(looks) < LOOKS and enough < LOOKS_ENOUGH:
            looks.append(run_trial(trials.tester, load, self._observer.progress))
            trials.check()
            enough += not caused_by_tester(looks[-1])
        return asked.after_look(looks)

    def _first_load(self, step: Step) -> AskedLoad:
        """First load, and the tester's ceiling: as when the test was last valid."""
        known = self._loads.get(step.loadtest.name)
        if known is not None:
            return known
        testbed = step.testbed
        ceiling = self._ceilings.get(kind_of(testbed, step.loadtest))
        if self._rigs[testbed].pushes_back:
            # Then it sends no more than the wire takes, and a device that does part of the
            # kernel's work may take more than the bare link.
            return AskedLoad(FULL_SCALE_PPM, ceiling)
        return AskedLoad.first(step.loadtest.full_pps(testbed.line_bps), ceiling)

    def _is_accepted(self, attempt: int, measurement: Measurement) -> bool:
        """Whether an invalid trial is shown: that was asked for, and a repeat was no better."""
        again = attempt > ACCEPTED_RETRIES
        return self._plan.accept_suspect and again and may_be_accepted(measurement)

    def _retries(self, measurement: Measurement) -> int:
        """Most repetitions of an invalid trial: lower loads allow some more."""
        return self._plan.retries + LOWER_LOADS * caused_by_tester(measurement)

    def _note_engine(self, info: dict[str, Any]) -> None:
        """Keep what the engine says of itself, once it is set up as a whole."""
        if not self.run.environment.layout:
            message = {key: str(info.get(key, "")) for key in ("dpdk", "memory", "layout", "links")}
            self._update(environment=self.run.environment.model_copy(update=message))

    def _keep(self, step: Step, attempt: int, measurement: Measurement) -> Result:
        """Judge a trial and write it down at once."""
        test = step.loadtest.name
        invalid, suspect = reasons(measurement), doubts(measurement)
        provisional = bool(invalid) and self._is_accepted(attempt, measurement)
        if provisional:
            invalid, suspect = (), (*invalid, *suspect)
        trial = trial_name(test, step.repeat, attempt)
        evidence = evidence_of(measurement, test, source_of(trial), invalid)
        self._evidence[trial] = evidence
        verdict = explain(evidence)
        judged = Judged(invalid=invalid, suspect=suspect, provisional=provisional, verdict=verdict)
        which = Which(
            test=test,
            text=step.loadtest.text,
            attempt=attempt,
            repeat=step.repeat,
            configuration=step.configuration,
        )
        result = result_of(which, measurement, judged)
        took = not result.valid and caused_by_host(measurement)
        self._host_took = [*self._host_took, result.invalid[0]] if took else []
        self._folder.save_measurement(result.trial, measurement)
        self._update(results=(*self.run.results, result))
        self._observer.measured(result)
        return result

    def _judge_together(self) -> None:
        """Judge again with all trials known: some limits show in their comparison."""
        results = self.run.reported()
        self.run = judged_together(
            self.run, {one.trial: self._evidence[one.trial] for one in results}
        )


def _is_sent_through_box(testbed: Testbed) -> bool:
    return testbed.dut.is_box and generates(testbed) and not testbed.by_tool


def _environment(testbed: Testbed, cpus: tuple[int, ...]) -> Environment:
    """The machine, and the NICs of the testbed's ports."""
    stamp = nic_stamp(dpdk_devices(testbed))
    return machine.environment(__version__, cpus).model_copy(
        update={"nic": stamp.nic, "nic_firmware": stamp.firmware}
    )


def _looked_at(testbed: Testbed, cpus: tuple[int, ...]) -> tuple[Finding, ...]:
    """The host in short, and what else runs on the CPUs."""
    asked = dpdk_devices(testbed), hugepages_megabytes(testbed)
    found = examine_shortly(Host(), cpus, *asked)
    busy = busy_now(Host(), cpus)
    return found if busy is None else (*found, busy.model_copy(update={"heavy": True}))
