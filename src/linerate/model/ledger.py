"""The two ledgers: where each packet went, and where each worker's clocks went.

Value objects with the two conservation laws; nothing here reads an engine.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt

Kind = Literal[
    "sent",
    "originated",
    "received",
    "duplicated",
    "corrupted",
    "other",
    "consumed",
    "loss",
    "held",
]

#: What is a device's rate: what came back; what one that sends nothing took; what one
#: that sends by itself sent.
Counted = Literal["received", "consumed", "other"]

#: So ends the place of what the tester sent without a signature.
UNSIGNED = ": unsigned"

#: A worker's clocks must be accounted for within this (design: within 1 %).
CYCLES_CLOSE_WITHIN_PERCENT = 1.0


class LedgerError(ValueError):
    """Two readings that can't be of the same engine."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Entry(_Value):
    """Packets at one place of the path."""

    place: str
    kind: Kind
    packets: int


class PacketLedger(_Value):
    """Law: sent + originated = received + duplicated + corrupted + other + consumed + held + loss.

    Received are the tester's frames, each once. What a foreign device adds (frames that come
    twice, frames of its own) is on no counter of ours: it makes up for no loss.
    """

    entries: tuple[Entry, ...] = ()

    def total(self, kind: Kind) -> int:
        """Packets of that kind, over all places."""
        return sum(entry.packets for entry in self.entries if entry.kind == kind)

    @property
    def sent(self) -> int:
        """Packets that the tester sent."""
        return self.total("sent")

    @property
    def received(self) -> int:
        """Packets of the tester's streams that it got back, each once."""
        return self.total("received")

    @property
    def losses(self) -> dict[str, int]:
        """Packets lost at each place, in path order; places that lost none left out."""
        lost: dict[str, int] = {}
        for entry in self.entries:
            if entry.kind == "loss" and entry.packets:
                lost[entry.place] = lost.get(entry.place, 0) + entry.packets
        return lost

    @property
    def unexplained(self) -> int:
        """What the law leaves over: lost at a place that no counter names.

        Negative: more came back than was sent.
        """
        into = self.sent + self.originated + self.added
        out = self.received + self.duplicated + self.corrupted + self.other
        return into - out - self.consumed - self.held - self.total("loss")

    @property
    def added(self) -> int:
        """Packets that came back, that the tester did not send, and no counter of a device has."""
        return max(0, self.duplicated + self.other - self.originated - self.unsigned)

    @property
    def unsigned(self) -> int:
        """Packets that the tester sent without a signature: they come back as others."""
        return sum(
            entry.packets
            for entry in self.entries
            if entry.kind == "sent" and entry.place.endswith(UNSIGNED)
        )

    @property
    def duplicated(self) -> int:
        """Packets of the tester's streams that came back once more."""
        return self.total("duplicated")

    @property
    def corrupted(self) -> int:
        """Packets of the tester's streams that came back damaged."""
        return self.total("corrupted")

    @property
    def originated(self) -> int:
        """Packets that the device under test made itself (ARP, ICMP)."""
        return self.total("originated")

    @property
    def other(self) -> int:
        """Packets that came back and are of no stream."""
        return self.total("other")

    @property
    def returned(self) -> int:
        """Packets that the tester got back, those of no stream too, less what the device made.

        So sent less returned is what was lost, consumed or held, whatever was signed. What the
        device made may have been lost too: it takes nothing off what was received.
        """
        return min(self.sent, self.received + max(0, self.other - self.originated))

    @property
    def consumed(self) -> int:
        """Packets that were for the device under test itself."""
        return self.total("consumed")

    @property
    def held(self) -> int:
        """Packets still on their way when the second reading was taken."""
        return self.total("held")

    @property
    def violations(self) -> list[str]:
        """Each way in which a device of ours breaks the law, in one line."""
        broken = {
            f"{self.unexplained:,} packets unexplained": self.unexplained,
            f"{self.added:,} packets came back that no counter shows leaving": self.added,
            f"{self.corrupted:,} packets came back damaged": self.corrupted,
        }
        return [*self.backwards, *(line for line, packets in broken.items() if packets)]

    @property
    def backwards(self) -> list[str]:
        """Places whose counter went backwards, a line each."""
        return [
            f"{entry.place}: {entry.packets:,} packets, a counter went backwards"
            for entry in self.entries
            if entry.packets < 0 and entry.kind != "held"
        ]

    def minus(self, before: "PacketLedger") -> "PacketLedger":
        """Say what happened between two readings, `before` being the first."""
        earlier = {(entry.place, entry.kind): entry.packets for entry in before.entries}
        places = {(entry.place, entry.kind) for entry in self.entries}
        # A place is listed from its first packet on; only what was held may have gone.
        lost = [place for place, kind in earlier if (place, kind) not in places and kind != "held"]
        if lost:
            raise LedgerError(f"the later reading has no {', '.join(lost)}")
        grown = [
            Entry(
                place=entry.place,
                kind=entry.kind,
                packets=entry.packets - earlier.get((entry.place, entry.kind), 0),
            )
            for entry in self.entries
        ]
        released = [
            Entry(place=place, kind=kind, packets=-packets)
            for (place, kind), packets in earlier.items()
            if (place, kind) not in places
        ]
        return PacketLedger(entries=tuple(grown + released))


