"""Output of `linerate testbed trace`."""

from collections.abc import Iterator, Sequence

from linerate.base.published import Output, published
from linerate.model.box_trace import TracedPacket, by_place
from linerate.model.ledger import PacketLedger
from linerate.report.host import printable

#: Nodes of a lost packet that are printed with their lines: the last ones.
LAST_NODES = 4


class BoxHop(Output):
    """One node on a packet's way through a box."""

    node: str
    #: Lines that the node recorded, in the box's own words.
    lines: tuple[str, ...]


class BoxTracedPacket(Output):
    """A packet and its way through a box."""

    #: Thread of the box that received it.
    thread: str
    #: Place where it ended, as in the ledger; empty where it left the box.
    lost_at: str
    #: Its trace has no end: it neither left nor was dropped by a node.
    open_ended: bool
    hops: tuple[BoxHop, ...]


@published("box-trace", "JSON of `linerate testbed trace --json`")
class BoxTraceOutput(Output):
    """Packets that a box recorded within a load, and what was lost of it in all."""

    sent: int
    received: int
    #: Packets lost, by place.
    losses: dict[str, int]
    packets: tuple[BoxTracedPacket, ...]


def output(ledger: PacketLedger, packets: Sequence[TracedPacket]) -> BoxTraceOutput:
    """For programs."""
    return BoxTraceOutput(
        sent=ledger.sent,
        received=ledger.received,
        losses=ledger.losses,
        packets=tuple(map(BoxTracedPacket.model_validate, packets)),
    )


def text(ledger: PacketLedger, packets: tuple[TracedPacket, ...]) -> str:
    """All that was lost, then the end of one packet's way for each place where some were."""
    return "\n".join(_lines(ledger, packets))


def _lines(ledger: PacketLedger, packets: tuple[TracedPacket, ...]) -> Iterator[str]:
    yield f"{ledger.sent:,} packets sent, {ledger.received:,} received"
    for place, count in ledger.losses.items():
        yield f"  lost: {count:,} at {printable(place)}"
    lost = by_place(packets)
    ended = sum(len(own) for _place, own in lost)
    unknown = sum(packet.open_ended for packet in packets)
    left = len(packets) - ended - unknown
    yield f"{len(packets):,} packets traced: {left:,} left the box, {ended:,} lost" + (
        f", {unknown:,} without an end" if unknown else ""
    )
    for place, own in lost:
        yield ""
        yield f"{len(own):,} at {printable(place)}; the last nodes of one, on {own[0].thread}:"
        yield from _way(own[0])


def _way(packet: TracedPacket) -> Iterator[str]:
    before, last = packet.hops[:-LAST_NODES], packet.hops[-LAST_NODES:]
    if before:
        yield f"  {' > '.join(printable(hop.node) for hop in before)} >"
    for hop in last:
        yield f"  {printable(hop.node)}"
        yield from (f"    {printable(line)}" for line in hop.lines)
