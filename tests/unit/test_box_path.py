"""The ledger over tester and box: what is lost between two counters, inside, or made by the box."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from linerate.model.box_path import ITS_OWN, Path, along, path_of, unexplained_inside
from linerate.model.ledger import Entry, PacketLedger
from linerate.model.loss_causes import cause_of
from linerate.model.loss_places import in_pass

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


LONG = some.integers(2, 5)
RANDOM = "nft lost f: rule 3 drops"


def through(path: Path, sent: int, lost: dict[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Counters of packets of t0, of which some are lost behind a counter of the path."""
    found = {name: {"rx_packets": 0, "tx_packets": 0} for name in (*path.tester, *path.box)}
    left = sent
    for port, way in path.hops():
        found[port][f"{way}_packets"] += left
        left -= lost.get((port, way), 0)
    return found


def snake(passes: int) -> Path:
    found = path_of(["t0", "t1", *(f"e{number}" for number in range(2 * passes))])
    assert found is not None
    return found


def named(ledger: PacketLedger) -> dict[str, int]:
    return {place.partition(": cable")[0]: packets for place, packets in ledger.losses.items()}


@given(passes=LONG, at=some.data())
def test_a_loss_in_a_snake_has_its_pass(passes, at):
    path = snake(passes)
    crossing = at.draw(some.sampled_from(path.passes))
    counted, silent = at.draw(PACKETS), at.draw(PACKETS)
    ports = through(path, 1000, {(crossing.into, "rx"): counted + silent})
    received = ports["t1"]["rx_packets"]
    found = along(ledger(1000, received, **{RANDOM: counted}), ports)
    assert named(found) == ({f"{RANDOM} (pass {crossing.number})": counted} if counted else {})
    assert found.unexplained == silent
    if silent:
        assert crossing.text in unexplained_inside(found, ports)


@given(passes=LONG, at=some.data())
def test_a_cable_between_two_ports_of_a_box_is_a_stretch(passes, at):
    path = snake(passes)
    one, other = at.draw(some.sampled_from(path.cables))
    lost = at.draw(PACKETS)
    ports = through(path, 1000, {(one, "tx"): lost})
    found = along(ledger(1000, ports["t1"]["rx_packets"]), ports)
    assert named(found) == ({f"between {one} and {other}": lost} if lost else {})
    assert found.unexplained == 0


def test_one_reason_in_several_passes_is_divided():
    path = snake(3)
    ports = through(path, 1000, {("e0", "rx"): 100, ("e4", "rx"): 50})
    found = along(ledger(1000, 850, **{RANDOM: 150}), ports)
    assert named(found) == {f"{RANDOM} (pass 1)": 100, f"{RANDOM} (pass 3)": 50}
    assert found.unexplained == 0


def test_several_reasons_in_several_passes_have_none():
    """No counter says which of them was which."""
    ports = through(snake(2), 1000, {("e0", "rx"): 100, ("e2", "rx"): 50})
    given_losses = {RANDOM: 90, "ip: no route": 60}
    found = along(ledger(1000, 850, **given_losses), ports)
    assert named(found) == given_losses
    assert found.unexplained == 0


def test_a_port_tells_its_pass_by_its_name():
    ports = through(snake(2), 1000, {("e0", "rx"): 100, ("e2", "rx"): 50})
    lost = {"e1: tx dropped": 100, "ip: no route": 50}
    found = along(ledger(1000, 850, **lost), ports)
    assert named(found) == {"e1: tx dropped": 100, "ip: no route (pass 2)": 50}


@given(cable=PACKETS, inside=PACKETS, behind=PACKETS)
def test_a_hairpin_closes_over_one_port(cable, inside, behind):
    path = path_of(["t0", "e0"])
    assert path is not None
    ports = through(path, 1000, {("t0", "tx"): cable, ("e0", "rx"): inside, ("e0", "tx"): behind})
    received = 1000 - cable - inside - behind
    found = along(ledger(1000, received, **{RANDOM: inside}), ports)
    expected = {"between t0 and e0": cable, RANDOM: inside, "between e0 and t0": behind}
    assert named(found) == {place: packets for place, packets in expected.items() if packets}
    assert found.unexplained == 0


@pytest.mark.parametrize(
    "names", [["t0", "e0", "e1"], ["t0", "t1", "e0"], ["t0", "t1", "e0", "e2"], ["e0", "e1"]]
)
def test_ports_that_make_no_path(names):
    assert path_of(names) is None


@pytest.mark.parametrize("place", [RANDOM, "ip: no route", "e1: rx errors", "card packet rate"])
def test_a_loss_has_the_same_cause_in_each_pass(place):
    assert cause_of(in_pass(place, 12)) == cause_of(place)


@given(silent=PACKETS, others=PACKETS)
def test_what_others_send_to_the_box_hides_no_loss_of_ours(silent, others):
    """ARP and its like end in the box without a counter; what it lost of ours stays unexplained."""
    sent = 1000
    found = along(
        ledger(sent, sent - silent), ports(sent, sent + others, sent - silent, sent - silent)
    )
    assert found.unexplained == silent
    assert found.consumed == others
    assert found.losses == {}