class NodeTime(_Value):
    """What one worker spent in one node."""

    calls: int = 0
    vectors: int = 0
    clocks: int = 0
    idle_calls: int = 0
    idle_clocks: int = 0

    @property
    def fused(self) -> bool:
        """Whether another node did this one's work, and has its clocks."""
        return self.vectors > 0 and self.clocks == 0

    @property
    def clocks_per_packet(self) -> float | None:
        """Clocks of the calls that did something, over their packets; None if not its own."""
        return self.clocks / self.vectors if self.vectors and not self.fused else None

    @property
    def vectors_per_call(self) -> float | None:
        """Packets in a call that did something."""
        return self.vectors / self.calls if self.calls else None

    def plus(self, other: "NodeTime") -> "NodeTime":
        """Add what was spent elsewhere."""
        return NodeTime(
            **{name: getattr(self, name) + getattr(other, name) for name in NodeTime.model_fields}
        )

    def minus(self, before: "NodeTime") -> "NodeTime":
        """Say what was spent between two readings, `before` being the first."""
        return NodeTime(
            **{name: getattr(self, name) - getattr(before, name) for name in NodeTime.model_fields}
        )


class TimeLedger(_Value):
    """Law: Σ node clocks + idle polls + loop overhead + away + sleep = elapsed TSC, within 1 %."""

    worker: str
    role: str
    tsc_hz: PositiveInt
    elapsed_clocks: int
    overhead_clocks: int
    away_clocks: int = 0
    #: In rx modes interrupt and adaptive: nothing to do, and no CPU used for it.
    sleep_clocks: int = 0
    loops: int = 0
    nodes: dict[str, NodeTime]

    @property
    def node_clocks(self) -> int:
        """Clocks of calls that did something."""
        return sum(node.clocks for node in self.nodes.values())

    @property
    def idle_clocks(self) -> int:
        """Clocks of polls that found nothing."""
        return sum(node.idle_clocks for node in self.nodes.values())

    @property
    def closed_percent(self) -> float:
        """How much of the elapsed time is accounted for; 100 when the law holds."""
        if not self.elapsed_clocks:
            return 0.0
        known = self.node_clocks + self.idle_clocks + self.overhead_clocks
        known += self.away_clocks + self.sleep_clocks
        return 100.0 * known / self.elapsed_clocks

    @property
    def closes(self) -> bool:
        """Whether the law holds."""
        return abs(self.closed_percent - 100.0) <= CYCLES_CLOSE_WITHIN_PERCENT

    def percent(self, clocks: int) -> float:
        """Clocks as a share of the elapsed ones."""
        return 100.0 * clocks / self.elapsed_clocks if self.elapsed_clocks else 0.0

    @property
    def idle_percent(self) -> float:
        """Share of the time in which the worker polled and found nothing."""
        return self.percent(self.idle_clocks)

    @property
    def busy_percent(self) -> float:
        """Calls that found packets, of the time in the graph: what `top` can't tell of a poller."""
        within = self.node_clocks + self.idle_clocks + self.sleep_clocks
        return 100.0 * self.node_clocks / within if within else 0.0

    @property
    def spare_percent(self) -> float:
        """Share of the time in which the worker had nothing to do: it polled idly, or slept."""
        return self.percent(self.idle_clocks + self.sleep_clocks)


def node_times_minus(
    after: Mapping[str, NodeTime], before: Mapping[str, NodeTime]
) -> dict[str, NodeTime]:
    """Say what each node spent between two readings."""
    nothing = NodeTime()
    return {name: node.minus(before.get(name, nothing)) for name, node in after.items()}


def forwarder_ledgers(ledgers: Sequence[TimeLedger]) -> list[TimeLedger]:
    """Those of workers that forward: the device under test's."""
    return [ledger for ledger in ledgers if ledger.role in ("forwarder", "both")]
