"""Ports of DPDK's driver af_packet: what the kernel's interface behind one counts.

The driver counts what it took out of its packet socket, and what it put in. The kernel drops what
finds the socket's ring full, and may send less than it was given: no counter of DPDK's has either.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from linerate.model.box_path import SOCKET_FULL, SOCKET_KEPT, SOCKET_RX

#: The question of the interfaces' counters.
QUESTION = "ip -s link"
COMMAND = "ip -s -j link show"
_DEVICE = re.compile(r"(net_af_packet\w*|eth_af_packet\w*),(?:\S*,)?iface=([^,\s]+)")

Counters = dict[str, int]

#: States of RFC 2863 in which nothing passes.
_DOWN = ("DOWN", "LOWERLAYERDOWN", "NOTPRESENT")


class Interface(NamedTuple):
    """An interface of the kernel's."""

    address: str
    #: Whether its link is up, where it says.
    up: bool
    rx_packets: int
    tx_packets: int


def behind(words: Iterable[str], kernel: str) -> dict[str, Interface]:
    """By device, the interface behind it.

    `words` have arguments of DPDK's, as `net_af_packet0,iface=eth0`; `kernel` is the answer.
    """
    links = _interfaces(kernel)
    named = {found[1]: found[2] for word in words for found in _DEVICE.finditer(word)}
    return {device: links[name] for device, name in named.items() if name in links}


def counted(port: str, device: Mapping[str, int], kernel: Interface) -> tuple[Counters, Counters]:
    """Packets that crossed the interface of a port, and those lost at its socket, by place.

    `device` are the driver's: `rx_packets`, `tx_packets`. Both are read one after the other, so a
    difference is known once nothing moves.
    """
    crossed = {
        "rx_packets": kernel.rx_packets,
        "tx_packets": kernel.tx_packets,
        SOCKET_RX: device["rx_packets"],
    }
    losses = {
        f"{port}: {SOCKET_FULL}": kernel.rx_packets - device["rx_packets"],
        f"{port}: {SOCKET_KEPT}": device["tx_packets"] - kernel.tx_packets,
    }
    return crossed, losses


def _interfaces(text: str) -> dict[str, Interface]:
    """By name; none where iproute2 printed something else."""
    try:
        found = json.loads(text[text.index("[") :]) if "[" in text else []
    except (ValueError, RecursionError):
        return {}
    links = [link for link in found if isinstance(link, dict)] if isinstance(found, list) else []
    read = {str(link.get("ifname")): _interface(link) for link in links}
    return {name: one for name, one in read.items() if one is not None}


def _interface(link: Mapping[str, Any]) -> Interface | None:
    stats = link.get("stats64")
    ways = [stats.get(way) if isinstance(stats, dict) else None for way in ("rx", "tx")]
    packets = [way.get("packets") if isinstance(way, dict) else None for way in ways]
    received, sent = packets
    if type(received) is not int or type(sent) is not int:
        return None
    up = link.get("operstate") not in _DOWN
    return Interface(str(link.get("address")).lower(), up, received, sent)
