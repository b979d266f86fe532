"""Packet traces as text: one block a packet, one line a node."""

import ipaddress
from collections.abc import Iterable

from linerate.base.published import Output, published
from linerate.model.packet_trace import Hop, TracedPacket

_ETHERNET_BYTES = 14
_TAG_BYTES = 4
_TAGS = (0x8100, 0x88A8)
_IP4, _IP6, _ARP, _MPLS = 0x0800, 0x86DD, 0x0806, 0x8847
_PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP"}
_WITH_PORTS = (6, 17, 132)


def _upper(protocol: int, source: str, destination: str, upper: bytes) -> str:
    name = _PROTOCOLS.get(protocol, f"protocol {protocol}")
    if protocol in _WITH_PORTS and len(upper) >= 4:
        ports = int.from_bytes(upper[:2]), int.from_bytes(upper[2:4])
        return f"{name} {source} port {ports[0]} > {destination} port {ports[1]}"
    return f"{name} {source} > {destination}"


def _ip(packet: bytes) -> str:
    version = packet[0] >> 4
    if version == 4 and len(packet) >= 20:
        source, destination = (ipaddress.IPv4Address(packet[at : at + 4]) for at in (12, 16))
        upper = packet[(packet[0] & 15) * 4 :]
        return _upper(packet[9], f"{source}", f"{destination}", upper) + f", TTL {packet[8]}"
    if version == 6 and len(packet) >= 40:
        source6, destination6 = (ipaddress.IPv6Address(packet[at : at + 16]) for at in (8, 24))
        upper = packet[40:]
        return (
            _upper(packet[6], f"{source6}", f"{destination6}", upper) + f", hop limit {packet[7]}"
        )
    return "no IP header"


def describe(frame: bytes) -> str:
    """Addresses, protocol and ports of a frame, outer VLAN and label included."""
    at, tags = _ETHERNET_BYTES, ""
    kind = int.from_bytes(frame[12:14])
    while kind in _TAGS and len(frame) >= at + _TAG_BYTES:
        tags += f"VLAN {int.from_bytes(frame[at : at + 2]) & 0xFFF}, "
        kind = int.from_bytes(frame[at + 2 : at + 4])
        at += _TAG_BYTES
    if kind == _MPLS and len(frame) >= at + _TAG_BYTES:
        return f"{tags}MPLS label {int.from_bytes(frame[at : at + 4]) >> 12}"
    if kind in (_IP4, _IP6) and len(frame) > at:
        return tags + _ip(frame[at:])
    return tags + ("ARP" if kind == _ARP else f"ethertype 0x{kind:04x}")


def _decision(hop: Hop) -> str:
    parts = [hop.text] if hop.text else []
    if hop.reason:
        parts.append(f"counted as: {hop.reason}")
    if hop.fused:
        parts.append(f"does the work of {', '.join(hop.fused)}")
    return "; ".join(parts)


def _lines(number: int, packet: TracedPacket) -> Iterable[str]:
    yield (
        f"Packet {number} on {packet.worker}, {packet.length_bytes} bytes: {describe(packet.frame)}"
    )
    for hop in packet.hops:
        yield f"  {hop.node:<26} > {hop.next:<22} {_decision(hop)}".rstrip()
    if packet.cut:
        yield "  … more hops than are kept"


def trace_text(packets: Iterable[TracedPacket]) -> str:
    """Write the way of each packet, a blank line between two."""
    blocks = ["\n".join(_lines(number, packet)) for number, packet in enumerate(packets, 1)]
    return "\n\n".join(blocks)


class HopOutput(Output):
    """One node on a packet's way."""

    node: str
    #: Nodes whose work this one did.
    fused: tuple[str, ...]
    #: The next node; `(held)` or `(left)` at the end of the way.
    next: str
    #: Drop reason under which the node counted the packet.
    reason: str
    #: Decision of the node: route, adjacency.
    text: str


class TracedPacketOutput(Output):
    """A packet and its way through the nodes of one worker."""

    worker: str
    length_bytes: int
    #: Its first bytes, as it came to the first node; hexadecimal.
    frame: str
    hops: tuple[HopOutput, ...]
    #: The way had more hops than the engine keeps.
    cut: bool


published("trace", "JSON of `linerate trace --json`")(list[TracedPacketOutput])


def traced(packets: Iterable[TracedPacket]) -> list[TracedPacketOutput]:
    """For programs."""
    return [
        TracedPacketOutput(
            worker=packet.worker,
            length_bytes=packet.length_bytes,
            frame=packet.frame.hex(),
            hops=tuple(map(HopOutput.model_validate, packet.hops)),
            cut=packet.cut,
        )
        for packet in packets
    ]
