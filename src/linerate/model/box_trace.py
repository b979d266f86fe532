"""Ways of single packets through a box, node by node, as it recorded them."""

from typing import NamedTuple


class Hop(NamedTuple):
    """One node of a packet's way, and its own lines."""

    node: str
    lines: tuple[str, ...]


class TracedPacket(NamedTuple):
    """A packet, on the thread that received it."""

    thread: str
    hops: tuple[Hop, ...]
    #: Name of the place where it ended, as in the ledger; empty where it left the box.
    lost_at: str = ""
    #: Whether its trace has no end: it neither left nor was dropped by a node.
    open_ended: bool = False


def by_place(packets: tuple[TracedPacket, ...]) -> list[tuple[str, tuple[TracedPacket, ...]]]:
    """Lost packets by the place where they ended, most first."""
    found: dict[str, list[TracedPacket]] = {}
    for packet in packets:
        if packet.lost_at:
            found.setdefault(packet.lost_at, []).append(packet)
    return sorted(
        ((place, tuple(own)) for place, own in found.items()), key=lambda one: -len(one[1])
    )
