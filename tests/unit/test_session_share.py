"""The session of a run goes before others while it measures, and is as it was after it."""

import os
import signal
import subprocess
import sys

import pytest

from linerate.base import ownership
from linerate.cli.run_into_folder import signals
from linerate.engine import cleanup
from linerate.host import machine, session_share
from linerate.host.machine import Autogroup
from linerate.report import framed

NAME = "autogroup-17"


@pytest.fixture
def proc(tmp_path, monkeypatch):
    """A /proc of this process alone, and root's rights."""
    root = tmp_path / "proc"
    (root / "sys/kernel").mkdir(parents=True)
    (root / "sys/kernel/sched_autogroup_enabled").write_text("1\n")
    for name in ("self", "700"):
        (root / name).mkdir()
    made = MadeProc(root)
    monkeypatch.setattr(machine, "_PROC", root)
    monkeypatch.setattr(session_share, "_PROC", root)
    monkeypatch.setattr(machine, "autogroup", made.autogroup)
    monkeypatch.setattr(session_share, "FOLDER", tmp_path / "sessions")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return made


class MadeProc:
    """Files of one session: what is written to one is a number, what is read a line."""

    def __init__(self, root):
        self.root = root
        self.read = machine.autogroup
        self.processes = ("self", "700")
        self.put(0)

    def put(self, nice):
        for name in self.processes:
            (self.root / name / "autogroup").write_text(f"/{NAME} nice {nice}\n")

    def autogroup(self, process=None):
        for name in self.processes:
            output = (self.root / name / "autogroup").read_text()
            if not output.startswith("/"):
                self.put(int(output))
        return self.read(process or self.root / "self")

    @property
    def nice(self):
        found = self.autogroup(self.root / self.processes[0])
        return found and found.nice


def test_it_is_raised_and_given_back(proc):
    proc.put(3)
    with session_share.raised():
        assert proc.nice == session_share.NICE
        assert len(session_share.records()) == 1
    assert proc.nice == 3
    assert session_share.records() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_is_given_back_when_a_signal_ends_the_run(proc, number):
    with pytest.raises(KeyboardInterrupt), signals(), session_share.raised():
        signal.raise_signal(number)
    assert proc.nice == 0
    assert session_share.records() == []


def test_it_is_given_back_when_the_run_fails(proc):
    with pytest.raises(ValueError, match="failed"), session_share.raised():
        raise ValueError("failed")
    assert proc.nice == 0


def test_of_two_runs_in_a_session_the_last_one_gives_it_back(proc):
    with session_share.raised():
        with session_share.raised():
            pass
        assert proc.nice == session_share.NICE
    assert proc.nice == 0


def dead_mark():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return f"lr-{process.pid}-1-1-session"


def killed(proc, before=0):
    """Remains of a killed run."""
    session_share.FOLDER.mkdir()
    record = session_share.FOLDER / dead_mark()
    record.write_text(f"{NAME} {before}\n")
    proc.put(session_share.NICE)
    return record


def found():
    return [one for one in cleanup.find() if one.kind == "raised session"]


def test_what_a_killed_run_raised_is_a_leftover(proc):
    record = killed(proc, before=5)
    (one,) = found()
    assert one.name == NAME
    cleanup.remove([one])
    assert not record.exists()
    assert proc.nice == 5
    assert found() == []


def test_it_is_given_back_by_a_process_of_another_session(proc):
    """The shell that a killed run was started by is still there; we are elsewhere."""
    killed(proc)
    proc.processes = ("700",)
    (proc.root / "self/autogroup").write_text("/autogroup-99 nice 0\n")
    cleanup.remove(found())
    assert proc.nice == 0
    assert proc.read(proc.root / "self") == Autogroup("autogroup-99", 0)


def test_the_next_run_knows_what_was_before_the_killed_one(proc):
    record = killed(proc, before=5)
    with session_share.raised():
        cleanup.remove(found())
        assert proc.nice == session_share.NICE
        assert not record.exists()
    assert proc.nice == 5


def test_a_session_that_is_gone_takes_its_nice_along(proc):
    record = killed(proc)
    for name in proc.processes:
        (proc.root / name / "autogroup").unlink()
    proc.processes = ()
    cleanup.remove(found())
    assert not record.exists()


def test_who_is_not_root_changes_nothing(proc, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with session_share.raised():
        assert proc.nice == 0
    assert not session_share.FOLDER.exists()


def test_where_sessions_are_not_grouped_nothing_is_done(proc):
    (proc.root / "sys/kernel/sched_autogroup_enabled").write_text("0\n")
    with session_share.raised():
        assert (proc.root / "self/autogroup").read_text() == f"/{NAME} nice 0\n"
    assert not session_share.FOLDER.exists()


def test_a_session_that_may_not_be_raised_leaves_no_record(proc, monkeypatch):
    def refused(_wanted):
        raise PermissionError

    monkeypatch.setattr(session_share, "_set", refused)
    with session_share.raised():
        assert proc.nice == 0
    assert session_share.records() == []


def test_the_header_says_so(proc, run, result):
    environment = run(result()).environment
    assert "autogroup" not in framed.environment_line(environment)
    with session_share.raised():
        measured = machine.environment("0", (0,))
    assert measured.autogroup_nice == session_share.NICE
    assert framed.environment_line(measured).endswith("; autogroup nice -20")
    assert machine.environment("0", (0,)).autogroup_nice is None


SESSION = """
import os, sys, time
os.setsid()
from pathlib import Path
from linerate.host import session_share
session_share.FOLDER = Path(sys.argv[1])
with session_share.raised():
    print(Path("/proc/self/autogroup").read_text(), flush=True)
    sys.stdin.readline()
print(Path("/proc/self/autogroup").read_text(), flush=True)
"""


def can_raise():
    kept = machine.autogroup()
    return os.geteuid() == 0 and kept is not None and os.access("/proc/self/autogroup", os.W_OK)


@pytest.mark.skipif(not can_raise(), reason="only root raises a session")
def test_the_kernel_takes_it(tmp_path):
    command = [sys.executable, "-c", SESSION, str(tmp_path / "sessions")]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ownership.environment(),
    ) as process:
        output, _ = process.communicate("\n", timeout=120)
    assert [line.split()[-1] for line in output.splitlines() if line] == ["-20", "0"]
