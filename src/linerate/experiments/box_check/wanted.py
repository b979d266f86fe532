"""Addresses, routes and neighbours that a testbed wants at both sides of its box."""

from collections.abc import Sequence
from ipaddress import ip_interface

from linerate.model.box import BoxPort
from linerate.model.box_setup import Wanted
from linerate.model.suites import NETWORKS, TESTER_MACS, TESTER_PORTS, tester_ports
from linerate.model.testbed import Testbed
from linerate.model.tester_addresses import Addresses

#: Default addresses of a box's ports; the tester has the next ones.
ADDRESSES = ("100.64.1.1/30", "100.64.2.1/30")


def both_sides(testbed: Testbed) -> tuple[Wanted, Wanted]:
    """The side of t0, and that of t1; both are at one port of a hairpin."""
    ports, testers = testbed.dut.facing, tester_ports(testbed)
    first, second = (
        _side(testbed, side, ports[min(side, len(ports) - 1)], testers[min(side, len(testers) - 1)])
        for side in range(len(NETWORKS))
    )
    return first, second


def prefixes(testbed: Testbed) -> tuple[str, ...]:
    """Networks behind the tester's ports."""
    own = testbed.tester.networks if testbed.tester is not None else None
    return own or tuple(f"{network}.0/24" for network in NETWORKS)


def _side(testbed: Testbed, side: int, port: BoxPort, tester: str) -> Wanted:
    given = _of_side(testbed.tester.own_addresses, side) if testbed.tester is not None else ()
    # A hairpin's way back may have another link.
    elsewhere = bool(given) and testbed.hairpin and not _on_link(given, port.address or "")
    own = _beside(given) if elsewhere else port.address
    address = own or _beside(given) or ADDRESSES[TESTER_PORTS.index(tester)]
    return Wanted(
        tester=tester,
        port=_interface(testbed, side, port),
        address=address,
        neighbor=_on_link(given, address) or _next(address),
        neighbor_mac=TESTER_MACS[TESTER_PORTS.index(tester)],
        # Each pass of several has a route of its own to it.
        network=prefixes(testbed)[side] if testbed.dut.passes == 1 else "",
        answers=bool(given),
    )


def _of_side(each: Sequence[Addresses], side: int) -> Addresses:
    return each[min(side, len(each) - 1)]


def _interface(testbed: Testbed, side: int, port: BoxPort) -> str:
    """The port, or its interface of a VLAN, as both Linux and VPP name it."""
    vlans = testbed.tester.vlans if testbed.tester is not None else None
    return port.name if vlans is None else f"{port.name}.{vlans[min(side, len(vlans) - 1)]}"


def _beside(given: Sequence[str]) -> str:
    """An address for the box on the tester's subnet, or nothing."""
    own = [ip_interface(one) for one in given if ":" not in one]
    return f"{_next(str(own[0]))}/{own[0].network.prefixlen}" if own else ""


def _on_link(given: Sequence[str], address: str) -> str:
    """The tester's address on the subnet of the box's."""
    if not address:
        return ""
    network = ip_interface(address).network
    return next((str(one.ip) for one in map(ip_interface, given) if one.ip in network), "")


def _next(address: str) -> str:
    """Another host of the same subnet."""
    own = ip_interface(address)
    ends = {own.network.network_address, own.network.broadcast_address}
    hosts = [
        host
        for host in (own.ip + 1, own.ip - 1)
        if host in own.network and (host not in ends or own.network.num_addresses <= 2)
    ]
    return str(hosts[0] if hosts else own.ip)
