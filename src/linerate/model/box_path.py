"""The packet ledger over tester and box, closed by the counters that face each other.

sent by t0 → received by e0 → each drop reason of the box → sent by e1 → received by t1. Of two
counters that both exist, the difference was lost between them, or came from elsewhere.

A packet may cross a box several times (a snake): it comes in by e0 and leaves by e1, a cable takes
it to e2, and so on; each pair of ports that it comes in and leaves by is a pass. A box of one port
(a hairpin) sends packets back where they came from.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from linerate.model.ledger import Entry, PacketLedger
from linerate.model.loss_places import in_pass
from linerate.model.measurement.flows import Counters
from linerate.model.suites import TESTER_PORTS

#: A stretch between two ports, as a place: what can lose packets there.
BETWEEN = "between {} and {}: cable, link or pause frames"
#: Packets that another sender put on a wire, and those that the box made (ARP, ICMP, LLDP).
OTHER_TRAFFIC = "{}: other traffic"
#: So end places that are the difference of two counters.
DERIVED = "no protocol takes it"
#: Frames that a packet socket's owner did not fetch in time, and those that it put in alone.
SOCKET_FULL = "packet socket full, or not polled"
SOCKET_KEPT = "not sent by the kernel, but left in the packet socket"
#: Counter of a port behind a packet socket: packets that its owner took out of it.
SOCKET_RX = "socket_rx_packets"
_DIFFERENCES = (DERIVED, SOCKET_FULL, SOCKET_KEPT)
ITS_OWN = "box: packets of its own"
#: Other senders' packets that came in and ended in the box without a counter: ARP, ND, LLDP.
TAKEN_IN = "box: other traffic for itself"
#: Losses of several passes are divided among them when counters agree as closely as that.
AGREEMENT = 0.01
_BOX_PORT = re.compile(r"e\d+")
#: A place at a port of a box.
_AT_PORT = re.compile(r"(e\d+)\b")


class Pass(NamedTuple):
    """One crossing of a box: packets of one way come in by the first port, of the other leave."""

    number: int
    into: str
    out: str

    @property
    def text(self) -> str:
        """In words."""
        return f"pass {self.number} ({self.into} to {self.out})"


class Path(NamedTuple):
    """Ports of a tester and of a box, in the order in which packets of t0 come by."""

    tester: tuple[str, ...]
    box: tuple[str, ...]

    @property
    def stretches(self) -> tuple[tuple[str, str], ...]:
        """Ports that face each other: the tester's port is named first."""
        ends = tuple(zip(self.tester, (self.box[0], self.box[-1]), strict=False))
        return (*ends, *self.cables)

    @property
    def cables(self) -> tuple[tuple[str, str], ...]:
        """Ports of the box that face each other."""
        return tuple(zip(self.box[1:-1:2], self.box[2:-1:2], strict=True))

    @property
    def passes(self) -> tuple[Pass, ...]:
        """Crossings of the box: one through a port where there is one alone."""
        ins, outs = self.box[::2], self.box[1::2] or self.box
        pairs = zip(ins, outs, strict=True)
        return tuple(Pass(number, *pair) for number, pair in enumerate(pairs, start=1))

    def hops(self, side: int = 0) -> tuple[tuple[str, str], ...]:
        """Counters, as port and way, that a packet of a side's grows one after the other."""
        tester = self.tester[::-1] if side else self.tester
        box = self.box[::-1] if side else self.box
        if len(box) == 1:
            box = box * 2
        inside = ((port, "tx" if number % 2 else "rx") for number, port in enumerate(box))
        return ((tester[0], "tx"), *inside, (tester[-1], "rx"))


def path_of(names: Iterable[str]) -> Path | None:
    """The path over the ports of those names, or None where they make none."""
    known = set(names)
    tester = tuple(name for name in TESTER_PORTS if name in known)
    count = sum(_BOX_PORT.fullmatch(name) is not None for name in known)
    box = tuple(f"e{number}" for number in range(count))
    whole = bool(box) and known.issuperset(box)
    hairpin = len(tester) == 1 and count == 1
    through = len(tester) == len(TESTER_PORTS) and count % 2 == 0
    return Path(tester, box) if whole and (hairpin or through) else None


