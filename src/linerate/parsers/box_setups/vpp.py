"""Set-up of a VPP: its interfaces, addresses, neighbours, and routes to the tester's prefixes."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_network

from linerate.model.box_setup import Interface, Neighbor, Route, Setup
from linerate.parsers.box_setups import register
from linerate.parsers.boxes import Asked, Question
from linerate.parsers.text import text_of
from linerate.parsers.tools.vpp_interface import interfaces

_MAC = r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}"
_HEAD = re.compile(r"(?P<name>[A-Za-z]\S*)\s+\d+\s+(?P<link>up|down)\s+\S.*")
_ETHERNET = re.compile(rf"\s+Ethernet address (?P<mac>{_MAC})\s*")
_SPEED = re.compile(r"\s+Link speed:\s+(?P<value>\d{1,6}(?:\.\d{1,3})?) (?P<scale>[KMGT])bps\s*")
_PCI = re.compile(
    r"\s+pci:\s.*\baddress (?P<slot>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})\.0?(?P<f>\d)"
)
_DRIVER = re.compile(
    r"\s+(?:carrier\s.*|(?P<driver>(?:net_\w+|[\w -]+ \(\w+\)|memif\b.*|DPDK\b.*)))"
)
_SCALE = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
#: `xxv1 (up):`, and its addresses below.
_OF_INTERFACE = re.compile(r"(?P<name>[A-Za-z]\S*) \((?:up|dn)\):\s*")
_ADDRESS = re.compile(r"\s+L3 (?P<address>[0-9a-fA-F:.]+/\d{1,3})\b.*")
_NEIGHBOR = re.compile(
    rf"\s*\S+\s+(?P<address>[0-9a-fA-F:.]+)\s+[A-Z]*\s+(?P<mac>{_MAC})\s+(?P<interface>\S+)\s*"
)
_PREFIX = re.compile(r"(?P<prefix>\d{1,3}(?:\.\d{1,3}){3}/\d{1,2})\b.*")
_VIA = re.compile(r".*\bvia (?P<via>\d{1,3}(?:\.\d{1,3}){3}) (?P<interface>[A-Za-z][^\s:]*)")
_GLEAN = re.compile(r".*\bglean: .*?(?P<interface>[A-Za-z][^\s:\]]*):? mtu.*")
_DROP = re.compile(r".*\bdpo-drop\b.*")


class VppSetup:
    """Interfaces and FIB of a VPP."""

    name = "vpp"

    def questions(self, asked: Asked, networks: Sequence[str]) -> tuple[Question, ...]:
        """A full table has millions of routes: those that the tester needs alone are asked for."""
        socket = f" -s {shlex.quote(asked.socket)}" if asked.socket else ""
        fib = [f"show ip fib {ip_network(one)[1]}" for one in networks if ":" not in one]
        words = (
            "show interface", "show hardware-interfaces", "show interface address",
            "show ip neighbors", *fib,
        )  # fmt: skip
        return tuple(
            Question(one, f"vppctl{socket} {one}", required=one == "show interface")
            for one in words
        )

    def read(self, texts: Mapping[str, str]) -> Setup:
        """Join what the commands know of each interface; a VPP always forwards."""
        read = interfaces(text_of(texts.get("show interface", ""), "show interface"))
        hardware = _hardware(texts.get("show hardware-interfaces", ""))
        addresses = _addresses(texts.get("show interface address", ""))
        found = {
            port.name: replace(
                hardware.get(port.name, Interface(port.name)),
                enabled=port.up,
                addresses=addresses.get(port.name, ()),
                rx_packets=port.rx_packets or 0,
                physical=port.name not in ("local0",) and not port.name.startswith("loop"),
            )
            for port in (read.ports if read is not None else ())
        }
        return Setup(
            interfaces=found,
            routes=tuple(
                route
                for question, text in texts.items()
                if question.startswith("show ip fib ")
                for route in _routes(text)
            ),
            neighbors=tuple(_neighbors(texts.get("show ip neighbors", ""))),
            forwards=True,
            configured_by="vpp",
        )


def _hardware(text: str) -> dict[str, Interface]:
    found: dict[str, Interface] = {}
    name = ""
    for line in text.splitlines():
        if match := _HEAD.fullmatch(line.rstrip()):
            name = match["name"]
            found[name] = Interface(name, link=match["link"] == "up")
        elif name and (match := _ETHERNET.fullmatch(line)):
            found[name] = replace(found[name], mac=match["mac"])
        elif name and (match := _SPEED.fullmatch(line)):
            bps = round(float(match["value"]) * _SCALE[match["scale"]])
            found[name] = replace(found[name], speed_bps=bps)
        elif name and (match := _PCI.match(line)):
            found[name] = replace(found[name], pci=f"{match['slot']}.{match['f']}")
        elif name and (match := _DRIVER.fullmatch(line)) and match["driver"]:
            driver = found[name].driver or match["driver"].strip()
            found[name] = replace(found[name], driver=driver)
    return found


def _addresses(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in text.splitlines():
        if match := _OF_INTERFACE.fullmatch(line):
            name = match["name"]
        elif name and (match := _ADDRESS.fullmatch(line)):
            found[name] = (*found.get(name, ()), match["address"])
    return found


def _routes(text: str) -> Iterator[Route]:
    """One for each prefix: by the first way that it has."""
    prefix = ""
    for line in text.splitlines():
        if match := _PREFIX.fullmatch(line):
            prefix = match["prefix"]
        elif prefix and (match := _VIA.match(line)):
            yield Route(prefix, match["via"], match["interface"])
            prefix = ""
        elif prefix and (match := _GLEAN.fullmatch(line)):
            yield Route(prefix, "", match["interface"])
            prefix = ""
        elif prefix and _DROP.fullmatch(line):
            yield Route(prefix, drops="dpo-drop")
            prefix = ""


def _neighbors(text: str) -> Iterator[Neighbor]:
    for line in text.splitlines():
        if match := _NEIGHBOR.fullmatch(line):
            yield Neighbor(match["address"], match["mac"], match["interface"])


register(VppSetup())
