"""Runs of clients' sessions: a folder each, a trial from the first start until nothing sends."""

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from linerate import __version__
from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import doubts, reasons
from linerate.base.errors import SetupError
from linerate.base.signals import held_back
from linerate.engine.telemetry import TelemetryError
from linerate.host import machine
from linerate.lab.profile_tester import ProfileTester
from linerate.model.measurement import Measurement
from linerate.model.testbed import Testbed
from linerate.results.store import Judged, Result, Run, RunFolder, StoreError, Which, result_of
from linerate.results.verdicts import source_of
from linerate.trex_server.port import Port
from linerate.trex_server.profiles import Profile
from linerate.trex_server.session_trial import DRAIN_SECONDS, SessionTrial, text_of

SUITE = "trex"
#: While a trial goes on what is measured so far is written as often: it may be killed.
SAVE_SECONDS = 5.0
#: A longer session goes on in another run.
TRIALS_MAX = 500
POLL_SECONDS = 0.02
#: A client waits 3 s for the answer to a start, in which a box is asked …
BOX_SECONDS = 2.0
#: … and for the end of the server no longer than this.
BOX_LAST_SECONDS = 5.0
NOT_ENDED = "not ended: counters were read while it went on"
#: Failures of keeping a run, which the traffic survives.
Failures = (OSError, StoreError, SetupError, TelemetryError)


