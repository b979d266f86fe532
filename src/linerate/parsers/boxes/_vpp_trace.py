"""VPP's `show trace` (vlib/trace.c): the way of each traced packet, and where it ended."""

import re
from collections.abc import Iterator, Sequence

from linerate.model.box_trace import Hop, TracedPacket

_THREAD = re.compile(r"-{5,} Start of thread \d{1,4} (?P<name>\S{1,64}) -{5,}")
_PACKET = re.compile(r"Packet \d{1,9}")
#: Relative, of seconds since 1970, or a date: all end with a colon.
_HOP = re.compile(r"(?:\d[\d:.T-]{4,40}): (?P<node>\S{1,128})")
#: Nodes that end a packet, and those that make a message for its sender of it.
_DROPS = ("drop", "error-drop", "punt", "error-punt")
_MESSAGES = ("ip4-icmp-error", "ip6-icmp-error")
#: Ends of names of last nodes: not each driver's tx node records packets.
_LAST = ("-tx", "-output")
#: Reason of a drop: the node that gave it, and the words of `show errors`.
_REASON = re.compile(r"(?P<node>[A-Za-z][^\s:]{0,127}): (?P<reason>\S.{0,200})")
#: A `show trace` of more packets is not read further.
PACKETS_MAX = 100_000


def traced(text: str) -> tuple[TracedPacket, ...]:
    """All packets, in the order in which they are printed."""
    return tuple(_packets(text))


def _packets(text: str) -> Iterator[TracedPacket]:
    thread, number = "", 0
    hops: list[Hop] = []
    for line in [*text.splitlines(), "Packet 0"]:
        head, start = _THREAD.match(line), _PACKET.fullmatch(line.strip())
        if head or start:
            if hops:
                yield _packet(thread, hops)
                number += 1
            hops = []
            if number >= PACKETS_MAX:
                return
        if head:
            thread = head["name"]
        elif match := _HOP.fullmatch(line.rstrip()):
            hops.append(Hop(match["node"], ()))
        elif hops and line.startswith(" ") and line.strip():
            last = hops[-1]
            hops[-1] = last._replace(lines=(*last.lines, line.strip()))


def _packet(thread: str, hops: Sequence[Hop]) -> TracedPacket:
    lost = _lost_at(hops)
    left = hops[-1].node.endswith(_LAST)
    return TracedPacket(thread, tuple(hops), lost, not lost and not left)


def _lost_at(hops: Sequence[Hop]) -> str:
    """Place of a packet's end, or nothing."""
    for number, hop in enumerate(hops):
        if hop.node in _MESSAGES:
            # The node before it gave the reason, which is in the message.
            before = hops[number - 1].node if number else hop.node
            return f"{before}: answered by {hop.node}"
    for number, hop in enumerate(hops):
        if hop.node in _DROPS:
            reason = next(_reasons(hops[number:]), "")
            return reason or f"{hops[number - 1].node if number else hop.node}: {hop.node}"
    return ""


def _reasons(hops: Sequence[Hop]) -> Iterator[str]:
    """Reasons as `show errors` has them."""
    for hop in hops:
        for line in hop.lines:
            if hop.node in _DROPS and not line.startswith("rx:") and _REASON.fullmatch(line):
                yield line
