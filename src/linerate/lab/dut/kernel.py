"""Device `kernel`: Linux routes IPv4, and switches labels where it can, between two interfaces."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite
from linerate.host.netns import namespaces
from linerate.host.netns.interfaces import NUD_PERMANENT, Interface, control, index_of
from linerate.host.netns.privilege import missing_privilege
from linerate.lab.dut import Place, Running, register
from linerate.lab.dut._linux import KernelForwarding, interfaces, steer_to
from linerate.lab.links import Ends
from linerate.model.suites import DUT_MACS, MPLS_LABELS, NETWORKS, TESTER_MACS
from linerate.model.suites import Protocol as Frames
from linerate.model.testbed import Testbed

#: Addresses of e0 and e1; the tester's ports are the next ones.
ADDRESSES = ("100.64.1.1", "100.64.2.1")
NEIGHBORS = ("100.64.1.2", "100.64.2.2")
#: linux/socket.h; Python has no name for it.
_AF_MPLS = 28
_MPLS = Path("/proc/sys/net/mpls")
#: RFC 1213 ipGroup, as /proc/net/snmp has it: counters that mean a packet was not forwarded.
_IP_LOSSES = {
    "InHdrErrors": "header errors",
    "InAddrErrors": "wrong address",
    "InDiscards": "discarded on the way in",
    "OutDiscards": "discarded on the way out",
    "OutNoRoutes": "no route",
    "FragFails": "longer than the MTU",
}


def ip_counters(snmp: str) -> dict[str, int]:
    """Counters of IP in the text of /proc/net/snmp: a line of names, then one of values."""
    lines = [line.split()[1:] for line in snmp.splitlines() if line.startswith("Ip:")]
    if len(lines) != 2:
        return {}
    return {name: int(value) for name, value in zip(*lines, strict=False)}


class KernelDut:
    """IPv4 between the networks behind the tester's ports, from one interface to the other."""

    name = "kernel"

    def prerequisites(self, _testbed: Testbed) -> list[Prerequisite]:
        """Privilege."""
        return missing_privilege("the kernel as a router")

    def forwards(self, _testbed: Testbed) -> frozenset[Frames]:
        """IPv4 always, MPLS when the kernel has mpls_router."""
        return frozenset({"ipv4", "mpls"} if _has_mpls() else {"ipv4"})

    def routes(self, _testbed: Testbed) -> bool:
        """Always."""
        return True

    @contextmanager
    def running(self, _testbed: Testbed, ends: Ends, place: Place) -> Iterator[Running]:
        """Give addresses, routes and neighbours; all go with the namespace."""
        if any(":" in network for behind in place.networks for network in behind):
            raise SetupError("the kernel routes IPv4 alone here; expected `dut: {kind: engine}`")
        ports = interfaces(ends)
        netns = ports[0].netns
        for key in ("ip_forward", "conf/all/forwarding"):
            namespaces.set_sysctl(netns, f"ipv4/{key}", "1")
        for index, port in enumerate(ports):
            for key in (f"conf/{port.name}/rp_filter", "conf/all/rp_filter"):
                namespaces.set_sysctl(netns, f"ipv4/{key}", "0")
            _address(port, index, place.networks[index])
        if _has_mpls():
            _labels(ports)
        if not place.shared:
            steer_to(place.cpus, ports)
        yield KernelForwarding(ports, place, lambda: _ip_losses(netns))


def _address(port: Interface, here: int, networks: tuple[str, ...]) -> None:
    with control(port.netns, f"setting up {port.name}") as route:
        index = index_of(route, port)
        route.link("set", index=index, address=DUT_MACS[here])
        route.addr("add", index=index, address=ADDRESSES[here], prefixlen=30)
        neighbor = {"dst": NEIGHBORS[here], "lladdr": TESTER_MACS[here]}
        route.neigh("add", ifindex=index, state=NUD_PERMANENT, **neighbor)
        for network in (f"{NETWORKS[here]}.0/24", *networks):
            route.route("add", dst=network, gateway=NEIGHBORS[here], oif=index)


def _ip_losses(netns: str) -> dict[str, int]:
    counters = ip_counters(namespaces.read_proc(netns, "snmp"))
    return {f"kernel ip: {words}": counters.get(name, 0) for name, words in _IP_LOSSES.items()}


def _has_mpls() -> bool:
    """Whether the kernel switches labels; its module is loaded if it has one."""
    modprobe = shutil.which("modprobe")
    if not _MPLS.exists() and modprobe:
        subprocess.run([modprobe, "-q", "mpls_router"], capture_output=True, check=False)
    return _MPLS.exists()


def _labels(ports: tuple[Interface, Interface]) -> None:
    """Swap the label that comes in on each port for the one that is expected of the other."""
    netns = ports[0].netns
    namespaces.set_sysctl(netns, "mpls/platform_labels", "1024")
    for here, port in enumerate(ports):
        there = 1 - here
        namespaces.set_sysctl(netns, f"mpls/conf/{port.name}/input", "1")
        with control(netns, "setting up MPLS") as route:
            route.route(
                "add",
                family=_AF_MPLS,
                dst={"label": MPLS_LABELS[here], "bos": 1},
                newdst={"label": MPLS_LABELS[there], "bos": 1},
                via={"family": socket.AF_INET, "addr": NEIGHBORS[there]},
                oif=index_of(route, ports[there]),
            )


register(KernelDut())
