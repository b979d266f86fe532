"""VPP as a box, by a stand-in that forwards the tester's traffic and answers as VPP does."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.boxes.matrix import NOTHING, Box, Located, Place
from tests.boxes.runner import load_of, run_places
from tests.system.boxes import MACS, needs_boxes
from tests.system.foreign import FAKE, LINK, device, two_links

from linerate.analysis.validity import reasons
from linerate.lab.rig import Rig
from linerate.lab.trial import run_trial
from linerate.model.measurement import Measurement
from linerate.model.suites import Loadtest, Traffic
from linerate.model.testbed import parse

pytestmark = needs_boxes
#: Long enough for two answers on a busy host, each of which starts a Python.
SECONDS = 3.0
#: Names of the stand-in's losses, and where linerate must find them.
PLACES = {
    "nothing": (NOTHING, "none"),
    "slots": (r"^e1-tx: no free tx slots$", "tx-ring"),
    "miss": (r"^e0: rx-miss$", "rx-ring"),
    "buffers": (r"^e0: rx-no-buf$", "unknown"),
    "route": (r"^null-node: blackholed packets$", "configuration"),
    "ttl": (r"^ip4-input: ip4 ttl <= 1$", "configuration"),
    "acl": (r"^acl-plugin-in-ip4-fa: ACL deny packets$", "configuration"),
    "handoff": (r"^worker-handoff: congestion drop$", "handoff-ring"),
    "neighbor": (r"^ip4-glean: ARP requests throttled$", "configuration"),
    "cable": (r"^between t0 and e0: ", "link"),
}


@pytest.fixture
def vpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    """A running stand-in, and `vppctl` on the path."""
    programs = tmp_path / "bin"
    programs.mkdir()
    client = programs / "vppctl"
    client.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {FAKE}/vppctl.py "$@"\n')
    client.chmod(client.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    # A socket's path has 107 bytes.
    path = Path(f"/tmp/lr-vpp-{os.getpid()}.sock")
    path.unlink(missing_ok=True)
    with two_links() as links, device(links, "vpp.py", str(path)):
        ports = [{"name": "e0"}, {"name": "e1"}]
        dut = {"kind": "vpp", "socket": str(path), "macs": MACS, "ports": ports}
        testbed = {
            "wire": "veth", "link": LINK, "tester": {"interfaces": list(links.here)}, "dut": dut,
        }  # fmt: skip

        def run(command: str) -> None:
            subprocess.run(["sh", "-c", f"vppctl -s {path} {command}"], check=True, timeout=30)

        places = tuple(
            Place(name, (f"test lose {name}",), ("test lose nothing",), at, limit)
            for name, (at, limit) in PLACES.items()
        )
        yield Box("vpp", parse(testbed, "the stand-in"), run, places)
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", PLACES)
def test_a_loss_is_located(name: str, vpp: Box, tmp_path: Path):
    (found,) = run_places(vpp, tmp_path, SECONDS, lambda _text: None, name)
    assert_right(found)


def assert_right(found: Located) -> None:
    """The packets, whatever else the machine did: then the rate has no meaning, and they have."""
    assert found.here == found.lost, (found.elsewhere, found.verdict)
    # Without two answers within the load, of a busy host, a full rx ring has no known reason.
    late = found.place.limit == "rx-ring" and found.verdict.limit == "unknown"
    assert late or found.verdict.limit == found.place.limit, found.verdict
    assert not found.invented
    assert found.unexplained == 0


def measured(vpp: Box, folder: Path) -> Measurement:
    rig = Rig(vpp.testbed, lambda name: folder / name)
    loadtest = Loadtest("U2", Traffic(64, "many"), 1)
    load = load_of(vpp.testbed, loadtest, 0.3, SECONDS)
    with rig.with_box(), rig.under_test(loadtest, "vpp") as trials:
        return run_trial(trials.tester, load, lambda _progress: None)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("cut", "`show interface`"),
        ("paged", "`show interface` stops at --More--"),
        ("restarted", "restarted within the trial"),
    ],
)
def test_a_box_in_trouble_makes_the_trial_invalid(how: str, why: str, vpp: Box, tmp_path: Path):
    """Rather than to book what it did not count."""
    vpp.run(f"test behave {how}")
    found = reasons(measured(vpp, tmp_path))
    assert any(why in reason for reason in found), found


def test_a_box_that_answers_late_is_doubted(vpp: Box, tmp_path: Path):
    """Its counters are good all the same; its workers are unknown."""
    vpp.run("test behave slow")
    measurement = measured(vpp, tmp_path)
    assert measurement.box is not None
    (doubt,) = measurement.box.doubts
    assert "the load was over before the box had answered twice" in doubt
