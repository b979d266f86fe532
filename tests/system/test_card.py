"""The card's limits: each loses packets at its own place, and the ledger always balances."""

from typing import Any

import pytest
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.trials import Outcome, run_trial

from linerate.base.line_rate import FRAME_BYTES_MAX

FLOWS = [
    {"field": "ipv4.src", "op": "increment", "min": "16.0.0.1", "max": "16.0.0.250"},
    {"field": "udp.src", "op": "random", "min": 1024, "max": 65535},
]
PCIE_X1 = {"gigatransfers": 2.5, "lanes": 1, "max_payload_bytes": 128}


def bidirectional(**changes: Any) -> list[dict[str, Any]]:
    return [stream(0, **changes), stream(1, **changes)]


def check_law(outcome: Outcome) -> None:
    assert outcome.status["drained"] == 1
    assert outcome.unexplained == 0
    sent = outcome.of_kind("sent")
    assert sent == outcome.status["sent_packets"] > 0
    assert outcome.of_kind("received") == outcome.status["received_packets"]


@pytest.mark.parametrize(
    ("card", "place"),
    [
        ({"pps_ceiling": 500_000}, "card packet rate"),
        ({"pcie": PCIE_X1}, "PCIe"),
        ({"rx_ring": 32}, "rx missed (ring full)"),
        ({"tx_ring": 32}, None),
        ({"rx_ring": 32, "tx_ring": 32, "rx_queues": 4}, None),
        ({"link_bps": 100_000_000}, None),
        ({"link_bps": 100_000_000_000}, None),
        ({"pps_ceiling": 1_000_000, "pcie": PCIE_X1, "rx_ring": 64, "tx_ring": 64}, None),
    ],
)
@pytest.mark.parametrize("mode", ["io", "macswap"])
@pytest.mark.smoke("io-card0-card packet rate")
def test_every_packet_is_explained(
    start_engine: StartEngine, card: dict[str, Any], place: str | None, mode: str
) -> None:
    streams = bidirectional(modifiers=FLOWS)
    outcome = run_trial(start_engine(card_config(card, {"mode": mode}, streams)), 0.3)
    check_law(outcome)
    if place:
        assert any(name.endswith(place) for name in outcome.losses()), outcome.losses()


def test_oversize_frames_have_a_place(start_engine: StartEngine) -> None:
    card = {"max_frame_bytes": 512}
    streams = [stream(0, frame_bytes=1514, rate={"pps": 1000})]
    outcome = run_trial(start_engine(card_config(card, {"mode": "io"}, streams)), 0.1)
    check_law(outcome)
    assert outcome.losses() == {"card0 port 0: oversize frame": outcome.of_kind("sent")}


def test_packet_rate_ceiling_is_kept(start_engine: StartEngine) -> None:
    """The ceiling bounds the packets that pass in the time, but for its FIFO."""
    card = {"pps_ceiling": 100_000}
    streams = bidirectional(rate={"pps": 200_000})
    outcome = run_trial(start_engine(card_config(card, {"mode": "io"}, streams)), 0.5)
    check_law(outcome)
    allowed = 100_000 * outcome.status["elapsed_us"] / 1e6
    assert outcome.of_kind("received") <= allowed + 600
    assert outcome.of_kind("received") >= allowed * 0.5


def test_a_burst_waits_for_the_cards_packet_engine(start_engine: StartEngine) -> None:
    """At 10 Mpps 2,500 packets may wait: as many arrive while a late tester catches up."""
    card = {"pps_ceiling": 10_000_000, "rx_ring": 8192, "tx_ring": 8192}
    outcome = run_trial(
        start_engine(card_config(card, {"mode": "io"}, [stream(0, burst=4000)])), 0.1
    )
    check_law(outcome)
    assert outcome.of_kind("sent") == 4000
    assert "card0 port 0: card packet rate" not in outcome.losses()


