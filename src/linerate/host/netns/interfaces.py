"""Interfaces in namespaces, over netlink (pyroute2)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from linerate.base.errors import SetupError
from linerate.base.signals import held_back
from linerate.host.netns import namespaces
from linerate.host.netns.ethtool import offloads_off

#: net/if.h, linux/neighbour.h
IFF_UP, IFF_NOARP, IFF_PROMISC = 0x1, 0x80, 0x100
NUD_PERMANENT = 0x80


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface, and the namespace that it is in."""

    netns: str
    name: str

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.name} in {self.netns}"


@contextmanager
def control(netns: str, doing: str) -> Iterator[Any]:
    """Netlink in a namespace; what goes wrong there is one line of SetupError."""
    from pyroute2 import IPRoute  # noqa: PLC0415 (slow to load)
    from pyroute2.netlink.exceptions import NetlinkError  # noqa: PLC0415 (slow to load)

    try:
        with ExitStack() as stack:
            # A socket stays in the namespace where it was opened; `IPRoute(netns=…)` would fork.
            with held_back(), namespaces.inside(netns):
                route = stack.enter_context(IPRoute())
            yield route
    except NetlinkError as error:
        raise SetupError(f"{doing} in {netns}: {error}") from error
    except OSError as error:
        raise SetupError(f"{doing} in {netns}: {error.strerror or error}") from error


def make_veth(here: Interface, there: Interface, mtu: int, macs: tuple[str, str]) -> None:
    """Make a pair with an end in each namespace, both up, which nothing talks on by itself."""
    with control(here.netns, f"making veth {here.name}") as route:
        peer = {
            "ifname": there.name,
            "net_ns_fd": str(namespaces.RUN / there.netns),
            "address": macs[1],
            "mtu": mtu,
        }
        route.link(
            "add", ifname=here.name, kind="veth", peer=peer, address=macs[0], mtu=mtu, txqlen=0
        )
    for interface in (here, there):
        with namespaces.inside(interface.netns):
            offloads_off(interface.name)
        bring_up(interface)


def bring_up(interface: Interface) -> None:
    """Bring it up, without ARP: neighbours are static, and a port of ours answers by itself."""
    with control(interface.netns, f"bringing {interface.name} up") as route:
        flags = IFF_UP | IFF_NOARP
        route.link("set", index=index_of(route, interface), flags=flags, change=flags)


def index_of(route: Any, interface: Interface) -> int:  # noqa: ANN401 (pyroute2 has no types)
    """Index of an interface; raises SetupError when it is gone."""
    found = route.link_lookup(ifname=interface.name)
    if not found:
        raise SetupError(f"interface {interface.text} is gone: somebody deleted it")
    return int(found[0])


def statistics(interface: Interface) -> dict[str, int]:
    """Counters of an interface (`ip -s link`); raises SetupError when it is gone."""
    with control(interface.netns, f"reading {interface.name}") as route:
        (link,) = route.link("get", index=index_of(route, interface))
        return {name: int(value) for name, value in link.get("IFLA_STATS64").items()}


def check(interface: Interface) -> None:
    """Raise SetupError when the interface, or its namespace, is gone."""
    with control(interface.netns, f"looking for {interface.name}") as route:
        index_of(route, interface)
