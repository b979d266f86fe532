"""A testbed file for a box, commented, made of what the box and this host answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linerate.base import pci
from linerate.base.line_rate import format_bps
from linerate.experiments.box_check.checking import setup_of
from linerate.experiments.box_check.wanted import ADDRESSES
from linerate.lab.box.access import Access, opened
from linerate.model.box_setup import Interface, Setup
from linerate.model.testbed import parse
from linerate.parsers import box_setups
from linerate.parsers.boxes import Asked

#: Longest wait for VPP's answer, where there is one.
SECONDS = 10.0
#: Default rate of links that name none.
LINK = "1G"
_EVERYWHERE = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True, slots=True)
class Choices:
    """All that a testbed file says."""

    name: str
    at: str
    kind: str
    #: In the order in which packets of t0 come by.
    ports: tuple[str, ...]
    #: Addresses of the ports at the tester's.
    addresses: tuple[str, ...]
    tester: tuple[str, ...]
    link: str


def look(at: str, kind: str | None) -> tuple[str, Setup]:
    """Kind of the box that is there, and its set-up. Raises BoxError."""
    with opened(at) as access:
        chosen = kind or _kind(access)
        reader = box_setups.find(chosen)
        return chosen, Setup() if reader is None else setup_of(reader, access, Asked(ports={}))


def look_here() -> Setup:
    """Set-up of this host. Raises BoxError."""
    return look("local", "linux")[1]


def _kind(access: Access) -> str:
    """VPP where one answers, else Linux."""
    ran = access.run("PATH=$PATH:/usr/sbin vppctl show version", SECONDS)
    return "vpp" if ran.status == 0 and ran.text.startswith("vpp") else "linux"


def candidates(setup: Setup, at: str = "") -> tuple[Interface, ...]:
    """Interfaces that may be cabled: not those that lead elsewhere, or that we are logged in by."""
    leading = {route.interface for route in setup.routes if route.prefix in _EVERYWHERE}
    host = at.removeprefix("ssh://").rpartition("@")[2].partition(":")[0]
    found = [
        one
        for one in setup.interfaces.values()
        if one.physical
        and one.name not in leading
        and not any(host and address.partition("/")[0] == host for address in one.addresses)
    ]
    return tuple(sorted(found, key=lambda one: (one.link is False, one.name)))


def described(one: Interface) -> str:
    """An interface in a line."""
    words = [
        one.mac,
        one.driver,
        format_bps(one.speed_bps) if one.speed_bps else "",
        f"PCIe {one.pcie}" if one.pcie else "",
        one.pci,
        {True: "link up", False: "no link", None: ""}[one.link],
        " ".join(one.addresses),
    ]
    return f"{one.name}: {', '.join(word for word in words if word)}"


def facing(ports: Sequence[str]) -> tuple[str, ...]:
    """Ports that are cabled to the tester's: the first and the last, or the only one."""
    return tuple(dict.fromkeys((ports[0], ports[-1])))


def default_addresses(setup: Setup, ports: Sequence[str]) -> tuple[str, ...]:
    """Addresses that the ports have, or those that the standard suite expects."""
    return tuple(
        next((one for one in _of(setup, port) if ":" not in one), ADDRESSES[side])
        for side, port in enumerate(ports)
    )


def _of(setup: Setup, port: str) -> tuple[str, ...]:
    found = setup.interfaces.get(port)
    return found.addresses if found is not None else ()


def default_link(setup: Setup, ports: Sequence[str]) -> str:
    """Rate of the slower port, where both say theirs."""
    speeds = [one.speed_bps for port in ports if (one := setup.interfaces.get(port))]
    known = [speed for speed in speeds if speed]
    if len(known) < len(ports):
        return LINK
    megabits = min(known) // 1_000_000
    return f"{megabits / 1000:g}G" if megabits >= 1000 else f"{megabits}M"


def text(chosen: Choices, setup: Setup) -> str:
    """The file. Raises TestbedError where the choices make no testbed."""
    wire, tester = _wire(chosen.tester)
    ends = facing(chosen.ports)
    addresses = dict(zip(ends, chosen.addresses, strict=True))
    ports = [
        {"name": name} | ({"address": addresses[name]} if name in addresses else {})
        for name in chosen.ports
    ]
    macs = [one.mac for name in ends if (one := setup.interfaces.get(name)) and one.mac]
    document: dict[str, Any] = {
        "name": chosen.name,
        "wire": wire,
        "link": chosen.link,
        "tester": tester,
        "dut": {"kind": chosen.kind, "at": chosen.at, "ports": ports},
    }
    if len(macs) == len(ends):
        document["dut"] |= {"macs": macs}
    parse(document, "the testbed")
    return _written(document, setup, chosen.ports)


def _wire(tester: tuple[str, ...]) -> tuple[str, dict[str, object]]:
    """The wire that fits the names of the tester's ports."""
    if all(pci.is_address(name) for name in tester):
        return "ethdev", {"ports": [{"device": name} for name in tester]}
    if all(name.startswith(("/", "@")) for name in tester):
        return "memif", {"sockets": list(tester)}
    return "interfaces", {"interfaces": list(tester)}


def _written(document: dict[str, Any], setup: Setup, ports: Sequence[str]) -> str:
    dut = document["dut"]
    about = [described(one) for name in ports if (one := setup.interfaces.get(name))]
    macs = [f"  macs: {json.dumps(dut['macs'])}"] if "macs" in dut else []
    return "\n".join([
        "# A testbed with a box: docs/testbed.md. `linerate testbed check` says what works of it.",
        f"name: {json.dumps(document['name'])}",
        "# How the tester's ports are joined to the box: interfaces, ethdev (DPDK), memif.",
        f"wire: {document['wire']}",
        "# 100 % of the load.",
        f"link: {document['link']}",
        "# t0 and t1, cabled to the first and the last of the box's ports; one where it has one.",
        f"tester: {json.dumps(document['tester'])}",
        "dut:",
        f"  kind: {dut['kind']}",
        "  # Where its commands run: local, netns:NAME, container:NAME, ssh://LOGIN@HOST.",
        f"  at: {json.dumps(dut['at'])}",
        *(f"  # {line}" for line in about),
        "  # In the order in which packets come by: a cable joins the second to the third.",
        "  ports:",
        *(f"    - {json.dumps(port)}" for port in dut["ports"]),
        *(["  # Frames are sent to these addresses."] if macs else []),
        *macs,
        "  # Commands run before the first trial, and after the last whatever happens.",
        "  setup: []",
        "  teardown: []",
        "",
    ])  # fmt: skip