def test_line_rate_is_never_exceeded(start_engine: StartEngine) -> None:
    streams = bidirectional()
    card = {"link_bps": 1_000_000_000}
    outcome = run_trial(start_engine(card_config(card, {"mode": "io"}, streams)), 0.5)
    check_law(outcome)
    line_pps = 1e9 / (84 * 8)
    seconds = outcome.status["elapsed_us"] / 1e6
    assert outcome.of_kind("sent") <= 2 * line_pps * seconds * 1.000001
    assert outcome.of_kind("received") <= outcome.of_kind("sent")


@pytest.mark.parametrize("frame_bytes", [64, 65, 127, 128, 129, 594, 1518, FRAME_BYTES_MAX])
def test_bare_wire_loses_nothing(start_engine: StartEngine, frame_bytes: int) -> None:
    streams = bidirectional(frame_bytes=frame_bytes)
    card = {"max_frame_bytes": FRAME_BYTES_MAX, "link_bps": 1_000_000_000}
    outcome = run_trial(start_engine(card_config(card, None, streams)), 0.2)
    check_law(outcome)
    assert outcome.losses() == {}
    assert outcome.of_kind("received") == outcome.of_kind("sent")


def test_burst_sends_as_many_as_asked(start_engine: StartEngine) -> None:
    streams = [stream(0, burst=12345), stream(1, burst=1)]
    outcome = run_trial(start_engine(card_config({}, None, streams)), 0.2)
    check_law(outcome)
    assert outcome.of_kind("sent") == 12346


@pytest.mark.smoke
def test_flows_are_spread_over_queues(start_engine: StartEngine) -> None:
    """Four queues: many flows reach them all, one flow one of them, MPLS as configured."""
    mpls = [
        {"ethernet": {}},
        {"mpls": {"label": 16}},
        {"ipv4": {}},
        {"udp": {}},
    ]
    for changes, card, used in (
        ({"modifiers": FLOWS}, {}, 4),
        ({}, {}, 1),
        ({"layers": mpls, "modifiers": FLOWS}, {"rss": {"mpls_inner": True}}, 4),
        ({"layers": mpls, "modifiers": FLOWS}, {"rss": {"mpls_inner": False}}, 1),
    ):
        streams = [stream(0, rate={"pps": 50_000}, **changes)]
        engine = start_engine(card_config({"rx_queues": 4, **card}, {"mode": "io"}, streams))
        outcome = run_trial(engine, 0.2)
        check_law(outcome)
        with engine.connect() as telemetry:
            rings = telemetry.table("/linerate/rings")
        filled = [r for r in rings if "_port0_rx" in r["name"] and r["enqueued"] > 0]
        assert len(filled) == used
        engine.stop()


def test_symmetric_key_joins_directions(start_engine: StartEngine) -> None:
    """Each flow and its reverse meet on the queue of the same number."""
    forward = stream(0, rate={"pps": 20_000}, modifiers=[FLOWS[1]])
    backward = stream(
        1,
        rate={"pps": 20_000},
        modifiers=[{"field": "udp.dst", "op": "random", "min": 1024, "max": 65535}],
    )
    backward["layers"][2] = {"udp": {"src": 12}}
    card = {"rx_queues": 4, "rss": {"symmetric": True}}
    engine = start_engine(card_config(card, {"mode": "io"}, [forward, backward]))
    check_law(run_trial(engine, 0.2))
    with engine.connect() as telemetry:
        rings = {r["name"]: r["enqueued"] for r in telemetry.table("/linerate/rings")}
    counts = [[rings[f"card0_port{port}_rx{q}"] for q in range(4)] for port in range(2)]
    assert counts[0] == counts[1]


def test_trials_can_follow_each_other(start_engine: StartEngine) -> None:
    engine = start_engine(card_config({"link_bps": 100_000_000}, {"mode": "io"}, bidirectional()))
    for scale_ppm in (1_000_000, 100_000, 500_000):
        outcome = run_trial(engine, 0.1, scale_ppm)
        check_law(outcome)
        asked = 2 * int(1e8 / 672 * scale_ppm / 1e6 * 0.1)
        assert outcome.of_kind("sent") == asked
    with engine.connect() as telemetry:
        for row in telemetry.table("/linerate/streams,0"):
            assert row["duplicated"] == row["out_of_order"] == row["corrupted"] == 0
