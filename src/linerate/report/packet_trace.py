"""Packet traces as text: one block a packet, one line a node."""

from collections.abc import Iterable

from linerate.base.published import Output, published
from linerate.model.packet_trace import Hop, TracedPacket
from linerate.report.frame_text import describe


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
