"""At a run's end nothing is left of what it made, whatever failed or was interrupted."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyroute2
import pytest
from tests.unit.test_host_takes import Observer
from typer.testing import CliRunner

from linerate.base import ownership
from linerate.cli.app import app
from linerate.cli.run_into_folder import signals
from linerate.engine import cleanup, engine_process
from linerate.experiments.bench import Bench, Interrupted
from linerate.experiments.plan import suite_plan
from linerate.host.netns import interfaces, namespaces
from linerate.model.suites import select
from linerate.model.testbed import Testbed
from linerate.results.store import RunFolder

IS_ROOT = os.geteuid() == 0


class Made(Bench):
    """A bench whose tests make something, and do nothing else."""

    def __init__(self, tmp_path, make):
        plan = suite_plan(Testbed(), "standard", select("standard", "U1"), 1.0, ("linerate",), 1)
        super().__init__(plan, RunFolder.create(tmp_path / "runs", "router"), Observer())
        self.make = make

    def _measure_ceiling(self, kind, testbed):
        pass

    def _measure_loadtest(self, step):
        self.make()


@pytest.fixture
def places(monkeypatch):
    """Where namespaces, sockets and engines have their names."""
    # Not in tmp_path: the path of a socket has 107 bytes at most.
    with tempfile.TemporaryDirectory(prefix="left-") as short:
        folders = [Path(short) / name for name in ("netns", "tmp", "dpdk")]
        for folder in folders:
            folder.mkdir()
        monkeypatch.setattr(namespaces, "RUN", folders[0])
        monkeypatch.setattr("tempfile.gettempdir", lambda: str(folders[1]))
        monkeypatch.setenv("LINERATE_RUNTIME", str(folders[2]))
        yield folders


@pytest.fixture
def removing(places, monkeypatch):
    """Removals of namespaces by name; the first one fails."""
    tried = []

    def remove(name):
        tried.append(name)
        if len(tried) == 1:
            raise OSError(errno.EBUSY, "busy")
        (places[0] / name).unlink()

    monkeypatch.setattr("pyroute2.netns.remove", remove)
    return tried


@pytest.fixture
def making(places, monkeypatch):
    """Namespaces are files here."""

    def create(role):
        name = ownership.new_name(role)
        (places[0] / name).touch()
        return name

    monkeypatch.setattr(namespaces, "create", create)
    return create


def make_and_remove():
    with namespaces.made("dut"):
        pass


def test_a_namespace_that_was_busy_is_removed_at_the_end(tmp_path, places, making, removing):
    run = Made(tmp_path, make_and_remove).measure()
    assert run.status == "complete"
    assert len(removing) == 2
    assert list(places[0].iterdir()) == []


def test_folders_and_processes_are_removed_at_the_end(tmp_path, places):
    started = []
    folders = [
        places[1] / ownership.new_name("memif"),
        places[2] / ownership.new_name("testpmd"),
        places[2] / f"{engine_process.FOLDER_PREFIX}{engine_process.own_prefix()}1",
    ]
    others = [places[1] / "lr-1-1-1-memif-x", places[2] / f"{engine_process.FOLDER_PREFIX}lab-1"]

    def make():
        for folder in (*folders, *others):
            folder.mkdir()
        started.append(subprocess.Popen(["sleep", "600"], env=ownership.environment()))

    Made(tmp_path, make).measure()
    assert started[0].wait(60) == -signal.SIGKILL
    assert [folder.exists() for folder in (*folders, *others)] == [False] * 3 + [True] * 2


LISTENS = """
import socket, sys, time
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
print("listens", flush=True)
time.sleep(600)
"""


def test_clean_leaves_no_folder_of_an_engine_that_it_killed(places):
    """It lives as long as it is looked for: only then its folder is one of a dead engine."""
    with subprocess.Popen(["true"]) as lab:
        pass
    folder = places[2] / f"{engine_process.FOLDER_PREFIX}bench-{lab.pid}-1"
    folder.mkdir()
    program = [sys.executable, "-c", LISTENS, str(folder / "dpdk_telemetry.v2")]
    owner = os.environ | {ownership.VARIABLE: f"{lab.pid}-1"}
    with subprocess.Popen(program, env=owner, stdout=subprocess.PIPE) as living:
        assert living.stdout is not None
        assert living.stdout.readline() == b"listens\n"
        done = CliRunner().invoke(app, ["clean"])
        assert living.wait(60) == -signal.SIGKILL
    assert done.exit_code == 0
    assert f"folder {folder}: removed" in done.stdout
    assert not folder.exists()


def test_clean_removes_the_temporary_folder_of_a_process_that_was_killed():
    program = (
        "import time; from linerate.base import ownership\n"
        "with ownership.temporary_folder('scenario') as name: print(name, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as lab:
        assert lab.stdout is not None
        folder = Path(lab.stdout.readline().strip())
        assert folder.stat().st_mode & 0o777 == 0o700
        assert str(folder) not in [one.name for one in cleanup.find()]
        lab.kill()
    assert folder.exists()
    cleanup.remove([one for one in cleanup.find() if one.name == str(folder)])
    assert not folder.exists()


def test_a_temporary_folder_that_is_in_use_is_no_leftover(places):
    with ownership.temporary_folder("scenario") as name:
        assert Path(name).parent == places[1]
        assert cleanup.find_own() == cleanup.find() == []


def test_what_another_live_lab_made_is_not_found(places):
    parent = os.getppid()
    name = f"lr-{parent}-{ownership.started(parent)}-1-dut"
    (places[0] / name).touch()
    (places[1] / name).mkdir()
    assert [one.name for one in cleanup.find_own()] == []


def test_a_signal_while_a_namespace_is_made_leaves_none(places, making, monkeypatch):
    def remove(name):
        (places[0] / name).unlink()

    def interrupted(role):
        name = making(role)
        signal.raise_signal(signal.SIGINT)
        return name

    monkeypatch.setattr("pyroute2.netns.remove", remove)
    monkeypatch.setattr(namespaces, "create", interrupted)
    with signals(), pytest.raises(Interrupted):
        make_and_remove()
    assert list(places[0].iterdir()) == []


@pytest.mark.skipif(not IS_ROOT, reason="only root makes namespaces")
def test_a_signal_while_netlink_is_opened_closes_it(monkeypatch):
    route_class = pyroute2.IPRoute
    opened = []

    def interrupted():
        opened.append(route_class())
        signal.raise_signal(signal.SIGINT)
        return opened[0]

    monkeypatch.setattr("pyroute2.IPRoute", interrupted)
    home = Path("/proc/thread-self/ns/net").readlink()
    with (
        signals(),
        pytest.raises(Interrupted),
        namespaces.made("t0") as netns,
        interfaces.control(netns, "looking"),
    ):
        pytest.fail("the signal comes before")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0].fileno())
    assert Path("/proc/thread-self/ns/net").readlink() == home
    assert not [
        name for name in namespaces.names() if ownership.owner_of_name(name) == ownership.own()
    ]
