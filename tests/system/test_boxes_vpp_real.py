"""A real VPP from the path, started by the lab over memif: losses located, traced, and no rests."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tests.boxes.matrix import MakeBox
from tests.boxes.runner import run_places
from tests.boxes.vpp import HERE, vpp, vpp_at_full_load
from tests.fake.vpp import Vpp as StandIn
from typer.testing import CliRunner

from linerate.base import ownership
from linerate.base.errors import SetupError
from linerate.cli.app import app
from linerate.engine import cleanup
from linerate.lab.vpp import Vpp

pytestmark = pytest.mark.skipif(not HERE, reason="no vpp and vppctl on the PATH")
SECONDS = 2.0
#: Answers with a head.
ASKED = (
    "show threads",
    "show clock verbose",
    "show hardware-interfaces",
    "show interface",
    "show errors",
    "show runtime",
)
BED = "wire: memif\nlink: 2G\ndut: {kind: vpp}\n"


@pytest.mark.parametrize(
    ("make", "place"),
    [
        (vpp, "nothing"),
        (vpp, "no route"),
        (vpp, "ACL that denies"),
        (vpp, "TTL 1"),
        (vpp, "MTU"),
        (vpp, "MPLS not enabled"),
        (vpp_at_full_load, "1,000 ACL rules"),
    ],
)
def test_a_loss_is_located(make: MakeBox, place: str, tmp_path: Path):
    with make() as box:
        (found,) = run_places(box, tmp_path, SECONDS, lambda _text: None, place)
    assert found.right, (found.elsewhere, found.verdict)
    assert not found.invented


def test_lost_packets_are_traced(tmp_path: Path):
    """Without routes but those to its own links, both ways end at the same node."""
    (tmp_path / "router.vpp").write_text("set int state e0 up\nset int state e1 up\n"
        "set int ip address e0 100.64.1.1/30\nset int ip address e1 100.64.2.1/30\n")  # fmt: skip
    bed = tmp_path / "bed.yaml"
    bed.write_text(BED.replace("vpp}", "vpp, cli_file: router.vpp}"))
    done = CliRunner().invoke(app, ["testbed", "trace", str(bed), "--packets", "20"])
    assert done.exit_code == 0, done.output
    assert "20 packets traced: 0 left the box, 20 lost" in done.output
    assert "20 at null-node: blackholed packets; the last nodes of one" in done.output


def test_a_line_that_vpp_refuses_is_named(tmp_path: Path):
    cpu = min(os.sched_getaffinity(0))
    refused = "`set interface state nosuch up`: set interface state: unknown interface"
    with Vpp((), cpu, cpu).running(tmp_path / "log") as line:
        line.configure("set interface state local0 up  # is there\n")
        with pytest.raises(SetupError, match=refused):
            line.configure("set interface state nosuch up")


def test_a_killed_lab_leaves_nothing(tmp_path: Path):
    bed = tmp_path / "bed.yaml"
    bed.write_text(BED)
    words = ["bench", str(bed), "--only", "U2", "--duration", "30s", "--runs", str(tmp_path)]
    lab = subprocess.Popen(
        [sys.executable, "-m", "linerate", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        pid = _vpp_of(lab.pid)
    finally:
        lab.send_signal(signal.SIGKILL)
        lab.wait()
    deadline = time.monotonic() + 30
    while ownership.started(pid) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert ownership.started(pid) is None
    cleanup.remove(cleanup.find())
    assert not list(Path(tempfile.gettempdir()).glob(f"lr-{lab.pid}-*"))


def _vpp_of(lab: int) -> int:
    """Process of the VPP that a lab has started."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = subprocess.run(
            ["pgrep", "-P", str(lab), "-f", "startup.conf"],
            capture_output=True,
            text=True,
            check=False,
        )
        if found.stdout.strip():
            return int(found.stdout.split()[0])
        time.sleep(0.05)
    raise AssertionError("no vpp was started")


def _form(text: str) -> set[str]:
    """Heads of the tables in an answer: their words, without colours and widths."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    heads = ("ID ", "Name", "Count", "Thread ", "Time now", "vector rates")
    lines = (" ".join(line.split()) for line in plain.splitlines())
    return {re.sub(r"[\d.]+(?:e\d+)?", "N", line) for line in lines if line.startswith(heads)}


def test_the_stand_in_answers_in_the_same_form(tmp_path: Path):
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    with Vpp((cpus[1],), cpus[0], cpus[1]).running(tmp_path / "log") as line:
        for command in ASKED:
            real = subprocess.run(
                [shutil.which("vppctl") or "", "-s", str(line.socket), command],
                capture_output=True, text=True, timeout=30, check=True,
            ).stdout  # fmt: skip
            ours = _form(StandIn().answer(command))
            assert ours, command
            assert ours <= _form(real), command
