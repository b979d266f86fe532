"""Open vSwitch with DPDK: over packet sockets in a network namespace, and over memifs."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.boxes.matrix import NOTHING, PUSHED_BACK, Box, Place, once_loaded
from tests.system.foreign_dpdk import Switch, open_vswitch, open_vswitch_over_memif

from linerate.model.suites import NETWORKS
from linerate.model.testbed import parse

LINK = "50M"
MEMIF_LINK = "300M"
FLOW = "ovs-ofctl -O OpenFlow13 add-flow br0 "
DEL_FLOWS = "ovs-ofctl -O OpenFlow13 --strict del-flows br0 "
FORWARD = FLOW + "in_port=p0,actions=output:p1"


def _places() -> tuple[Place, ...]:
    half = f"priority=40000,ip,nw_dst={NETWORKS[1]}.0/25"
    return (
        Place("nothing", (), (), NOTHING, limit="none"),
        Place("flow that drops", (f"{FLOW}{half},actions=drop",), (DEL_FLOWS + half,),
              rf"^openflow br0 table 0: flow priority=40000,ip,nw_dst={NETWORKS[1]}\.0/25 drops$"),
        Place("no flow", (DEL_FLOWS + "in_port=p0", f"{FLOW}{half},actions=output:p1"),
              (FORWARD, DEL_FLOWS + half), r"^openflow: no flow$"),
        Place("table without a match", (f"{FLOW}{half},actions=goto_table:5",), (DEL_FLOWS + half,),
              r"^openflow: no flow$"),
        Place("table whose flow drops",
              (f"{FLOW}{half},actions=goto_table:5", f"{FLOW}table=5,priority=0,actions=drop"),
              (DEL_FLOWS + half, DEL_FLOWS + "table=5,priority=0"),
              r"^openflow br0 table 5: flow priority=0 drops$"),
        Place("ingress policer",
              ("ovs-vsctl set interface p0 ingress_policing_rate=2000 ingress_policing_burst=200",),
              ("ovs-vsctl set interface p0 ingress_policing_rate=0 ingress_policing_burst=0",),
              r"^e0: ingress policer drops$"),
        Place("egress policer",
              ("ovs-vsctl set port p1 qos=@q -- --id=@q create qos type=egress-policer "
               "other-config:cir=100000 other-config:cbs=2048",),
              ("ovs-vsctl clear port p1 qos -- --all destroy qos",), r"^e1: egress policer drops$"),
        Place("meter", (
            "ovs-ofctl -O OpenFlow13 add-meter br0 meter=1,pktps,band=type=drop,rate=1000",
            f"{FLOW}in_port=p0,actions=meter:1,output:p1"),
            (FORWARD, "ovs-ofctl -O OpenFlow13 del-meters br0"), r"^datapath: meter drops$"),
        Place("MTU", ("ovs-vsctl set interface p1 mtu_request=1000",),
              ("ovs-vsctl set interface p1 mtu_request=1500",), r"^e1: longer than the MTU$",
              frame_bytes=1518),
    )  # fmt: skip


def _link_places() -> tuple[Place, ...]:
    """The kernel's interfaces as ports: frames that a socket's ring holds then are sent later."""
    down = once_loaded("e1", "ip link set e1 down")
    return (
        Place("link that goes down", (f"netns: {down}",), ("netns: ip link set e1 up",),
              r"^e1: |^unexplained$", limit="link", says="link down", invalid="link down since"),
    )  # fmt: skip


@contextmanager
def ovs() -> Iterator[Box]:
    """A switch whose two ports are joined by flows, and its testbed."""
    with open_vswitch() as switch:
        yield _box("ovs", switch, LINK, (*_places(), *_link_places()))


@contextmanager
def ovs_over_memif() -> Iterator[Box]:
    """The same over memifs, which push back."""
    nothing = Place("nothing", (), (), PUSHED_BACK, limit="none")
    with open_vswitch_over_memif() as switch:
        # A memif with another MTU is a new one, which the tester does not join.
        places = (place for place in _places()[1:] if place.name != "MTU")
        yield _box("ovs-memif", switch, MEMIF_LINK, (nothing, *places))


def _box(kind: str, switch: Switch, link: str, places: tuple[Place, ...]) -> Box:
    def run(command: str) -> None:
        inside = ("ip", "netns", "exec", switch.links.namespace)
        words = (*inside, "sh", "-c") if command.startswith("netns: ") else ("sh", "-c")
        done = subprocess.run(
            [*words, command.removeprefix("netns: ")],
            check=False, capture_output=True, text=True, timeout=30,
            env=os.environ | {"OVS_RUNDIR": str(switch.folder)},
        )  # fmt: skip
        assert not done.returncode, f"{command}: {done.stderr}"

    return Box(kind, parse(switch.testbed(link), "the matrix"), run, places)
