"""The ledger over tester and box: what is lost between two counters, inside, or made by the box."""

from hypothesis import given
from hypothesis import strategies as some

from linerate.model.box_path import ITS_OWN, along
from linerate.model.ledger import Entry, PacketLedger

PACKETS = some.integers(0, 50)


def ledger(sent: int, received: int, other: int = 0, **losses: int) -> PacketLedger:
    entries = [Entry(place="tester t0", kind="sent", packets=sent)]
    entries += [
        Entry(place=place, kind="loss", packets=packets) for place, packets in losses.items()
    ]
    entries += [Entry(place="tester", kind="received", packets=received)]
    entries += [Entry(place="tester: other frames", kind="other", packets=other)]
    return PacketLedger(entries=tuple(entries))


def ports(t0: int, e0: int, e1: int, t1: int) -> dict[str, dict[str, int]]:
    """One direction: sent by t0, received by e0, sent by e1, received by t1."""
    return {
        "t0": {"rx_packets": 0, "tx_packets": t0},
        "e0": {"rx_packets": e0, "tx_packets": 0},
        "e1": {"rx_packets": 0, "tx_packets": e1},
        "t1": {"rx_packets": t1, "tx_packets": 0},
    }


@given(before=PACKETS, counted=PACKETS, silent=PACKETS, behind=PACKETS, own=PACKETS)
def test_each_packet_is_at_the_place_that_lost_it(before, counted, silent, behind, own):
    """`own` are made by the box, and none of them is lost."""
    sent = 1000
    e0 = sent - before
    forwarded = e0 - counted - silent
    received = forwarded - behind
    found = along(
        ledger(sent, received, own, filter=counted),
        ports(sent, e0, forwarded + own, received + own),
    )
    lost = {place.partition(":")[0]: packets for place, packets in found.losses.items()}
    expected = {"between t0 and e0": before, "filter": counted, "between e1 and t1": behind}
    assert lost == {place: packets for place, packets in expected.items() if packets}
    assert found.unexplained == silent
    assert found.originated == own
    assert found.added == 0


def test_what_others_put_on_the_cable_is_no_loss():
    found = along(ledger(100, 100), ports(100, 103, 103, 100))
    places = {entry.place for entry in found.entries if entry.kind == "originated"}
    assert "e0: other traffic" in places
    assert found.losses == {"between e1 and t1: cable, link or pause frames": 3}
    assert found.unexplained == 0


def test_what_a_box_made_and_lost_itself_is_its_own():
    found = along(ledger(100, 100), ports(100, 100, 104, 100))
    assert {entry.place: entry.packets for entry in found.entries}[ITS_OWN] == 4
    assert found.unexplained == 0


def test_without_all_counters_the_ledger_stays_as_it_was():
    given_ledger = ledger(100, 90)
    assert along(given_ledger, {"t0": {"tx_packets": 100, "rx_packets": 0}}) == given_ledger


@given(missed=PACKETS, cable=PACKETS)
def test_frames_that_a_port_missed_are_not_lost_on_the_cable(missed, cable):
    """A kind of box counts them among those received."""
    through = 1000 - cable - missed
    entries = ledger(1000, through, **{"e0: rx missed": missed})
    found = along(entries, ports(1000, 1000 - cable, through, through))
    lost = {place.partition(":")[0]: packets for place, packets in found.losses.items()}
    expected = {"between t0 and e0": cable, "e0": missed}
    assert lost == {place: packets for place, packets in expected.items() if packets}
    assert found.unexplained == 0
