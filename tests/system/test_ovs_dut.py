"""Device `ovs`: a switch of the lab's own forwards, names its losses, and is gone however it ends."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from tests.command import result_of
from tests.system import labs

from linerate.base import ownership
from linerate.host.netns import namespaces
from linerate.lab.dut.ovs import PROGRAM, PROGRAMS
from linerate.results.store import load_run

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(program) is None for program in PROGRAMS),
    reason="needs root, and Open vSwitch",
)

WORDS = ("bench", "--wire", "veth", "--dut", "ovs", "--traffic", "128", "--duration", "300ms")


def left_by(lab: int) -> list[str]:
    """Namespaces, folders and processes of a lab that are still there."""
    mark = f"lr-{lab}-"
    folders = [path.name for path in Path(tempfile.gettempdir()).glob(f"{mark}*")]
    found = [name for name in namespaces.names() if name.startswith(mark)] + folders
    return found + [str(pid) for pid in switches_of(lab)]


def switches_of(lab: int) -> list[int]:
    pids = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/comm") if is_ovs(path)]
    owners = {pid: ownership.owner_of_process(pid) for pid in pids}
    return [pid for pid, owner in owners.items() if owner is not None and owner.pid == lab]


def is_ovs(path: Path) -> bool:
    try:
        return path.read_text().startswith(("ovs-vswitchd", "ovsdb-server"))
    except OSError:
        return False


def test_each_frame_of_a_switch_is_accounted_for(tmp_path: Path) -> None:
    with labs.lab(*WORDS, "--rate", "5kpps", "--json", "--runs", str(tmp_path)) as lab:
        message, wrong = lab.communicate(timeout=300)
    assert message, wrong
    (result, *_) = load_run(Path(result_of(message)["run"])).results
    assert result.packets.sent > 0
    assert result.packets.received == result.packets.sent, result.packets.entries
    assert left_by(lab.pid) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_switch_ends_with_its_lab(tmp_path: Path, number: int) -> None:
    words = [word if word != "300ms" else "60s" for word in WORDS]
    with labs.lab(*words, "--rate", "1kpps", "--runs", str(tmp_path)) as lab:
        labs.wait_for(lambda: len(switches_of(lab.pid)) == 2)
        pids = switches_of(lab.pid)
        lab.send_signal(number)
        lab.communicate(timeout=labs.ENDS_IN_SECONDS)
        labs.wait_for(lambda: not any(ownership.started(pid) for pid in pids))
    if number == signal.SIGTERM:
        assert left_by(lab.pid) == []
    labs.shown("clean")
    assert left_by(lab.pid) == []


def test_a_killed_switch_ends_the_run_in_one_line(tmp_path: Path) -> None:
    words = [word if word != "300ms" else "2s" for word in WORDS]
    with labs.lab(*words, "--rate", "1kpps", "--runs", str(tmp_path)) as lab:
        labs.wait_for(lambda: labs.sends(tmp_path, "128B"))
        for pid in switches_of(lab.pid):
            if Path(f"/proc/{pid}/comm").read_text().strip() == PROGRAM:
                os.kill(pid, signal.SIGKILL)
        _, wrong = lab.communicate(timeout=300)
    assert "Traceback" not in wrong
    assert lab.returncode != 0
    assert left_by(lab.pid) == []
