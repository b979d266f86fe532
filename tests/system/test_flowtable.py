"""Forwarding mode `flowtable` with the real engine: each packet passes, each flow has a record."""

from typing import Any

import pytest
from tests.schemas import valid_result
from tests.system import labs
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.trials import Ledger, Outcome, read_ledger, run_trial

from linerate.engine.engine_process import Engine, EngineError

FLOWS = 250


def both_directions(protocol: str = "udp", **changes: Any) -> list[dict[str, Any]]:
    """One stream a direction, of the same flows."""
    streams = []
    for source in range(2):
        field = "src" if source == 0 else "dst"
        vary = {"field": f"ipv4.{field}", "op": "increment", "min": "16.0.0.1"}
        made = stream(
            source, rate={"pps": 20_000}, modifiers=[vary | {"max": f"16.0.0.{FLOWS}"}], **changes
        )
        ports = {"src": 1000, "dst": 2000} if source == 0 else {"src": 2000, "dst": 1000}
        made["layers"][2] = {protocol: ports}
        streams.append(made)
    return streams


def forwarder(workers: int = 1, **flowtable: Any) -> dict[str, Any]:
    # A busy machine may take its time between a trial and the question.
    timeouts = {"idle_ms": 3_600_000}
    return {"mode": "flowtable", "workers": workers, "flowtable": timeouts | flowtable}


def read_flows(engine: Engine, parameters: str = "top=50,by=packets") -> dict[str, Any]:
    with engine.connect() as telemetry:
        answer: dict[str, Any] = telemetry.ask(f"/linerate/flows,{parameters}")
    return answer


def read_received(engine: Engine) -> int:
    """Count what came in: a busy machine may lose some of it behind the table."""
    with engine.connect() as telemetry:
        return sum(int(telemetry.ask(f"/linerate/port,{p}")["rx_packets"]) for p in ("e0", "e1"))


def check_law(outcome: Outcome) -> None:
    assert outcome.status["drained"] == 1
    assert outcome.unexplained == 0
    assert outcome.of_kind("sent") > 0
    assert outcome.of_kind("received") + sum(outcome.losses().values()) == outcome.of_kind("sent")


@pytest.mark.parametrize("protocol", ["udp", "tcp"])
@pytest.mark.smoke("udp")
def test_both_directions_are_one_flow(start_engine: StartEngine, protocol: str) -> None:
    engine = start_engine(card_config({}, forwarder(), both_directions(protocol, frame_bytes=90)))
    outcome = run_trial(engine, 0.2)
    check_law(outcome)
    found = read_flows(engine)
    assert found["flows"] == found["created"] == FLOWS
    assert found["packets"] == read_received(engine)
    assert set(found["protocol"]) == {protocol}
    each = outcome.of_kind("sent") / FLOWS / 2
    for low, high in zip(found["packets_low"], found["packets_high"], strict=True):
        assert 0 < low <= each + 1
        assert 0 < high <= each + 1
    # Frames are counted without their FCS.
    assert found["bytes_low"][0] == 86 * found["packets_low"][0]
    assert all(low.startswith("16.0.0.") and low.endswith(":1000") for low in found["low"])
    assert set(found["high"]) == {"48.0.0.1:2000"}


@pytest.mark.parametrize(("workers", "queues"), [(2, 2), (4, 4), (2, 1), (3, 2), (2, 4)])
def test_both_directions_come_to_one_worker(
    start_engine: StartEngine, workers: int, queues: int
) -> None:
    card = {"rx_queues": queues}
    engine = start_engine(card_config(card, forwarder(workers), both_directions()))
    outcome = run_trial(engine, 0.2)
    check_law(outcome)
    found = read_flows(engine)
    assert found["flows"] == FLOWS
    assert found["packets"] == read_received(engine)