class SessionRuns:
    """Folders under `runs`; the first failure is reported, and ends the keeping."""

    def __init__(
        self,
        tester: ProfileTester,
        testbed: Testbed,
        runs: Path,
        command: tuple[str, ...],
        say: Callable[[str], None],
    ) -> None:
        self._tester = tester
        self._testbed = testbed
        self._runs = runs
        self._command = command
        self._say = say
        self._is_off = False
        self._folder: RunFolder | None = None
        self._run: Run | None = None
        self._trial: SessionTrial | None = None
        self._box = tester.box
        #: All is drained; the box is being asked.
        self._is_drained = False
        self._is_asked_ahead = False
        self._saved_at = 0.0

    def starts(self, port: Port, profile: Profile, scale: float) -> None:
        """Begin a trial, unless one goes on."""
        self._kept(lambda: self._start(port, profile, scale))

    def changes(self) -> None:
        """Rates of the trial change."""
        if self._trial is not None:
            self._trial.change()

    def look(self, ports: list[Port]) -> None:
        """Take a sample, end the trial or the run."""
        if self._run is not None or self._box is not None:
            self._kept(lambda: self._look(ports))

    def close(self, ports: list[Port]) -> None:
        """End the trial, once it is drained, and the run."""
        if self._run is not None:
            self._kept(self._close)

    def _kept(self, act: Callable[[], None]) -> None:
        if self._is_off:
            return
        try:
            act()
        except Exception as error:  # whatever it is, clients are served on
            self._is_off = True
            known = isinstance(error, Failures)
            reason = str(error) if known else f"{type(error).__name__}: {error}"
            self._say(f"linerate: traffic is not kept as a run any more: {reason}")
            with suppress(*Failures):
                self._update(status="failed", problem=reason, finished=datetime.now(UTC))

    def _start(self, port: Port, profile: Profile, scale: float) -> None:
        if self._trial is not None and not self._trial.is_sending:
            self._await_box(BOX_SECONDS)
            self._end_trial()
        if self._trial is None:
            self._begin_trial(profile)
        assert self._trial is not None
        self._trial.add(port, profile, scale)

    def _begin_trial(self, profile: Profile) -> None:
        if self._run is None or len(self._run.tests) >= TRIALS_MAX:
            self._begin_run()
        assert self._run is not None
        assert self._folder is not None
        name = f"T{len(self._run.tests) + 1}"
        if self._box is not None and not self._box.before_trial(BOX_SECONDS):
            why = self._box.problem or f"no answer in {BOX_SECONDS:g} s"
            self._say(f"linerate: {name}: the box's counters are not known: {why}")
        self._trial = SessionTrial(
            self._tester.tester, self._folder.journal, name, text_of(len(profile.streams))
        )
        if self._box is not None:
            self._box.trial_begins()
        self._update(tests=(*self._run.tests, name))
        self._saved_at = time.monotonic()

    def _begin_run(self) -> None:
        self._end_run()
        self._folder = RunFolder.create(self._runs, SUITE)
        cpus = self._testbed.cpus or machine.allowed_cpus()
        about = {key: str(self._tester.info.get(key, "")) for key in ("dpdk", "memory", "layout")}
        self._run = Run(
            command=self._command,
            started=datetime.now(UTC),
            suite=SUITE,
            tests=(),
            testbed=self._testbed,
            environment=machine.environment(__version__, cpus).model_copy(update=about),
        )
        self._update()
        self._say(f"linerate: traffic is kept in {self._folder.path}")

    def _look(self, ports: list[Port]) -> None:
        if self._trial is not None:
            self._look_at(self._trial, ports)
        elif any(port.handler for port in ports):
            if self._box is not None and not self._is_asked_ahead:
                # A client that starts soon waits less.
                self._is_asked_ahead = True
                self._box.ask_ahead()
        else:
            self._is_asked_ahead = False
            self._end_run()

    def _look_at(self, trial: SessionTrial, ports: list[Port]) -> None:
        is_sending = any(one.is_active for port in ports for one in port.profiles.values())
        if not self._is_drained:
            self._is_drained = trial.look(is_sending)
        if self._is_drained:
            if self._box is None or self._box.after_trial():
                self._end_trial()
        elif time.monotonic() - self._saved_at >= SAVE_SECONDS:
            self._save_so_far(trial.so_far(self._testbed))

    def _close(self) -> None:
        if self._trial is not None:
            until = time.monotonic() + 2 * DRAIN_SECONDS
            while not self._trial.look(is_sending=False) and time.monotonic() < until:
                time.sleep(POLL_SECONDS)
            self._await_box(BOX_LAST_SECONDS)
            self._end_trial()
        self._end_run()

    def _await_box(self, seconds: float) -> None:
        if self._box is not None and not self._box.after_trial(seconds):
            assert self._run is not None
            name = self._run.tests[-1]
            self._say(f"linerate: {name}: the box gave no answer in {seconds:g} s after it")

    def _end_trial(self) -> None:
        assert self._trial is not None
        assert self._run is not None
        assert self._folder is not None
        # The end of the server waits until the trial is written.
        with held_back():
            trial, self._trial, self._is_drained = self._trial, None, False
            measurement = trial.ended(self._tester.telemetry, self._testbed)
            result = self._result(measurement, reasons(measurement))
            self._folder.save_measurement(result.trial, measurement)
            self._update(results=(*self._run.results, result))

    def _save_so_far(self, measurement: Measurement) -> None:
        """Write the trial that goes on; its result is reported when it has ended."""
        assert self._run is not None
        assert self._folder is not None
        result = self._result(measurement, (NOT_ENDED,))
        self._folder.save_so_far(
            self._run.model_copy(update={"results": (*self._run.results, result)}),
            result.trial,
            measurement,
        )
        self._saved_at = time.monotonic()

    def _result(self, measurement: Measurement, invalid: tuple[str, ...]) -> Result:
        assert self._run is not None
        name = self._run.tests[-1]
        evidence = evidence_of(measurement, name, source_of(name), invalid)
        judged = Judged(invalid=invalid, suspect=doubts(measurement), verdict=explain(evidence))
        offered = measurement.load.offered
        streams = len(offered.streams) if offered is not None else 0
        return result_of(Which(test=name, text=text_of(streams)), measurement, judged)

    def _end_run(self) -> None:
        if self._run is None:
            return
        self._update(status="complete", finished=datetime.now(UTC))
        self._run = self._folder = None

    def _update(self, **changes: Any) -> None:  # noqa: ANN401 (fields of Run)
        if self._run is None or self._folder is None:
            return
        self._run = self._run.model_copy(update=changes)
        self._folder.save(self._run)
