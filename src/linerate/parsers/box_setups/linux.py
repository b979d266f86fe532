"""Set-up of a Linux box, OpenWrt too: iproute2's JSON, and /sys of each interface."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from linerate.model.box_setup import Interface, Neighbor, Route, Setup
from linerate.parsers.box_setups import register
from linerate.parsers.boxes import Asked, Question

#: Driver, PCI address, speed in Mb/s, PCIe speed and lanes of each interface: a line each.
_SYSFS = (
    "cd /sys/class/net && for i in *; do "
    'd=$(readlink -f "$i/device"); '
    'echo "$i|$(basename "$(readlink -f "$i/device/driver" || true)")|$(basename "$d")'
    '|$(cat "$i/speed" 2>/dev/null)|$(cat "$d/current_link_speed" 2>/dev/null)'
    '|$(cat "$d/current_link_width" 2>/dev/null)"; done'
)
_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_DROPPING = ("blackhole", "unreachable", "prohibit", "throw")
#: States in which a neighbour's MAC address is not used.
_UNKNOWN = {"FAILED", "INCOMPLETE"}


class LinuxSetup:
    """Interfaces, routes and neighbours of a kernel."""

    name = "linux"

    def questions(self, _asked: Asked, _networks: Sequence[str]) -> tuple[Question, ...]:
        """All at once; none changes anything."""
        return (
            Question("ip -j -s link", "ip -j -s -d link show", required=True),
            Question("ip -j addr", "ip -j addr show"),
            Question("ip -j route", "ip -j route show table all type unicast"),
            Question("ip -j route drops", "; ".join(
                f"ip -j route show table all type {kind} 2>/dev/null" for kind in _DROPPING
            )),
            Question("ip -j neigh", "ip -j neigh show"),
            Question("ip_forward", "cat /proc/sys/net/ipv4/ip_forward"),
            Question("sysfs", _SYSFS),
            Question("os-release", "cat /etc/os-release"),
        )  # fmt: skip

    def read(self, texts: Mapping[str, str]) -> Setup:
        """Join what the commands know of each interface."""
        addresses = _addresses(texts.get("ip -j addr", ""))
        cards = _cards(texts.get("sysfs", ""))
        interfaces = {
            name: _interface(link, addresses.get(name, ()), cards.get(name, ()))
            for link in _objects(texts.get("ip -j -s link", ""))
            if (name := str(link.get("ifname", "")))
        }
        forwards = texts.get("ip_forward", "").strip()
        of_release = texts.get("os-release", "")
        return Setup(
            interfaces=interfaces,
            routes=tuple(
                route
                for question in ("ip -j route", "ip -j route drops")
                for route in _routes(texts.get(question, ""))
            ),
            neighbors=_neighbors(texts.get("ip -j neigh", "")),
            forwards={"0": False, "1": True}.get(forwards),
            configured_by="openwrt" if "openwrt" in of_release.lower() else "linux",
        )


def _objects(text: str) -> list[dict[str, Any]]:
    """Objects in one or several JSON lists, one after the other; none where it is no JSON."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while (at := text.find("[", at)) >= 0:
        try:
            part, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        found += [one for one in part if isinstance(one, dict)] if isinstance(part, list) else []
    return found


def _interface(
    link: Mapping[str, Any], addresses: tuple[str, ...], card: tuple[str, ...]
) -> Interface:
    flags = link.get("flags") or []
    received = ((link.get("stats64") or {}).get("rx") or {}).get("packets")
    driver, pci, speed, pcie = card or ("", "", "", "")
    kind = (link.get("linkinfo") or {}).get("info_kind", "")
    return Interface(
        name=str(link["ifname"]),
        enabled="UP" in flags,
        link="LOWER_UP" in flags,
        mac=str(link.get("address", "")).lower(),
        mtu=link["mtu"] if isinstance(link.get("mtu"), int) else None,
        speed_bps=int(speed) * 1_000_000 if speed.isdecimal() and speed != "0" else None,
        driver=driver or str(kind),
        pci=pci,
        pcie=pcie,
        addresses=addresses,
        rx_packets=received if isinstance(received, int) else None,
        physical=link.get("link_type") == "ether" and kind in ("", "veth", "tun", "vlan", "bond"),
    )


def _addresses(text: str) -> dict[str, tuple[str, ...]]:
    return {
        str(link.get("ifname")): tuple(
            f"{one['local']}/{one['prefixlen']}"
            for one in link.get("addr_info") or ()
            if isinstance(one, dict) and {"local", "prefixlen"} <= one.keys()
        )
        for link in _objects(text)
    }


def _cards(text: str) -> dict[str, tuple[str, ...]]:
    """By interface: driver, PCI address, speed in Mb/s, PCIe speed and lanes in words."""
    found: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        parts = line.strip().split("|")
        if len(parts) != 6:
            continue
        name, driver, device, speed, pcie_speed, lanes = parts
        pci = device if _PCI.fullmatch(device) else ""
        of_pci = f"{pcie_speed.removesuffix(' PCIe')} x{lanes}" if pci and lanes else ""
        of_device = driver if driver not in ("", "driver") else ""
        found[name] = (of_device, pci, speed, of_pci)
    return found


def _routes(text: str) -> list[Route]:
    found = []
    for one in _objects(text):
        prefix, kind = str(one.get("dst", "")), str(one.get("type", "unicast"))
        if one.get("table", "main") not in ("main", "default") or not prefix:
            continue
        via = one.get("gateway") or (one.get("via") or {}).get("host", "")
        everything = "::/0" if ":" in str(via) else "0.0.0.0/0"
        found.append(
            Route(
                prefix=everything if prefix == "default" else prefix,
                via=str(via),
                interface=str(one.get("dev", "")),
                drops=kind if kind in _DROPPING else "",
            )
        )
    return found


def _neighbors(text: str) -> tuple[Neighbor, ...]:
    return tuple(
        Neighbor(str(one["dst"]), str(one["lladdr"]).lower(), str(one["dev"]))
        for one in _objects(text)
        if {"dst", "lladdr", "dev"} <= one.keys() and _UNKNOWN.isdisjoint(one.get("state") or ())
    )


register(LinuxSetup())
