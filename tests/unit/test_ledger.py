"""Both conservation laws, for any counters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linerate.model.ledger import (
    Entry,
    LedgerError,
    NodeTime,
    PacketLedger,
    TimeLedger,
    forwarder_ledgers,
    node_times_minus,
)

PACKETS = st.integers(0, 10**12)
OUTWARD = ("received", "duplicated", "other", "consumed", "held", "loss")
PLACES = st.dictionaries(
    st.tuples(
        st.sampled_from(["e0: rx missed", "PCIe", "t0", "ip4-lookup: no route"]),
        st.sampled_from(OUTWARD),
    ),
    PACKETS,
    max_size=12,
)


def came_besides(places):
    """Packets received beyond the tester's frames."""
    return sum(packets for (_, kind), packets in places.items() if kind in ("duplicated", "other"))


def packet_ledger(places, sent, originated=0):
    into = [Entry(place="tester t0", kind="sent", packets=sent)]
    into.append(Entry(place="arp", kind="originated", packets=originated))
    out = [
        Entry(place=place, kind=kind, packets=packets) for (place, kind), packets in places.items()
    ]
    return PacketLedger(entries=tuple(into + out))


@given(PLACES, PACKETS)
def test_what_went_out_explains_what_came_in(places, originated):
    out = sum(places.values())
    made = min(out, max(originated, came_besides(places)))
    ledger = packet_ledger(places, out - made, made)
    assert ledger.unexplained == 0
    assert ledger.violations == []


@given(PLACES, st.integers(1, 10**6))
def test_what_comes_twice_or_from_elsewhere_makes_up_for_no_loss(places, lost):
    """A device that is not ours counts nothing of what it adds."""
    passed = sum(places.values()) - came_besides(places)
    ledger = packet_ledger(places, passed + lost)
    assert ledger.unexplained == lost
    assert ledger.added == came_besides(places)


def test_frames_without_a_signature_come_back_as_others():
    entries = (
        Entry(place="tester t0", kind="sent", packets=10),
        Entry(place="tester t0: unsigned", kind="sent", packets=20),
        Entry(place="tester", kind="received", packets=10),
        Entry(place="tester: other frames", kind="other", packets=19),
    )
    ledger = PacketLedger(entries=entries)
    assert (ledger.sent, ledger.added, ledger.unexplained, ledger.returned) == (30, 0, 1, 29)


def test_what_the_device_made_and_lost_takes_nothing_off_what_came():
    entries = (
        Entry(place="tester t0: unsigned", kind="sent", packets=100),
        Entry(place="icmp4-error", kind="originated", packets=160),
        Entry(place="tester: other frames", kind="other", packets=104),
        Entry(place="t1: tx full", kind="loss", packets=156),
    )
    assert PacketLedger(entries=entries).returned >= 0


@given(PLACES, st.integers(1, 10**6))
def test_a_packet_too_few_or_many_is_unexplained(places, missing):
    out = sum(places.values())
    made = came_besides(places)
    lost = packet_ledger(places, out - made + missing, made)
    assert lost.unexplained == missing
    assert lost.violations == [f"{missing:,} packets unexplained"]
    assert packet_ledger(places, out - made - missing, made).unexplained == -missing


@given(PLACES, PLACES, PACKETS, PACKETS)
def test_a_difference_of_balanced_ledgers_is_balanced(first, second, one, two):
    made = came_besides(first)
    before = packet_ledger(first, sum(first.values()) - made, made)
    grown = {key: first.get(key, 0) + packets for key, packets in (first | second).items()}
    made = came_besides(grown)
    after = packet_ledger(grown, sum(grown.values()) - made, made)
    difference = after.minus(before)
    assert difference.unexplained == 0
    assert difference.sent == after.sent - before.sent
    assert all(packets >= 0 for packets in difference.losses.values())


def test_a_place_appears_with_its_first_packet():
    before = packet_ledger({}, 10)
    after = packet_ledger({("PCIe", "loss"): 5}, 15)
    assert after.minus(before).losses == {"PCIe": 5}


def test_what_was_held_may_be_gone():
    before = packet_ledger({("t0", "held"): 5}, 5)
    after = packet_ledger({("t0", "received"): 5}, 5)
    difference = after.minus(before)
    assert difference.held == -5
    assert difference.unexplained == 0
    assert difference.violations == []


def test_a_place_can_not_be_forgotten():
    with pytest.raises(LedgerError, match="the later reading has no PCIe"):
        packet_ledger({}, 0).minus(packet_ledger({("PCIe", "loss"): 1}, 1))


def test_a_counter_can_not_go_backwards():
    ledger = packet_ledger({("PCIe", "loss"): -3, ("t0", "received"): 3}, 0)
    assert ledger.violations == ["PCIe: -3 packets, a counter went backwards"]


CLOCKS = st.integers(0, 10**13)
NODES = st.dictionaries(
    st.sampled_from(["port-rx-e0-0", "ip4-input", "port-tx-e1"]),
    st.builds(
        NodeTime, calls=CLOCKS, vectors=CLOCKS, clocks=CLOCKS, idle_calls=CLOCKS, idle_clocks=CLOCKS
    ),
    max_size=3,
)


def time_ledger(nodes, overhead, away, extra=0, sleep=0):
    polled = sum(node.clocks + node.idle_clocks for node in nodes.values())
    spent = polled + overhead + away + sleep
    return TimeLedger(
        worker="w",
        role="forwarder",
        tsc_hz=10**9,
        elapsed_clocks=spent + extra,
        overhead_clocks=overhead,
        away_clocks=away,
        sleep_clocks=sleep,
        nodes=nodes,
    )


@given(NODES, CLOCKS, CLOCKS, CLOCKS)
def test_parts_of_the_time_make_the_whole(nodes, overhead, away, sleep):
    ledger = time_ledger(nodes, overhead, away, sleep=sleep)
    if ledger.elapsed_clocks:
        assert ledger.closed_percent == pytest.approx(100)
        assert ledger.closes
        asleep = 100 * sleep / ledger.elapsed_clocks
        assert ledger.spare_percent == pytest.approx(ledger.idle_percent + asleep)


@given(NODES, st.integers(1000, 10**12))
def test_a_hole_in_the_time_shows(nodes, overhead):
    whole = time_ledger(nodes, overhead, 0)
    assert not time_ledger(nodes, overhead, 0, extra=whole.elapsed_clocks // 50).closes
    assert time_ledger(nodes, overhead, 0, extra=whole.elapsed_clocks // 200).closes


def test_a_worker_that_never_ran_does_not_close():
    assert not time_ledger({}, 0, 0).closes


@given(NODES, NODES)
def test_node_times_add_up(first, second):
    later = {name: node.plus(first.get(name, NodeTime())) for name, node in second.items()}
    assert node_times_minus(later, first) == second


def test_clocks_are_of_calls_that_did_something():
    node = NodeTime(calls=10, vectors=200, clocks=5000, idle_calls=99, idle_clocks=10**6)
    assert node.clocks_per_packet == 25
    assert node.vectors_per_call == 20
    assert NodeTime().clocks_per_packet is None
    assert NodeTime().vectors_per_call is None


def test_forwarders_are_distinguished_from_the_tester(ledger_of_worker):
    roles = [ledger_of_worker(role) for role in ("tester", "forwarder", "both")]
    assert [ledger.role for ledger in forwarder_ledgers(roles)] == ["forwarder", "both"]
