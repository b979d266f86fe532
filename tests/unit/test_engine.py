"""Starting and stopping engines: nothing is left behind, whatever happens."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linerate.engine import engine_process
from linerate.engine.engine_process import Engine, EngineError, Files, live_engines, sweep

CONFIG = {"name": "test-1", "tester": {"streams": []}}


@pytest.fixture
def files(tmp_path):
    return Files(config=tmp_path / "config.json", log=tmp_path / "log")


def gone(pid):
    return not Path(f"/proc/{pid}").exists()


def test_an_engine_runs_while_it_is_used(fake_environment, files):
    with Engine(CONFIG, files) as running:
        assert live_engines() == {
            "test-1": fake_environment / "linerate-test-1" / "dpdk_telemetry.v2"
        }
        with running.connect() as telemetry:
            assert telemetry.ask("/linerate/info")["name"] == "test-1"
        pid = running.pid
    assert gone(pid)
    assert live_engines() == {}
    assert list(fake_environment.iterdir()) == []


def test_an_engine_that_does_not_listen_to_reason(fake_environment, files, monkeypatch):
    monkeypatch.setenv("FAKE_MISBEHAVE", "deaf")
    monkeypatch.setattr(engine_process, "STOP_TIMEOUT_SECONDS", 0.1)
    with Engine(CONFIG, files) as running:
        pid = running.pid
    assert gone(pid)
    assert list(fake_environment.iterdir()) == []


def test_an_engine_that_can_not_start(fake_environment, files, monkeypatch):
    monkeypatch.setenv("FAKE_MISBEHAVE", "exit")
    with pytest.raises(EngineError, match="did not start: exit code 1; no memory for the ports"):
        Engine(CONFIG, files).__enter__()
    assert not fake_environment.exists()


def test_an_engine_whose_ready_line_is_odd(fake_environment, files, monkeypatch):
    monkeypatch.setenv("FAKE_MISBEHAVE", "odd-ready")
    starting = Engine(CONFIG, files)
    with pytest.raises(EngineError, match=r"ready line is odd: 'ready: what\?'"):
        starting.__enter__()
    assert starting.pid == 0


def test_a_killed_engine_is_reported(fake_environment, files):
    with Engine(CONFIG, files) as running:
        os.kill(running.pid, 9)
        while (fake_environment / "linerate-test-1").exists() and live_engines():
            time.sleep(0.01)
        with pytest.raises(EngineError, match="no listener"):
            running.connect()
    assert list(fake_environment.iterdir()) == []


def test_there_is_no_engine(monkeypatch, tmp_path, files):
    monkeypatch.setenv("LINERATE_ENGINE", str(tmp_path / "none"))
    with pytest.raises(EngineError, match="no such program"):
        Engine(CONFIG, files).__enter__()


def test_folders_of_dead_engines_are_swept(fake_environment, files):
    dead = fake_environment / "linerate-dead"
    dead.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(dead / "dpdk_telemetry.v2"))
    starting = fake_environment / "linerate-starting"
    starting.mkdir()
    old = fake_environment / "linerate-old"
    old.mkdir()
    os.utime(old, (0, 0))
    foreign = fake_environment / "rte"
    foreign.mkdir()
    with Engine(CONFIG, files):
        assert {path.name for path in sweep()} >= {"linerate-dead", "linerate-old"}
        assert {path.name for path in fake_environment.iterdir()} == {
            "linerate-starting",
            "rte",
            "linerate-test-1",
        }


def test_engines_that_a_dead_lab_was_starting_are_swept_at_once(fake_environment):
    """It was killed with them: without a socket a folder is else kept for a while."""
    with subprocess.Popen(["true"]) as lab:
        pass
    for name in (f"bench-{lab.pid}-2", f"bench-{lab.pid}-2-dut", f"bench-{os.getpid()}-1"):
        (fake_environment / f"linerate-{name}").mkdir(parents=True)
    assert len(sweep()) == 2
    assert [path.name for path in fake_environment.iterdir()] == [f"linerate-bench-{os.getpid()}-1"]


def test_an_engine_that_many_come_to_at_once_is_not_swept(fake_environment):
    """Its queue of clients is full: it accepts none just now, but it is alive."""
    busy = fake_environment / "linerate-busy"
    busy.mkdir(parents=True)
    path = busy / "dpdk_telemetry.v2"
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        listener.bind(str(path))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                stack.enter_context(client).setblocking(False)
                client.connect(str(path))
        assert live_engines() == {"busy": path}
        assert sweep() == []
        assert path.exists()


def test_an_engine_does_not_outlive_the_lab(fake_environment, files):
    lab = f"""
import time
from pathlib import Path
from linerate.engine.engine_process import Engine, Files
with Engine({CONFIG!r}, Files(Path({str(files.config)!r}), Path({str(files.log)!r}))) as running:
    print(running.pid, flush=True)
    time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", lab], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    deadline = time.monotonic() + 60
    while not gone(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert gone(pid)
    assert {path.name for path in sweep()} >= {"linerate-test-1"}


@pytest.mark.parametrize("runtime", ["", "/nowhere/at/all"])
def test_a_runtime_directory_that_is_not_ours_is_not_inherited(monkeypatch, runtime):
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    assert "XDG_RUNTIME_DIR" not in engine_process._environment()
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")
    assert engine_process._environment()["XDG_RUNTIME_DIR"] == "/tmp"