def along(ledger: PacketLedger, ports: Mapping[str, Counters]) -> PacketLedger:
    """The ledger of a trial with the stretches between tester and box in it.

    `ledger` has the box's drop reasons already; `ports` are what each port counted in the
    trial: received packets with those that it missed.
    """
    path = path_of(ports)
    if path is None or not all(_has_both(ports[name]) for name in (*path.tester, *path.box)):
        return ledger
    ledger = _in_passes(_not_negative(ledger), path, ports)
    ends = path.stretches[: len(path.tester)]
    before = chain(*(_stretch(ports, tester, box) for tester, box in ends))
    behind = chain(*(_stretch(ports, box, tester) for tester, box in ends))
    cables = chain(*(_both_ways(ports, *cable) for cable in path.cables))
    closed = _inside(_with(ledger, [*before], [*cables, *behind]), path, ports)
    return _taken_in(closed, path)


def _not_negative(ledger: PacketLedger) -> PacketLedger:
    """Differences of two counters that a box does not read at one moment are no less than none."""
    entries = (
        entry.model_copy(update={"packets": max(0, entry.packets)})
        if entry.place.endswith(_DIFFERENCES)
        else entry
        for entry in ledger.entries
    )
    return PacketLedger(entries=tuple(entries))


def _has_both(counters: Counters | None) -> bool:
    return counters is not None and {"rx_packets", "tx_packets"} <= counters.keys()


def _both_ways(ports: Mapping[str, Counters], one: str, other: str) -> Iterator[Entry]:
    yield from _stretch(ports, one, other)
    yield from _stretch(ports, other, one)


def _stretch(ports: Mapping[str, Counters], sender: str, receiver: str) -> Iterator[Entry]:
    """Packets lost on the way, or that came from elsewhere."""
    sent, received = ports[sender]["tx_packets"], ports[receiver]["rx_packets"]
    if sent > received:
        place = BETWEEN.format(sender, receiver)
        yield Entry(place=place, kind="loss", packets=sent - received)
    if received > sent:
        place = OTHER_TRAFFIC.format(receiver)
        yield Entry(place=place, kind="originated", packets=received - sent)


def lost_in(crossing: Pass, ports: Mapping[str, Counters]) -> int:
    """Packets that came into a box and did not leave it, of both ways of a pass."""
    ways = dict.fromkeys([(crossing.into, crossing.out), (crossing.out, crossing.into)])
    return sum(max(0, ports[into]["rx_packets"] - ports[out]["tx_packets"]) for into, out in ways)


def _in_passes(ledger: PacketLedger, path: Path, ports: Mapping[str, Counters]) -> PacketLedger:
    """Name the pass of each loss of a snake, as far as the ports' counters tell.

    A drop reason counts packets of all passes. It is that of the one pass that lost packets; of
    several passes that lost them, one reason is divided, and several stay as they are.
    """
    if len(path.passes) < 2:
        return ledger
    of_port = {port: one.number for one in path.passes for port in (one.into, one.out)}
    lost = {one.number: lost_in(one, ports) for one in path.passes}
    open_entries = []
    for entry in _of_box(ledger):
        at = _AT_PORT.match(entry.place)
        if at is None:
            open_entries.append(entry)
        elif at[1] in of_port:
            lost[of_port[at[1]]] -= entry.packets
    total = sum(max(0, packets) for packets in lost.values())
    shares = {number: packets for number, packets in lost.items() if packets > AGREEMENT * total}
    divided = _divided(open_entries, shares)
    entries = (part for entry in ledger.entries for part in divided.get(entry.place, (entry,)))
    return PacketLedger(entries=tuple(entries))


