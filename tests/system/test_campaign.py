"""Campaigns whose scheduler, worker, lab and `run` are killed: no trial is lost or counted twice.

Real processes: Dask's scheduler, three workers that own a testbed each (two in network namespaces
of their own over veth, one on the virtual card), benches with our engine. What is proved is read
from the dataset alone.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from tests.system.labs import ENDS_IN_SECONDS, Lab, wait_for

from linerate.experiments.campaign.prepared import Prepared, prepare
from linerate.results.dataset.dataset import Dataset

TOOLS = ("ip", "setpriv")
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in TOOLS),
    reason=f"needs root, {', '.join(TOOLS)}",
)

SCENARIO = """
name: quick
title: Frames through our own engine, without set-up
loadtests: [{loadtests}]
values: {{flows: [{flows}]}}
back: unchanged
boxes: {{io: {{}}}}
"""
CAMPAIGN = """
name: killed
versions: [old, new]
scenarios: [{{name: ./quick.yaml, box: io}}]
repeat: {repeat}
duration: 50ms
accept_suspect: true
tries: 5
invalid_in_row: 5
patience: 10m
testbeds:
  - card
  - {{name: veth-a, namespace: {a}, wire: veth}}
  - {{name: veth-b, namespace: {b}, wire: veth}}
scheduler: tls://127.0.0.1:{port}
tls: keys
"""
TESTBEDS = ("card", "veth-a", "veth-b")
RUNS_MAX = 10


@dataclass(frozen=True)
class Size:
    loadtests: str
    flows: str
    repeat: int
    trials: int

    def __str__(self) -> str:
        return str(self.trials)


SMALL = Size("U2", "1", 3, 6)
WHOLE = Size("U1, U2, U3, U4, B1, B2, B3, B4", "1", 13, 208)


@contextmanager
def made_namespaces(*names: str) -> Iterator[None]:
    with ExitStack() as stack:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            stack.callback(subprocess.run, ["ip", "netns", "delete", name], check=False)
        yield


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started(folder: Path, *words: str) -> Lab:
    """Start `linerate campaign WORDS`; its output goes to files, which no reader has to empty."""
    with (
        (folder / f"{words[0]}.out").open("a") as out,
        (folder / f"{words[0]}.err").open("a") as err,
    ):
        return subprocess.Popen(
            [sys.executable, "-m", "linerate", "campaign", *words],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, text=True,
        )  # fmt: skip


class Cluster:
    """All processes of a campaign; each is ended when the test is over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: list[Lab] = []
        self.scheduler = self._started("scheduler")
        self.workers = {name: self._worker(name) for name in TESTBEDS}

    def _started(self, *words: str) -> Lab:
        return started(self.folder, *words[:1], "c.yaml", *words[1:])

    def _worker(self, name: str) -> Lab:
        return self._started("worker", "--testbed", name)

    def run(self) -> Lab:
        self.runs.append(self._started("run"))
        return self.runs[-1]

    def kill_scheduler(self) -> None:
        kill(self.scheduler)
        self.scheduler = self._started("scheduler")

    def kill_worker(self) -> None:
        """Kill one that measures; what it had started ends with it."""
        name, lab = self.measuring()
        kill(self.workers[name])
        wait_for(lambda: not runs_still(lab))
        self.workers[name] = self._worker(name)

    def kill_lab(self) -> None:
        _, lab = self.measuring()
        with contextlib.suppress(ProcessLookupError):
            os.kill(lab, signal.SIGKILL)

    def measuring(self) -> tuple[str, int]:
        """A testbed that measures, and the process that does."""
        found: list[tuple[str, int]] = []

        def look() -> bool:
            found.extend(self._labs())
            return bool(found)

        wait_for(look, seconds=600)
        return found[0]

    def _labs(self) -> list[tuple[str, int]]:
        return [
            (name, pid)
            for name, worker in self.workers.items()
            for pid in children_of(worker.pid)
            if b"--label" in command_of(pid)
        ]

    def end(self) -> None:
        everything = [*self.runs, *self.workers.values(), self.scheduler]
        for process in everything:
            process.send_signal(signal.SIGTERM)
        for process in everything:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(ENDS_IN_SECONDS)
            process.kill()
            process.wait()


