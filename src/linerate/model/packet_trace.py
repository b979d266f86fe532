"""Packets as traced: their way through the nodes of a worker."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hop:
    """One node on a packet's way."""

    node: str
    #: Nodes whose work this one did: they did not see the packet.
    fused: tuple[str, ...]
    #: The next node; `(held)` or `(left)` at the end of the way.
    next: str
    #: Drop reason under which the node counted the packet; empty if it did not.
    reason: str
    #: Decision of the node: route, adjacency; empty if it has nothing to report.
    text: str


@dataclass(frozen=True, slots=True)
class TracedPacket:
    """A packet and its way through the nodes of one worker."""

    worker: str
    length_bytes: int
    #: Its first bytes, as it came to the first node.
    frame: bytes
    hops: tuple[Hop, ...]
    #: The way had more hops than the engine keeps.
    cut: bool
