"""An engine that does not answer for a while costs a search an attempt, a soak a reading."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import (
    caused_by_host,
    caused_by_tester,
    doubts,
    may_be_accepted,
    reasons,
)
from linerate.base import ownership
from linerate.engine.telemetry import NoAnswerError, Telemetry
from linerate.experiments.bench import Bench
from linerate.experiments.latency import LatencyLoadsBench, Loads, latency_plan, timed
from linerate.experiments.plan import Plan
from linerate.experiments.search import How, SearchBench, search_plan
from linerate.experiments.soak import How as SoakHow
from linerate.experiments.soak import Minute, SoakBench, passed, soak_plan
from linerate.experiments.sweep import How as SweepHow
from linerate.experiments.sweep import Line, sweep_plan
from linerate.lab.trial import try_trial
from linerate.model.measurement import Load
from linerate.model.suites import select
from linerate.model.sut_config import Configuration
from linerate.model.testbed import Testbed
from linerate.results.store import Judged, RunFolder, Which, result_of

NO_ANSWER = "no answer from the engine in time: stop what else runs on this machine"
WAIT_SECONDS = 0.2


def engines():
    """Pids of the engines that this process started."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if ownership.owner_of_process(pid) == ownership.own()]


class Starving:
    """Stops the engine once; what it does when that is noticed is the test's."""

    def __init__(self):
        self.results = []
        self.minutes = []
        self.noticed = 0
        self.then = signal.SIGCONT

    def stop(self):
        for pid in engines():
            os.kill(pid, signal.SIGSTOP)

    def notice(self):
        self.noticed += 1
        for pid in engines():
            os.kill(pid, self.then)

    def step(self, text, seconds):
        pass

    progress = waiting = absent = lambda self, _given: None

    def measured(self, result):
        self.results.append(result)
        if len(self.results) == 1:
            self.stop()

    def minute(self, minute: Minute):
        self.minutes.append(minute)
        if len(self.minutes) == 1:
            self.stop()


@pytest.fixture
def starving(fake_environment, monkeypatch):
    # The first load is not the last one.
    monkeypatch.setenv("FAKE_DUT_PPS", "6e6")
    made = Starving()
    ask = Telemetry.ask

    def asked(telemetry, command):
        try:
            return ask(telemetry, command)
        except NoAnswerError:
            made.notice()
            raise

    monkeypatch.setattr(Telemetry, "ask", asked)
    monkeypatch.setattr(Telemetry.__init__, "__defaults__", (WAIT_SECONDS, None))
    return made


def u2():
    return select("standard", "U2")


def searched(tmp_path, starving):
    how = How((0.0,), 0.05, 0.3)
    plan: Plan = search_plan(Testbed(), u2(), how, ("linerate",))
    return SearchBench(plan, RunFolder.create(tmp_path, "search"), starving, how).measure()


def test_a_search_goes_on(tmp_path, starving, monkeypatch):
    # Longer than a busy host keeps a stand-in from answering.
    monkeypatch.setattr(Telemetry.__init__, "__defaults__", (1.0, None))
    run = searched(tmp_path, starving)
    assert (run.status, run.problem) == ("complete", "")
    assert starving.noticed
    assert [one.invalid for one in run.results if not one.valid] == [(NO_ANSWER,)]
    assert run.searches[0].found


def test_a_search_whose_engine_is_gone_ends_with_the_reason(tmp_path, starving):
    starving.then = signal.SIGKILL
    run = searched(tmp_path, starving)
    assert run.status == "failed"
    assert "no engine (no listener)" in run.problem or "no such socket" in run.problem
    assert not run.searches[0].found


def test_latencies_go_on(tmp_path, starving):
    how = How((0.0,), 0.05, 0.3)
    loads = Loads((50, 100), "given", 5e6)
    plan = latency_plan(Testbed(), tuple(map(timed, u2())), 0.3, ("linerate",))
    folder = RunFolder.create(tmp_path, "latency")
    run = LatencyLoadsBench(plan, folder, starving, how, loads).measure()
    assert (run.status, run.problem) == ("complete", "")
    assert starving.noticed
    assert [one.valid for one in run.reported()] == [True, True]


def test_a_sweep_measures_the_step_anew(tmp_path, starving):
    how = SweepHow((64, 512), 1, 1, 0.3)
    plan = sweep_plan(Testbed(), (Line(Configuration("router"), Testbed()),), how, ("linerate",))
    run = Bench(plan, RunFolder.create(tmp_path, "sweep"), starving).measure()
    assert (run.status, run.problem, run.absent) == ("complete", "", ())
    assert run.sweep is not None
    assert run.sweep.absent == ()
    assert len(run.reported()) == 2


def test_a_soak_leaves_readings_out(tmp_path, starving):
    how = SoakHow(load=0.5, seconds=60.0, every_seconds=0.5)
    plan = soak_plan(Testbed(), u2()[0], how, ("linerate",))
    folder = RunFolder.create(tmp_path, "soak")
    run = SoakBench(plan, folder, starving, how, starving.minute).measure()
    assert (run.status, run.problem) == ("complete", "")
    assert starving.noticed
    assert run.soak is not None
    assert passed(run.soak)
    # The next interval begins where the last one that was read ended: nothing is counted twice.
    assert len(starving.minutes) > 1
    ends = [minute.sent_total for minute in starving.minutes]
    assert ends == sorted(ends)


class Silent:
    """A tester that never answers."""

    def __init__(self):
        self.stopped = False

    def await_links(self):
        raise NoAnswerError("no answer in time")

    def stop(self):
        self.stopped = True
        raise NoAnswerError("no answer in time")


def test_a_trial_without_an_answer_is_the_hosts():
    load = Load(
        frame_bytes=64, directions=1, link_bps=10**10, scale_ppm=1_000_000, duration_us=1_000_000
    )
    silent: Any = Silent()
    measured = try_trial(silent, load, lambda _progress: None)
    assert silent.stopped
    assert reasons(measured) == (NO_ANSWER,)
    assert doubts(measured) == ()
    assert caused_by_host(measured)
    assert not caused_by_tester(measured)
    assert not may_be_accepted(measured)
    verdict = explain(evidence_of(measured, "U2", "evidence/U2.json", (NO_ANSWER,)))
    judged = Judged(invalid=(NO_ANSWER,), verdict=verdict)
    result = result_of(Which(test="U2", text="64 B", attempt=1), measured, judged)
    assert (result.valid, result.received_pps) == (False, 0.0)
    assert verdict.limit == "invalid"
