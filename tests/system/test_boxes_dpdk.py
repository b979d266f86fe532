"""Open vSwitch and dpdk-testpmd as boxes: each packet is at a place, and the right one."""

import os
import shutil
from pathlib import Path

import pytest
from tests.system import foreign_dpdk, foreign_testpmd
from tests.system.foreign import LINK

from linerate.analysis.measured_evidence import evidence_of
from linerate.model.measurement import Measurement

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip"
)
needs_ovs = pytest.mark.skipif(
    not Path(foreign_dpdk.VSWITCHD).exists(), reason="needs openvswitch-switch-dpdk"
)
needs_testpmd = pytest.mark.skipif(
    shutil.which("dpdk-testpmd") is None, reason="needs dpdk-testpmd"
)
#: Between two ports packets are lost where the host has no CPU for the device.
ELSEWHERE = ("between ", "tester", "t0", "t1")
DROPPED = "openflow br0 table 0: flow priority=40000,ip,nw_dst=48.0.0.0/25 drops"


def lost_inside(trial: Measurement) -> dict[str, int]:
    """Losses of the device's, all of which its two ports must agree with."""
    lost = {
        place: packets
        for place, packets in trial.packets.losses.items()
        if not place.startswith(ELSEWHERE)
    }
    received, sent = trial.ports["e0"]["rx_packets"], trial.ports["e1"]["tx_packets"]
    assert received - sent == sum(lost.values())
    assert received > 0
    assert trial.packets.unexplained == 0
    return lost


@needs_ovs
def test_open_vswitch_says_where_packets_ended(tmp_path: Path) -> None:
    with foreign_dpdk.open_vswitch() as switch:
        switch.ask("ovs-ofctl", "add-flow", "br0",
                   "priority=40000,ip,nw_dst=48.0.0.0/25,actions=drop")  # fmt: skip
        dropped = switch.measured(tmp_path)
    assert list(lost_inside(dropped)) == [DROPPED]
    assert lost_inside(dropped)[DROPPED] > 100
    evidence = evidence_of(dropped, "U2", "U2.json")
    assert f"pmd-c{foreign_dpdk.CPU:02d}" in [worker.name for worker in evidence.workers]


@needs_ovs
@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("ovs-ofctl", "del-flows", "br0", "in_port=1"), "openflow: no flow"),
        (("ovs-vsctl", "set", "interface", "p0", "ingress_policing_rate=500",
          "ingress_policing_burst=50"), "e0: ingress policer drops"),
    ],
)  # fmt: skip
def test_each_place_of_open_vswitch(tmp_path: Path, words: tuple[str, ...], place: str) -> None:
    with foreign_dpdk.open_vswitch() as switch:
        switch.ask(*words)
        trial = switch.measured(tmp_path)
    assert list(lost_inside(trial)) == [place]


@needs_testpmd
def test_a_dpdk_program_is_asked_at_its_telemetry(tmp_path: Path) -> None:
    with foreign_testpmd.over_packet_sockets() as box:
        trial = foreign_dpdk.measured(box.testbed(LINK), tmp_path)
    assert lost_inside(trial) == {}
    assert trial.box is not None
    assert trial.box.problems == ()
    facts = {answer.question: answer.text for answer in trial.box.answers}
    assert '"dpdk-testpmd"' in facts["dpdk"]
