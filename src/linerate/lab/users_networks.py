"""Traffic between the user's networks, in the user's VLANs, in place of the suites' own."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from linerate.model.suites import NETWORKS, TESTER_PORTS

_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
#: Those that the suites' frames are from and to.
DEFAULTS = tuple(IPv4Network(f"{network}.0/24") for network in NETWORKS)


def between_networks(
    streams: list[dict[str, Any]], networks: Sequence[str]
) -> list[dict[str, Any]]:
    """The same streams; addresses of 16.0.0.0/24 and 48.0.0.0/24 are moved."""
    parsed = tuple(map(IPv4Network, networks))
    return [_moved(stream, parsed) for stream in streams]


def in_vlans(streams: list[dict[str, Any]], vlans: Sequence[int]) -> list[dict[str, Any]]:
    """The same streams, each in its port's VLAN, but those that are in one already."""
    # A hairpin's second one is that of received frames: the device's business.
    by_port = dict(zip(TESTER_PORTS, vlans, strict=False))
    return [_tagged(one, by_port) for one in streams]


def _moved(value: Any, networks: tuple[IPv4Network, ...]) -> Any:  # noqa: ANN401 (of JSON)
    if isinstance(value, dict):
        return {key: _moved(part, networks) for key, part in value.items()}
    if isinstance(value, list):
        return [_moved(part, networks) for part in value]
    if isinstance(value, str) and _IPV4.fullmatch(value):
        return moved(value, networks)
    return value


def moved(address: str, networks: tuple[IPv4Network, ...]) -> str:
    """The host with the same number in the user's network, or the last where that has fewer."""
    parsed = IPv4Address(address)
    for default, network in zip(DEFAULTS, networks, strict=True):
        if parsed in default:
            size = network.num_addresses
            last = size - 2 if size > 2 else size - 1
            number = int(parsed) - int(default.network_address)
            return str(network.network_address + min(number, last))
    return address


def _tagged(stream: dict[str, Any], vlans: dict[str, int]) -> dict[str, Any]:
    """A stream of layers with a tag after its Ethernet header; templates have what they have."""
    if "layers" not in stream or any("vlan" in layer for layer in stream["layers"]):
        return stream
    ethernet, *rest = stream["layers"]
    return stream | {"layers": [ethernet, {"vlan": {"id": vlans[stream["port"]]}}, *rest]}
