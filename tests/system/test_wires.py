"""Wires and foreign devices, with real namespaces, processes and kernels.

No rate is asserted: on a busy machine a trial may be invalid, but each packet is accounted for,
and nothing is left behind, whoever is killed.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.command import result_of
from tests.system import labs
from tests.system.labs import Lab

from linerate.host.netns import namespaces
from linerate.results.store import Run, load_run

TOOLS = ("ip", "dpdk-testpmd", "iperf3")


pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in TOOLS),
    reason=f"needs root, {', '.join(TOOLS)}",
)


def linerate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "linerate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def left_by(lab: int) -> list[str]:
    """Namespaces that a lab has not removed."""
    return [name for name in namespaces.names() if name.startswith(f"lr-{lab}-")]


def bench(folder: Path, *arguments: str) -> tuple[dict[str, Any], Run]:
    words = ("bench", "--only", "U2", *arguments, "--duration", "300ms", "--json")
    with labs.lab(*words, "--runs", str(folder)) as lab:
        message, wrong = lab.communicate(timeout=300)
    assert message, wrong
    document = result_of(message)
    assert document["status"] == "complete", wrong
    assert left_by(lab.pid) == []
    return document, load_run(Path(document["run"]))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--wire", "veth", "--dut", "kernel"),
        ("--wire", "veth", "--dut", "bridge"),
        ("--wire", "veth", "--dut", "io"),
        ("--wire", "veth", "--dut", "router", "--driver", "socket-vector"),
        ("--wire", "memif", "--dut", "io"),
        ("--wire", "memif", "--dut", "testpmd:macswap"),
    ],
    ids=lambda arguments: "-".join(word for word in arguments if not word.startswith("--")),
)
@pytest.mark.smoke("memif-io")
def test_each_packet_is_accounted_for(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    _, run = bench(tmp_path, *arguments)
    assert run.results
    for result in run.results:
        assert result.packets.sent > 0
        assert result.packets.received > 0
        assert result.packets.unexplained == 0, result.packets.entries


def test_testpmd_forwards_between_interfaces(tmp_path: Path) -> None:
    _, run = bench(tmp_path, "--wire", "veth", "--dut", "testpmd")
    (result,) = run.reported()
    assert result.packets.received > 0
    assert any(ledger.worker == "testpmd" for ledger in result.time)


@pytest.mark.parametrize("tester", ["iperf3", "testpmd"])
def test_other_peoples_testers_send_through_a_bridge(tmp_path: Path, tester: str) -> None:
    arguments = ("--wire", "veth", "--dut", "bridge", "--tester", tester, "--only", "U3")
    _, run = bench(tmp_path, *arguments)
    (result,) = run.reported()
    assert result.test == "U3"
    assert result.packets.sent > 0
    assert result.packets.received > 0


StartLab = Callable[..., Lab]


@pytest.fixture
def start_lab(tmp_path: Path) -> Iterator[StartLab]:
    """Start benches that have measured U1, and are held in the midst of U2."""
    with ExitStack() as stack:

        def start(*arguments: str) -> Lab:
            words = (*arguments, "--only", "U1,U2", "--duration", "2s", "--json")
            lab = stack.enter_context(
                labs.lab("bench", "--wire", "veth", *words, "--runs", str(tmp_path))
            )
            labs.wait_for(lambda: labs.sends(tmp_path, "U2"))
            labs.hold(lab)
            return lab

        yield start


def ended(lab: Lab, folder: Path) -> tuple[Run, str]:
    """Let a lab run to its end: its files, and its output."""
    labs.release(lab)
    _, message = lab.communicate(timeout=labs.ENDS_IN_SECONDS)
    (run,) = folder.iterdir()
    return load_run(run), message


def namespace_of(lab: int, role: str) -> str:
    return next(name for name in left_by(lab) if name.endswith(role))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_lab_removes_what_it_made(
    start_lab: StartLab, tmp_path: Path, number: int
) -> None:
    lab = start_lab("--dut", "kernel")
    assert left_by(lab.pid)
    lab.send_signal(number)
    run, _ = ended(lab, tmp_path)
    assert lab.returncode == 128 + number
    assert run.status == "interrupted"
    assert run.reported()[0].test == "U1"
    assert left_by(lab.pid) == []


def test_what_a_killed_lab_left_is_cleaned(start_lab: StartLab, tmp_path: Path) -> None:
    lab = start_lab("--dut", "testpmd")
    # Held still: beside busy workers the commands below take longer than any trial, and a lab that
    # goes on removes what it made.
    mine = left_by(lab.pid)
    assert mine
    # Property of a live lab must not be removed.
    living = result_of(linerate("clean", "--json").stdout)
    assert not [row for row in living["found"] if row["name"] in mine]
    assert left_by(lab.pid) == mine
    lab.kill()
    lab.communicate(timeout=labs.ENDS_IN_SECONDS)
    found = result_of(linerate("clean", "--dry-run", "--json").stdout)["found"]
    assert {row["name"] for row in found if row["kind"] == "namespace"} >= set(mine)
    assert left_by(lab.pid) == mine
    done = linerate("clean", "--json")
    assert done.returncode == 0, done.stdout
    assert left_by(lab.pid) == []
    found = result_of(linerate("clean", "--dry-run", "--json").stdout)["found"]
    assert not [row for row in found if row["name"] in mine]
    assert load_run(next(tmp_path.iterdir())).reported()[0].test == "U1"


def assert_deletion_is_reported(lab: Lab, tmp_path: Path) -> None:
    run, message = ended(lab, tmp_path)
    assert lab.returncode == 1
    assert run.status == "failed"
    assert "gone: somebody deleted it" in message
    assert run.reported()[0].test == "U1"
    assert left_by(lab.pid) == []


def test_a_deleted_interface_ends_the_run_in_one_line(start_lab: StartLab, tmp_path: Path) -> None:
    lab = start_lab("--dut", "kernel")
    dut = namespace_of(lab.pid, "dut")
    subprocess.run(["ip", "-n", dut, "link", "delete", "e0"], check=True)
    assert_deletion_is_reported(lab, tmp_path)


@pytest.mark.parametrize("role", ["t0", "dut"])
def test_a_deleted_namespace_ends_the_run_in_one_line(
    start_lab: StartLab, tmp_path: Path, role: str
) -> None:
    lab = start_lab("--dut", "io")
    subprocess.run(["ip", "netns", "delete", namespace_of(lab.pid, role)], check=True)
    assert_deletion_is_reported(lab, tmp_path)


@pytest.mark.parametrize("program", ["dpdk-testpmd", "linerate-engine"])
def test_a_killed_process_ends_the_run_in_one_line(
    start_lab: StartLab, tmp_path: Path, program: str
) -> None:
    lab = start_lab("--dut", "testpmd")
    (pid,) = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/comm")
        if path.read_text().strip() == program[:15] and owner(path.parent) == lab.pid
    ]
    os.kill(pid, signal.SIGKILL)
    run, message = ended(lab, tmp_path)
    assert lab.returncode == 1
    assert run.status == "failed"
    assert len(message.strip().splitlines()) == 1, message
    assert run.reported()[0].test == "U1"
    assert left_by(lab.pid) == []


def owner(process: Path) -> int:
    """Process that started another."""
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return int(fields[1])
