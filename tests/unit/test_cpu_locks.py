"""CPUs are one run's at a time; a killed run frees its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from linerate.host import cpu_locks
from linerate.host.cpu_locks import CpuBusyError, held

HOLDER = """
import sys, time
from linerate.host.cpu_locks import held
with held((1, 0)):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LINERATE_LOCKS", str(tmp_path / "locks"))
    return tmp_path / "locks"


@pytest.fixture
def holder():
    """Another process that holds CPUs 0 and 1."""
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_a_second_run_is_refused_with_the_first_ones_pid(holder):
    with held((2, 3)):
        pass
    message = rf"CPU 1: linerate {holder.pid} measures .*--wait"
    with pytest.raises(CpuBusyError, match=message), held((1, 2)):
        pass


def test_a_killed_run_frees_its_cpus(holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with held((0, 1)):
        pass


def test_a_run_that_waits_comes_next(holder, monkeypatch):
    monkeypatch.setattr(cpu_locks, "WAIT_SECONDS", 0.01)
    message: list[str] = []

    def waited(text):
        message.append(text)
        os.kill(holder.pid, signal.SIGKILL)

    with held((0,), waited):
        pass
    assert message == [f"waiting: CPU 0: linerate {holder.pid} measures there"]


def test_a_bench_is_refused_before_it_makes_a_folder(holder, linerate, folder, tmp_path):
    testbed = tmp_path / "testbed.yaml"
    testbed.write_text("cpus: [0, 1]\n")
    done = linerate("bench", str(testbed), "--only", "U2", "--duration", "1s")
    assert done.returncode == 1
    assert f"CPU 0: linerate {holder.pid} measures there" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(Path(tmp_path / "runs").glob("*")) == []
