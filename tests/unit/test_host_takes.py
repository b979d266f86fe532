"""A busy or starved host ends a trial or a test, never a run; a lost folder is one line."""

import errno
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from tests.command import result_of

from linerate.cli.options import RunOptions
from linerate.cli.run_into_folder import run_folder
from linerate.engine.engine_process import NotReadyError
from linerate.engine.telemetry import NoAnswerError
from linerate.experiments.bench import Bench, Interrupted
from linerate.experiments.plan import suite_plan
from linerate.model.suites import select
from linerate.model.testbed import Testbed
from linerate.results.store import RunFolder, StoreError, load_run


class Observer:
    """Keeps the names of tests without a result."""

    def __init__(self):
        self.without_result = []

    def step(self, text, seconds):
        pass

    progress = waiting = measured = lambda self, _reported: None

    def absent(self, absent):
        self.without_result.append(absent.configuration)


class Starved(Bench):
    """Engines of a test that are starved several times."""

    def __init__(self, *given, times):
        super().__init__(*given)
        self.times = times
        self.tried = []

    def _measure_ceiling(self, kind, testbed):
        pass

    def _measure_loadtest(self, step):
        name = step.loadtest.name
        self.tried.append(name)
        if self.tried.count(name) <= self.times.get(name, 0):
            raise (NoAnswerError if name == "U2" else NotReadyError)("no answer in time")


def starved(tmp_path, **times):
    plan = suite_plan(Testbed(), "standard", select("standard", "U1,U2,U3"), 1.0, ("linerate",), 1)
    folder = RunFolder.create(tmp_path / "runs", "router")
    observer = Observer()
    bench = Starved(plan, folder, observer, times=times)
    run = bench.measure()
    return run, bench.tried, observer.without_result


def test_a_starved_engine_is_started_again(tmp_path):
    run, tried, without_result = starved(tmp_path, U1=1, U2=1)
    assert (run.status, run.absent, without_result) == ("complete", (), [])
    assert tried == ["U1", "U1", "U2", "U2", "U3"]


def test_a_test_that_is_starved_twice_has_no_result_and_others_have(tmp_path):
    run, tried, without_result = starved(tmp_path, U2=2)
    assert (run.status, without_result) == ("complete", ["U2"])
    assert [one.reason for one in run.absent] == ["no answer in time"]
    assert tried == ["U1", "U2", "U2", "U3"]


def test_a_machine_without_valid_trials_ends_a_bench_early(linerate, tmp_path):
    done = linerate("bench", "--duration", "1s", "--only", "U1,U2,B2", "--json", FAKE_PAUSED="0.2")
    document = result_of(done.stdout)
    assert done.returncode == 1
    assert document["status"] == "failed"
    assert document["problem"].startswith("6 trials in a row have no result (duration stretched")
    assert [trial["test"] for trial in document["trials"]] == ["U1", "U2"]


def test_runs_that_is_a_file_is_reported_in_a_line(linerate, tmp_path):
    (tmp_path / "file").write_text("")
    for command in (("bench", "--only", "U2"), ("search", "--loadtest", "U2")):
        done = linerate(*command, "--runs", "file")
        assert done.returncode == 1
        assert done.stderr.splitlines() == ["linerate: file: a file, expected a folder for runs"]


def test_a_folder_that_cannot_be_made_is_reported_in_a_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="not a directory; --runs names another folder"):
        RunFolder.create(tmp_path / "file" / "runs", "router")


def start(tmp_path, *more):
    words = ("bench", "--duration", "20s", "--only", "U1,U2", *more)
    return subprocess.Popen(
        [sys.executable, "-m", "linerate", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"LINERATE_LOCKS": str(tmp_path / "locks")},
    )


def wait_for(found):
    deadline = time.monotonic() + 60
    while not found():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_run_whose_folder_is_deleted_ends_in_a_line(fake_environment, tmp_path):
    with start(tmp_path) as process:
        wait_for(lambda: list(tmp_path.glob("runs/*/evidence/ceiling-1.json")))
        (tmp_path / "runs").rename(tmp_path / "elsewhere")
        out, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in errors + out
    # By the lab that can't write there, or by an engine that can't read there.
    assert re.search(r"^failed:\s+\S", out, re.MULTILINE), out + errors
    assert list(fake_environment.iterdir()) == []


def test_a_signal_before_anything_leaves_nothing(fake_environment, tmp_path):
    """As soon as the folder is there, or its lock is held."""
    with start(tmp_path) as process:
        wait_for((tmp_path / "locks").exists)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    for folder in (tmp_path / "runs").glob("*"):
        assert load_run(folder).status == "interrupted"
    assert not fake_environment.exists() or list(fake_environment.iterdir()) == []


def test_a_signal_while_the_folder_is_made_leaves_none(tmp_path, monkeypatch):
    made = RunFolder.create

    def create(*given):
        folder = made(*given)
        signal.raise_signal(signal.SIGINT)
        return folder

    monkeypatch.setattr(RunFolder, "create", create)
    monkeypatch.setenv("LINERATE_LOCKS", str(tmp_path / "locks"))
    runs = tmp_path / "runs"
    with pytest.raises(Interrupted), run_folder(Testbed(), "router", RunOptions(runs)):
        pytest.fail("a folder was given after the signal")
    assert list(runs.iterdir()) == []


def test_a_full_disk_is_reported_in_a_line(tmp_path, monkeypatch):
    """Nothing can be written from the first trial on: the run says so as far as it can."""
    written = RunFolder.save
    full: list[bool] = []

    def save(folder, run):
        if run.absent:
            full.append(True)
        if full:
            raise OSError(errno.ENOSPC, "No space left on device", "run.json")
        written(folder, run)

    monkeypatch.setattr(RunFolder, "save", save)
    run, tried, _ = starved(tmp_path, U1=2)
    assert (run.status, tried) == ("failed", ["U1", "U1"])
    assert run.problem.startswith("run.json: no space left on device; is the disk full")