def _divided(entries: Sequence[Entry], shares: Mapping[int, int]) -> dict[str, tuple[Entry, ...]]:
    """By place, entries that name their pass; `shares` are the packets that passes lost."""
    counted = [entry for entry in entries if entry.packets > 0]
    total, known = sum(shares.values()), sum(entry.packets for entry in counted)
    if len(shares) == 1 and known <= total * (1 + AGREEMENT):
        (number,) = shares
        return {entry.place: (_of_pass(entry, number, entry.packets),) for entry in counted}
    if not shares or len(counted) != 1 or abs(total - known) > AGREEMENT * total:
        return {}
    (entry,) = counted
    *rest, last = shares
    parts = {number: min(shares[number], entry.packets) for number in rest}
    parts[last] = max(0, entry.packets - sum(parts.values()))
    return {entry.place: tuple(_of_pass(entry, *part) for part in parts.items())}


def _of_pass(entry: Entry, number: int, packets: int) -> Entry:
    return entry.model_copy(update={"place": in_pass(entry.place, number), "packets": packets})


def _with(ledger: PacketLedger, before: list[Entry], behind: list[Entry]) -> PacketLedger:
    """Entries in the order of the path."""
    sent = [entry for entry in ledger.entries if entry.kind == "sent"]
    inside = _of_box(ledger)
    rest = [entry for entry in ledger.entries if entry not in sent and entry not in inside]
    return PacketLedger(entries=(*sent, *before, *inside, *behind, *rest))


def _of_box(ledger: PacketLedger) -> list[Entry]:
    """Packets that ended in the box."""
    return [
        entry
        for entry in ledger.entries
        if entry.kind in ("loss", "consumed") and not _tester(entry)
    ]


def _tester(entry: Entry) -> bool:
    return entry.place.startswith(TESTER_PORTS) or entry.place.startswith("tester")


def _inside(ledger: PacketLedger, path: Path, ports: Mapping[str, Counters]) -> PacketLedger:
    """Book what the box sent beyond what it received and did not drop: it made that itself.

    What the tester received without a signature is as many, at least: then the same number more
    was lost in the box without a counter, and stays unexplained.
    """
    received, sent = (
        sum(ports[name][f"{way}_packets"] for name in path.box) for way in ("rx", "tx")
    )
    known = sum(
        entry.packets for entry in _of_box(ledger) if not entry.place.startswith("between ")
    )
    rest = received - sent - known
    own = max(ledger.other - ledger.originated - ledger.unsigned, -rest, 0)
    if not own:
        return ledger
    return PacketLedger(
        entries=(*ledger.entries, Entry(place=ITS_OWN, kind="originated", packets=own))
    )


def _taken_in(ledger: PacketLedger, path: Path) -> PacketLedger:
    """Book other senders' packets that ended in the box, as far as none of ours is missing.

    The tester knows its own packets: those of them that it did not receive, and no place has, are
    the only ones that may stay unexplained.
    """
    came = {OTHER_TRAFFIC.format(port) for port in path.box}
    others = sum(entry.packets for entry in ledger.entries if entry.place in came)
    lost = sum(ledger.losses.values())
    ours = max(0, ledger.sent - ledger.received - ledger.corrupted - ledger.held - lost)
    ended = min(others, ledger.unexplained - ours)
    if ended <= 0:
        return ledger
    entry = Entry(place=TAKEN_IN, kind="consumed", packets=ended)
    return PacketLedger(entries=(*ledger.entries, entry))


def unexplained_inside(ledger: PacketLedger, ports: Mapping[str, Counters]) -> str:
    """Text on the missing counter, where packets are lost in a box that no counter has."""
    where, (received, sent) = _widest(ports)
    return (
        f"inside the box{where}: {received:,} received, {sent:,} sent, and no drop counter has "
        f"{ledger.unexplained:,} of the others"
    )


def _widest(ports: Mapping[str, Counters]) -> tuple[str, tuple[int, int]]:
    """Packets into and out of a box; of a snake, in the pass that lost most."""
    path = path_of(ports)
    box = path.box if path is not None else [name for name in ports if _BOX_PORT.fullmatch(name)]
    where = ""
    if path is not None and len(path.passes) > 1 and all(_has_both(ports[one]) for one in box):
        worst = max(path.passes, key=lambda one: lost_in(one, ports))
        box, where = (worst.into, worst.out), f" in {worst.text}"
    received, sent = (
        sum(ports[name].get(f"{way}_packets", 0) for name in box) for way in ("rx", "tx")
    )
    return where, (received, sent)