def kill(process: Lab) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def children_of(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
    return found


def command_of(pid: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def runs_still(pid: int) -> bool:
    return b"--label" in command_of(pid)


@contextmanager
def cluster(folder: Path, size: Size) -> Iterator[Cluster]:
    a, b = f"lrt-{os.getpid()}-a", f"lrt-{os.getpid()}-b"
    scenario = SCENARIO.format(loadtests=size.loadtests, flows=size.flows)
    (folder / "quick.yaml").write_text(scenario)
    campaign = CAMPAIGN.format(a=a, b=b, repeat=size.repeat, port=free_port())
    (folder / "c.yaml").write_text(campaign)
    assert started(folder, "keys", "keys").wait(120) == 0
    with made_namespaces(a, b):
        made = Cluster(folder)
        try:
            yield made
        finally:
            made.end()


def check_dataset(
    prepared: Prepared, size: Size, versions: tuple[str, ...] = ("new", "old")
) -> None:
    """Each unit is there once, with one valid trial of each loadtest, all of one run."""
    dataset = Dataset(prepared.campaign.dataset)
    assert dataset.unit_keys() == {unit.key for unit in prepared.units}
    with dataset.connect() as database:

        def rows(sql: str) -> list[tuple[object, ...]]:
            return database.execute(sql).fetchall()

        count = "SELECT count(*) FROM trials WHERE valid"
        assert rows(count) == [(size.trials,)]
        assert rows("SELECT unit_key, trial FROM trials GROUP BY ALL HAVING count(*) > 1") == []
        per_test = (
            "SELECT unit_key, loadtest, count(*) FILTER (valid) AS n FROM trials GROUP BY ALL"
        )
        assert rows(f"SELECT * FROM ({per_test}) WHERE n <> 1") == []
        per_unit = "SELECT unit_key, count(DISTINCT run) AS n FROM trials GROUP BY ALL"
        assert rows(f"SELECT * FROM ({per_unit}) WHERE n <> 1") == []
        # All versions, and as often each: nothing was left out.
        each = "SELECT version, count(*) FROM trials WHERE valid GROUP BY ALL ORDER BY version"
        assert rows(each) == [(version, size.trials // len(versions)) for version in versions]
        # Neither what was killed nor what was done again stands in a second file.
        files = f"read_parquet('{prepared.campaign.dataset}/scenario=*/*/*.parquet')"
        assert rows(f"SELECT count(*) FROM {files}") == rows("SELECT count(*) FROM trials")


def is_complete(folder: Path) -> bool:
    path = folder / "run.json"
    return path.exists() and json.loads(path.read_text())["status"] == "complete"


def has_units(dataset: Dataset, units: int) -> bool:
    return len(dataset.unit_keys()) >= units


def listening(pid: int) -> set[str]:
    """Addresses at which a process listens, as hexadecimal digits of /proc/net/tcp."""
    sockets = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.add(str(path.readlink()))
    found = set()
    for file in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{file}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                found.add(words[1])
    return found


def answers(port: int, context: ssl.SSLContext) -> bool:
    """Whether a server sends anything to who connects with these keys."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
        try:
            with context.wrap_socket(plain) as encrypted:
                return bool(encrypted.recv(1))
        except OSError:
            return False


@pytest.mark.smoke
def test_who_has_no_key_is_refused(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "quick.yaml").write_text(SCENARIO.format(loadtests="U2", flows="1"))
    (tmp_path / "c.yaml").write_text(CAMPAIGN.format(a="a", b="b", repeat=1, port=port))
    for folder in ("keys", "others"):
        assert started(tmp_path, "keys", folder).wait(120) == 0
    contexts = {name: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) for name in ("keys", "others", "")}
    for name, context in contexts.items():
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if name:
            context.load_cert_chain(tmp_path / name / "cert.pem", tmp_path / name / "key.pem")
    scheduler = started(tmp_path, "scheduler", "c.yaml")
    try:
        wait_for(lambda: any(one.endswith(f":{port:04X}") for one in listening(scheduler.pid)))
        assert all(one.startswith("0100007F:") for one in listening(scheduler.pid))
        # Dask's scheduler speaks first, to those that it lets in.
        found = {name: answers(port, context) for name, context in contexts.items()}
        assert found == {"keys": True, "others": False, "": False}
    finally:
        scheduler.send_signal(signal.SIGTERM)
        assert scheduler.wait(ENDS_IN_SECONDS) == 0


LOCAL = """
name: local
scenarios: [{name: ./quick.yaml, box: io}]
repeat: 4
duration: 50ms
accept_suspect: true
tries: 5
invalid_in_row: 5
testbeds: [lab-a, lab-b]
"""


def test_one_machine_needs_nothing_else_and_stops_when_asked(tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(SCENARIO.format(loadtests="U2", flows="1"))
    (tmp_path / "c.yaml").write_text(LOCAL)
    prepared = prepare(tmp_path / "c.yaml")
    done = Dataset(prepared.campaign.dataset)
    run = started(tmp_path, "run", "c.yaml")
    try:
        wait_for(lambda: done.unit_keys() or run.poll() is not None, seconds=1800)
        assert started(tmp_path, "stop", "c.yaml").wait(600) == 0
        assert run.wait(600) == 1
    finally:
        run.terminate()
        run.wait(ENDS_IN_SECONDS)
    # The unit that was being measured ended well, and all of it was kept.
    stopped = done.unit_keys()
    assert 1 <= len(stopped) < 4
    assert "stopped: " in (tmp_path / "run.out").read_text()
    assert len(list((tmp_path / "runs").iterdir())) == len(stopped)
    assert started(tmp_path, "run", "c.yaml").wait(1800) == 0
    check_dataset(prepared, Size("U2", "1", 4, 4), versions=("installed",))


@pytest.mark.parametrize(
    "size",
    [SMALL, pytest.param(WHOLE, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])],
    ids=str,
)
def test_whatever_is_killed_no_trial_is_lost_or_counted_twice(tmp_path: Path, size: Size) -> None:
    with cluster(tmp_path, size) as made:
        prepared = prepare(tmp_path / "c.yaml")
        done = Dataset(prepared.campaign.dataset)
        units = len(prepared.units)
        run = made.run()
        for number, killer in enumerate((made.kill_lab, made.kill_worker, made.kill_scheduler)):
            wait_for(partial(has_units, done, units * (number + 1) // 6), seconds=3600)
            assert run.poll() is None
            killer()
        wait_for(lambda: len(done.unit_keys()) >= units * 4 // 6, seconds=3600)
        assert run.poll() is None
        _, lab = made.measuring()
        kill(run)
        wait_for(lambda: not runs_still(lab))
        for _ in range(RUNS_MAX):
            if made.run().wait(3600) == 0:
                break
        check_dataset(prepared, size)
        # Nothing was measured twice, and nothing is measured again where all is done.
        folders = set((tmp_path / "runs").iterdir())
        assert sum(is_complete(folder) for folder in folders) == units
        assert made.run().wait(600) == 0
        assert set((tmp_path / "runs").iterdir()) == folders
    check_dataset(prepared, size)
    errors = "".join(path.read_text() for path in tmp_path.glob("*.err"))
    assert "Traceback" not in errors
