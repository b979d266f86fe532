"""Device `bridge`: a Linux bridge of the two interfaces, with static stations."""

from collections.abc import Iterator
from contextlib import contextmanager

from linerate.base.prerequisites import Prerequisite
from linerate.host.netns.interfaces import IFF_UP, Interface, control, index_of
from linerate.host.netns.privilege import missing_privilege
from linerate.lab.dut import ALL_FRAMES, Place, Running, register
from linerate.lab.dut._linux import KernelForwarding, interfaces, steer_to
from linerate.lab.links import Ends
from linerate.model.suites import DUT_MACS
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed

BRIDGE = "br0"
#: linux/neighbour.h: of the bridge, not of the port itself; static, not learnt.
_NTF_MASTER, _NUD_NOARP = 0x4, 0x40


class BridgeDut:
    """Frames for the one port's address go out of the other."""

    name = "bridge"

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """Privilege."""
        return missing_privilege("a Linux bridge")

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """All: it looks at MAC addresses alone."""
        return ALL_FRAMES

    def routes(self, _testbed: Testbed) -> bool:
        """Never: frames pass as they are."""
        return False

    @contextmanager
    def running(self, _testbed: Testbed, ends: Ends, place: Place) -> Iterator[Running]:
        """Make the bridge; it goes with its namespace."""
        ports = interfaces(ends)
        _make(ports)
        if not place.shared:
            steer_to(place.cpus, ports)
        yield KernelForwarding(ports, place, dict)


def _make(ports: tuple[Interface, Interface]) -> None:
    with control(ports[0].netns, f"making {BRIDGE}") as route:
        # No spanning tree, no snooping: they would make frames of their own, or hold ours back.
        route.link("add", ifname=BRIDGE, kind="bridge", br_stp_state=0, br_mcast_snooping=0)
        bridge = route.link_lookup(ifname=BRIDGE)[0]
        for here, port in enumerate(ports):
            index = index_of(route, port)
            route.link("set", index=index, master=bridge)
            station = {"lladdr": DUT_MACS[1 - here], "flags": _NTF_MASTER, "state": _NUD_NOARP}
            route.fdb("add", ifindex=index, **station)
        route.link("set", index=bridge, flags=IFF_UP, change=IFF_UP)


register(BridgeDut())
