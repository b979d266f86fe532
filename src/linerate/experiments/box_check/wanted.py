"""Addresses, routes and neighbours that a testbed wants at both sides of its box."""

from collections.abc import Sequence
from ipaddress import ip_interface

from linerate.model.box_setup import Wanted
from linerate.model.suites import NETWORKS, TESTER_MACS, TESTER_PORTS
from linerate.model.testbed import Testbed

#: Default addresses of a box's ports; the tester has the next ones.
ADDRESSES = ("100.64.1.1/30", "100.64.2.1/30")


def both_sides(testbed: Testbed) -> tuple[Wanted, Wanted]:
    """The side of t0, and that of t1."""
    ports = testbed.dut.box_ports
    assert ports is not None
    networks = prefixes(testbed)
    first, second = (
        _side(testbed, side, port.name, networks[side]) for side, port in enumerate(ports)
    )
    return first, second


def prefixes(testbed: Testbed) -> tuple[str, ...]:
    """Networks behind the tester's ports."""
    own = testbed.tester.networks if testbed.tester is not None else None
    return own or tuple(f"{network}.0/24" for network in NETWORKS)


def _side(testbed: Testbed, side: int, port: str, network: str) -> Wanted:
    ports = testbed.dut.box_ports
    assert ports is not None
    given = testbed.tester.own_addresses[side] if testbed.tester is not None else ()
    address = ports[side].address or _beside(given) or ADDRESSES[side]
    return Wanted(
        tester=TESTER_PORTS[side],
        port=port,
        address=address,
        neighbor=_on_link(given, address) or _next(address),
        neighbor_mac=TESTER_MACS[side],
        network=network,
        answers=bool(given),
    )


def _beside(given: Sequence[str]) -> str:
    """An address for the box on the tester's subnet, or nothing."""
    own = [ip_interface(one) for one in given if ":" not in one]
    return f"{_next(str(own[0]))}/{own[0].network.prefixlen}" if own else ""


def _on_link(given: Sequence[str], address: str) -> str:
    """The tester's address on the subnet of the box's."""
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
