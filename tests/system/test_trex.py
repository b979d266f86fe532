"""TRex's unmodified client, and its server's program, over a router on a virtual card."""

from pathlib import Path

import pytest
from tests.system.trex_server import serving
from tests.trex_client import CLIENT, run_client

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")


@pytest.mark.smoke
def test_frames_of_clients_come_back_through_the_router(tmp_path: Path) -> None:
    with serving(tmp_path) as ports:
        made = run_client("trafficgen", ports)
        assert made["sent"] == made["group_sent"] == [4000, 4000]
        assert all(0 < received <= 4000 for received in made["group_received"])
        made = run_client("csit", ports)
        assert all(0 < timed <= 2 * 1250 for timed in made["timed"])
        assert all(average > 0 for average in made["average_us"])
        made = run_client("session", ports)
        assert made["forced"] == "TRANSMITTING"
        assert made["bursts"] == 150
        assert made["pushed"] == 2


@pytest.mark.smoke
def test_clients_resolve_ping_capture_and_push(tmp_path: Path) -> None:
    with serving(tmp_path) as ports:
        made = run_client("service", ports)
    assert "service" in made["outside"]
    assert made["resolved"] == [0, 1]
    assert made["neighbours"] == ["02:00:00:00:0e:00", "02:00:00:00:0e:01"]
    assert len(made["pings"]) == 2
    assert all("Reply from 100.64.1.1" in one for one in made["pings"])
    assert "resolve" in made["wrong"]
    assert made["status"] == {
        "state": "ACTIVE",
        "matched": 4,
        "count": 4,
        "limit": 10,
        "filter": {"tx": 1, "rx": 2, "bpf": "udp"},
    }
    assert sorted(made["captured"]) == [
        [0, "TX", 1001], [0, "TX", 1003], [1, "RX", 1001], [1, "RX", 1003],
    ]  # fmt: skip
    # Three frames, each a gap after the one before: the first and the last have two of them.
    assert all(0.035 < seconds < 0.4 for seconds in made["gaps_s"])
    assert made["left"] == {}
    assert made["queue"] == [17, 6, 17]
    assert made["bad_filter"]
    assert made["cyclic"] == 5
    assert 0 < made["group"] <= made["group_sent"] == 500
    assert (made["vlan"], made["ipv6"]) == (5, "2001:db8::2")
    assert made["l2"] == "aa:bb:cc:dd:ee:ff"


def test_frames_without_room_for_a_signature_are_counted(tmp_path: Path) -> None:
    with serving(tmp_path) as ports:
        made = run_client("small", ports)
    assert "no IP header to be counted by" in made["arp"]
    assert "STLFlowLatencyStats" in made["timed"]
    frames = {"0": 700, "1": 500, "10": 701, "11": 501}
    for group, count in frames.items():
        here, there = ("0", "1") if int(group) < 10 else ("1", "0")
        assert made["tx_pkts"][group] == {here: count, there: 0, "total": count}
        assert made["rx_pkts"][group] == {here: 0, there: count, "total": count}
    # TCP without options or payload: the shortest frame, FCS included.
    assert made["rx_bytes"]["0"]["1"] == 700 * 64