def test_labels_and_tags_are_skipped(start_engine: StartEngine) -> None:
    streams = both_directions()
    for made in streams:
        made["layers"].insert(1, {"vlan": {"id": 7}})
    streams[1]["layers"].insert(2, {"mpls": {"label": 16}})
    engine = start_engine(card_config({}, forwarder(), streams))
    check_law(run_trial(engine, 0.1))
    assert read_flows(engine)["flows"] == FLOWS


def test_flows_end_when_they_are_idle(start_engine: StartEngine) -> None:
    engine = start_engine(card_config({}, forwarder(idle_ms=300), both_directions()))
    check_law(run_trial(engine, 0.2))
    labs.wait_for(lambda: read_flows(engine, "top=0")["flows"] == 0)
    found = read_flows(engine, "top=0")
    # Where a busy machine paused the trial for longer, they ended in its midst, and came again.
    assert found["ended_idle"] == found["created"] >= FLOWS


def test_a_full_table_forwards_all_the_same(start_engine: StartEngine) -> None:
    many = {"field": "udp.src", "op": "increment", "min": 1, "max": 4000}
    # At a rate at which the card's ring holds what comes in 200 ms.
    streams = [stream(0, rate={"pps": 5_000}, modifiers=[many])]
    engine = start_engine(card_config({}, forwarder(flows=1024), streams))
    outcome = run_trial(engine, 1)
    check_law(outcome)
    found = read_flows(engine)
    assert found["flows"] == found["capacity"] == found["created"] == 1024
    assert found["not_recorded_full"] > 0
    recorded = sum(found["packets_low"]) + sum(found["packets_high"])
    assert 0 < recorded < outcome.of_kind("received")


def replay_config(**more: Any) -> dict[str, Any]:
    frames = both_directions()[0]
    del frames["port"], frames["rx_port"], frames["rate"]
    ports = [
        {"name": "e0", "driver": "replay", "frames": [frames]},
        {"name": "e1", "driver": "replay"},
    ]
    return {
        "memory": {"megabytes": 256},
        "ports": ports,
        "forwarder": {"mode": "flowtable", "ports": ["e0", "e1"], **more},
    }


def test_replayed_packets(start_engine: StartEngine) -> None:
    engine = start_engine(replay_config())
    labs.wait_for(lambda: read_flows(engine)["flows"] == FLOWS)
    labs.wait_for(lambda: min(read_flows(engine)["pps"]) > 0)
    found = read_flows(engine)
    assert found["flows"] == FLOWS
    assert found["packets"] > 0
    # Packets in flight between the two counters are a few vectors; other work may run between their
    # readings, but not each time.
    with engine.connect() as telemetry:
        labs.wait_for(lambda: abs(not_received(read_ledger(telemetry))) <= 4 * 256)


def not_received(ledger: Ledger) -> int:
    by_kind = {kind: sum(n for (_, k), n in ledger.items() if k == kind) for _, kind in ledger}
    return by_kind["sent"] - by_kind["received"]


def test_without_hand_off_rss_must_do_it(start_engine: StartEngine) -> None:
    with pytest.raises(EngineError, match="flowtable needs"):
        start_engine(replay_config(workers=2, handoff="off"))
    engine = start_engine(replay_config(workers=2))
    labs.wait_for(lambda: read_flows(engine)["flows"] == FLOWS)


def test_show_flows(start_engine: StartEngine) -> None:
    engine = start_engine(card_config({}, forwarder(), both_directions("tcp", frame_bytes=90)))
    run_trial(engine, 0.1)

    def show(*options: str) -> str:
        return labs.shown("show", "flows", "--engine", engine.name, *options)

    text = show("--top", "3", "--by", "bytes")
    assert f"{FLOWS} of 1,048,576 flows" in text
    assert len([line for line in text.splitlines() if line.startswith("tcp ")]) == 3
    found = valid_result("show-flows", show("--json", "--top", "5"))
    assert found["flows"] == FLOWS
    assert len(found["flow"]) == 5
    assert found["flow"][0]["rules"] == "none"
