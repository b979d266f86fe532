"""grout as a box: tables as its `grcli` prints them (modules/infra/cli of grout's sources)."""

from pathlib import Path

import pytest

from linerate.model.box import Answer, BoxAnswers, texts
from linerate.model.loss_causes import cause_of
from linerate.parsers.boxes import Asked, UnreadableError, box_evidence, find

DATA = Path(__file__).parents[1] / "data/boxes/grout"
ASKED = Asked(ports={"e0": "p0", "e1": "p1"})
HEAD = "NODE  BATCHES  PACKETS  PKTS/BATCH  CYCLES/BATCH  CYCLES/PKT\n"
STATS = (
    "INTERFACE  RX_PACKETS  RX_BYTES  RX_DROPS  TX_PACKETS  TX_BYTES  TX_ERRORS\n"
    "p0             100      6400         0           0         0          0\n"
    "p1               0         0         0          90      5760          0\n"
)


def counted(software: str = "", hardware: str = "", stats: str = STATS):
    given = {"interface stats": stats, "software": HEAD + software, "hardware": hardware}
    return find("grout").counted(given, ASKED)


@pytest.mark.parametrize(
    ("node", "cause"),
    [
        ("ip_blackhole", "configuration"),
        ("ip_error_ttl_exceeded", "configuration"),
        ("ip_error_dest_unreach", "configuration"),
        ("ip_error_frag_needed", "configuration"),
        ("ip6_error_dest_unreach", "configuration"),
        ("ip_input_other_host", "configuration"),
        ("ip_input_bad_checksum", "damaged"),
        ("ip_input_bad_length", "damaged"),
        ("eth_input_unknown_type", "configuration"),
        ("iface_input_admin_down", "configuration"),
        ("iface_input_unknown_vlan", "configuration"),
        ("port_tx_error", "tx-ring"),
        ("port_tx_down", "configuration"),
        ("bridge_input_hairpin", "configuration"),
    ],
)
def test_each_node_that_drops_is_a_place(node, cause):
    losses = counted(f"{node}  2  5  2.5  80.0  32.0\n").losses
    place = f"grout: {node.replace('_', ' ')}"
    assert {name: packets for name, packets in losses.items() if packets} == {place: 5}
    assert cause_of(place) == cause


@pytest.mark.parametrize(
    "node",
    ["ip_input", "port_rx-p0q0", "ip_forward", "port_tx-p1q0", "ip_output", "idle", "overhead",
     "error_no_headroom", "error_no_local_ip", "icmp_output", "ip_hold", "eth_input.drops"],
)  # fmt: skip
def test_other_nodes_lose_nothing_of_the_load(node):
    losses = counted(f"{node}  2  5  2.5  80.0  32.0\n").losses
    assert set(losses.values()) == {0}


def test_the_cards_own_counters_come_before_the_interfaces():
    hardware = "p0.rx_good_packets: 95\np0.rx_missed_errors: 5\np1.tx_good_packets: 80\n"
    found = counted("port_tx_error  1  10  10.0  9.0  1.0\n", hardware)
    assert found.ports["e0"]["rx_packets"] == 100
    assert found.ports["e1"]["tx_packets"] == 80
    assert found.losses["e0: rx missed"] == 5
    assert found.losses["grout: port tx error"] == 10
    assert cause_of("e0: rx missed") == "rx-ring"


def test_an_interface_that_is_not_there_is_named():
    with pytest.raises(UnreadableError, match="no interface p1 in grout; `grcli interface stats`"):
        counted(stats=STATS.replace("p1", "p7"))


def test_a_trial_closes():
    path = DATA / "documented.json"
    box = BoxAnswers.model_validate_json(path.read_text(encoding="utf-8"))
    (before,), (after,) = box.batches("before"), box.batches("after")
    early, late = (find("grout").counted(texts(one), ASKED) for one in (before, after))
    lost = {
        place: packets - early.losses.get(place, 0)
        for place, packets in late.losses.items()
        if packets != early.losses.get(place, 0)
    }
    received = late.ports["e0"]["rx_packets"] - early.ports["e0"]["rx_packets"]
    sent = late.ports["e1"]["tx_packets"] - early.ports["e1"]["tx_packets"]
    assert lost == {"grout: ip blackhole": 400, "grout: port tx error": 100}
    assert received - sent == sum(lost.values())
    (worker,) = box_evidence(box).workers
    assert worker.name == "grout-cpu2"
    assert worker.packets == 100_000
    assert worker.spare_percent == pytest.approx(50, abs=0.1)
    assert worker.clocks_per_packet == pytest.approx(90, abs=0.1)


def answer(asked_us: int, text: str) -> Answer:
    return Answer(
        moment="load", question="workers", command="", asked_us=asked_us, took_us=1, text=text
    )


def test_columns_of_older_versions_are_found_by_their_names():
    head = "NODE         CALLS   PACKETS  PKTS/CALL  CYCLES/CALL  CYCLES/PKT\n"
    first = f"cpu 2\n{head}port_rx 0 0 0.0 0.0 0.0\n"
    last = f"cpu 2\n{head}port_rx 757792 22623757 29.9 1776.4 59.5\nidle 10 0 0.0 1.0 0.0\n"
    answers = (answer(1, first), answer(1_000_001, last))
    box = BoxAnswers(kind="grout", at="local", ports={}, answers=answers)
    (worker,) = box_evidence(box).workers
    assert worker.packets == 22623757
    assert worker.vectors_per_call == pytest.approx(29.9, abs=0.1)
    assert worker.clocks_per_packet == pytest.approx(59.5, abs=0.1)
