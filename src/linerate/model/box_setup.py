"""Set-up of a box as it answered: its interfaces, routes and neighbours, and what is missing."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface, ip_network

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface of a box; None where the box does not say."""

    name: str
    #: Enabled by its administrator, and with a link.
    enabled: bool | None = None
    link: bool | None = None
    mac: str = ""
    mtu: int | None = None
    speed_bps: int | None = None
    driver: str = ""
    #: PCI address, and speed and lanes of its slot.
    pci: str = ""
    pcie: str = ""
    #: With their prefix length.
    addresses: tuple[str, ...] = ()
    rx_packets: int | None = None
    #: Loopbacks and tunnels are no ports.
    physical: bool = True


@dataclass(frozen=True, slots=True)
class Route:
    """A route to a prefix by a neighbour, by an interface, or by both."""

    prefix: str
    via: str = ""
    interface: str = ""
    #: `blackhole` and its like, which drop.
    drops: str = ""

    def covers(self, network: Network) -> bool:
        """Whether packets to the whole network may take it."""
        own = ip_network(self.prefix, strict=False)
        return own.version == network.version and network.subnet_of(own)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A neighbour whose MAC address is known."""

    address: str
    mac: str
    interface: str


@dataclass(frozen=True, slots=True)
class Setup:
    """All that a box answered about its set-up."""

    interfaces: dict[str, Interface] = field(default_factory=dict)
    routes: tuple[Route, ...] = ()
    neighbors: tuple[Neighbor, ...] = ()
    #: Whether it forwards IPv4 at all.
    forwards: bool | None = None
    #: Language of its configuration: the name of a file of lab/box/configuration.
    configured_by: str = ""

    def route_to(self, prefix: str) -> Route | None:
        """The most specific route to all of a prefix."""
        network = ip_network(prefix, strict=False)
        fitting = [route for route in self.routes if route.covers(network)]
        return max(fitting, key=_length, default=None)


def _length(route: Route) -> int:
    return ip_network(route.prefix, strict=False).prefixlen


@dataclass(frozen=True, slots=True)
class Wanted:
    """One side of a box as a testbed wants it."""

    #: The tester's port, and the box's by its name there.
    tester: str
    port: str
    #: Address of the box's port, with its prefix length; the tester's; its MAC address.
    address: str
    neighbor: str
    neighbor_mac: str
    #: Behind the tester's port; empty where no one route leads there.
    network: str
    #: Whether the tester answers when it is asked for its MAC address.
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """Configuration that a box lacks: an item for each kind, None where it is there."""

    wanted: Wanted
    link_up: bool = False
    address: bool = False
    route: bool = False
    neighbor: bool = False
    forwarding: bool = False

    def __bool__(self) -> bool:
        return any((self.link_up, self.address, self.route, self.neighbor, self.forwarding))


def missing(setup: Setup, wanted: Wanted) -> Missing:
    """Compare one side of a box with what a testbed wants of it."""
    interface = setup.interfaces.get(wanted.port)
    return Missing(
        wanted=wanted,
        link_up=interface is not None and interface.enabled is False,
        address=interface is not None and not _has_address(interface, wanted),
        route=bool(wanted.network) and not _leads_there(setup, wanted),
        neighbor=not wanted.answers and wanted.neighbor_mac not in set(_macs(setup, wanted)),
        forwarding=setup.forwards is False,
    )


def _has_address(interface: Interface, wanted: Wanted) -> bool:
    """Whether it has an address on the tester's link: the one, or another of that subnet."""
    neighbor = ip_address(wanted.neighbor)
    own = ip_interface(wanted.address)
    found = [ip_interface(address) for address in interface.addresses]
    return any(one.ip == own.ip or neighbor in one.network for one in found)


def _leads_there(setup: Setup, wanted: Wanted) -> bool:
    route = setup.route_to(wanted.network)
    if route is None or route.drops:
        return False
    # By the tester's MAC address any neighbour is the tester.
    known = Neighbor(route.via, wanted.neighbor_mac, wanted.port) in setup.neighbors
    by_neighbor = not route.via or route.via == wanted.neighbor or known
    return by_neighbor and (not route.interface or route.interface == wanted.port)


def _macs(setup: Setup, wanted: Wanted) -> Iterator[str]:
    """MAC addresses by which the box knows the tester's port."""
    for one in setup.neighbors:
        if one.address == wanted.neighbor and one.interface == wanted.port:
            yield one.mac
