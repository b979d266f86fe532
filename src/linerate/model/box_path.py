"""The packet ledger over tester and box, closed by the counters that face each other.

sent by t0 → received by e0 → each drop reason of the box → sent by e1 → received by t1. Of two
counters that both exist, the difference was lost between them, or came from elsewhere.
"""

from collections.abc import Mapping

from linerate.model.ledger import Entry, PacketLedger
from linerate.model.measurement.flows import Counters
from linerate.model.suites import DUT_PORTS, TESTER_PORTS

#: A stretch between two ports, as a place: what can lose packets there.
BETWEEN = "between {} and {}: cable, link or pause frames"
#: Packets that another sender put on a wire, and those that the box made (ARP, ICMP, LLDP).
OTHER_TRAFFIC = "{}: other traffic"
#: So end places that are the difference of two counters.
DERIVED = "no protocol takes it"
ITS_OWN = "box: packets of its own"


def along(ledger: PacketLedger, ports: Mapping[str, Counters]) -> PacketLedger:
    """The ledger of a trial with the stretches between tester and box in it.

    `ledger` has the box's drop reasons already; `ports` are what each port counted in the
    trial: received packets with those that it missed.
    """
    if not all(_has_both(ports.get(name)) for name in (*TESTER_PORTS, *DUT_PORTS)):
        return ledger
    ledger = _not_negative(ledger)
    before: list[Entry] = []
    behind: list[Entry] = []
    for tester, box in zip(TESTER_PORTS, DUT_PORTS, strict=True):
        before += _stretch(tester, box, ports[tester]["tx_packets"], ports[box]["rx_packets"])
        behind += _stretch(box, tester, ports[box]["tx_packets"], ports[tester]["rx_packets"])
    return _inside(_with(ledger, before, behind), ports)


def _not_negative(ledger: PacketLedger) -> PacketLedger:
    """Differences of two counters that a box does not read at one moment are no less than none."""
    entries = (
        entry.model_copy(update={"packets": max(0, entry.packets)})
        if entry.place.endswith(DERIVED)
        else entry
        for entry in ledger.entries
    )
    return PacketLedger(entries=tuple(entries))


def _has_both(counters: Counters | None) -> bool:
    return counters is not None and {"rx_packets", "tx_packets"} <= counters.keys()


def _stretch(sender: str, receiver: str, sent: int, received: int) -> list[Entry]:
    """Packets lost on the way, or that came from elsewhere."""
    if sent > received:
        place = BETWEEN.format(sender, receiver)
        return [Entry(place=place, kind="loss", packets=sent - received)]
    if received > sent:
        place = OTHER_TRAFFIC.format(receiver)
        return [Entry(place=place, kind="originated", packets=received - sent)]
    return []


def _with(ledger: PacketLedger, before: list[Entry], behind: list[Entry]) -> PacketLedger:
    """Entries in the order of the path."""
    sent = [entry for entry in ledger.entries if entry.kind == "sent"]
    inside = [
        entry
        for entry in ledger.entries
        if entry.kind in ("loss", "consumed") and not _tester(entry)
    ]
    rest = [entry for entry in ledger.entries if entry not in sent and entry not in inside]
    return PacketLedger(entries=(*sent, *before, *inside, *behind, *rest))


def _tester(entry: Entry) -> bool:
    return entry.place.startswith(TESTER_PORTS) or entry.place.startswith("tester")


def _inside(ledger: PacketLedger, ports: Mapping[str, Counters]) -> PacketLedger:
    """Book what the box sent beyond what it received and did not drop: it made that itself.

    What the tester received without a signature is as many, at least: then the same number more
    was lost in the box without a counter, and stays unexplained.
    """
    received, sent = (
        sum(ports[name][f"{way}_packets"] for name in DUT_PORTS) for way in ("rx", "tx")
    )
    known = sum(
        entry.packets
        for entry in ledger.entries
        if entry.kind in ("loss", "consumed")
        and not _tester(entry)
        and not entry.place.startswith("between ")
    )
    rest = received - sent - known
    own = max(ledger.other - ledger.originated - ledger.unsigned, -rest, 0)
    if not own:
        return ledger
    return PacketLedger(
        entries=(*ledger.entries, Entry(place=ITS_OWN, kind="originated", packets=own))
    )


def unexplained_inside(ledger: PacketLedger, ports: Mapping[str, Counters]) -> str:
    """Text on the missing counter, where packets are lost in a box that no counter has."""
    received, sent = (
        sum(ports[name].get(f"{way}_packets", 0) for name in DUT_PORTS if name in ports)
        for way in ("rx", "tx")
    )
    return (
        f"inside the box: {received:,} received, {sent:,} sent, and no drop counter has "
        f"{ledger.unexplained:,} of the others"
    )
