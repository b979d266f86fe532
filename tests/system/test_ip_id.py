"""Streams without room for a signature: counted by their IP headers, however they are received."""

from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.test_streams import ETHERNET, capture, checksums_are_right
from tests.system.test_tester_workers import over_memif, wait_for_links
from tests.system.trials import run_trial

from linerate.engine.engine_process import EngineError

LAYERS = stream(0)["layers"][:2]
#: A frame of 64 bytes has 6 of payload.
SMALL = {"count_by": "ip_id", "layers": [*LAYERS, {"tcp": {}}]}
FLOWS = {"flows": {"count": 1000, "order": "increment"}}


def check(engine: Any, names: list[str], loses: bool = False) -> None:
    """Two trials: the ledger is exact, and each stream has what came of it."""
    for _ in range(2):
        outcome = run_trial(engine, 0.4)
        assert outcome.unexplained == 0
        assert outcome.of_kind("sent") == outcome.of_kind("received") + sum(
            outcome.losses().values()
        )
        assert outcome.of_kind("other") == outcome.of_kind("duplicated") == 0
        assert loses or not outcome.losses()
    with engine.connect() as telemetry:
        rows = telemetry.table("/linerate/streams")
        places = telemetry.table("/linerate/streams/received")
        books = telemetry.table("/linerate/ledger")
    assert [row["name"] for row in rows] == names == [place["name"] for place in places]
    assert sum(row["sent"] for row in rows) == sum(
        row["packets"] for row in books if row["kind"] == "sent"
    )
    for row, place in zip(rows, places, strict=True):
        assert row["received"] == place["received"] > 0
        assert loses or row["sent"] == row["received"]
        assert row["rx_bytes"] == place["rx_bytes"] == 64 * row["received"]
        assert row["duplicated"] == row["out_of_order"] == row["corrupted"] == 0
    lost = sum(row["packets"] for row in books if row["kind"] == "loss")
    assert sum(row["sent"] - row["received"] for row in rows) == lost


@pytest.mark.smoke
def test_a_forwarder_between(start_engine: StartEngine) -> None:
    streams = [
        stream(0, name="small", rate={"percent": 3}, **SMALL, **FLOWS),
        stream(0, name="signed", rate={"percent": 2}),
        stream(1, name="back", rate={"percent": 3}, **SMALL),
    ]
    engine = start_engine(card_config({}, {"mode": "io"}, streams))
    check(engine, ["small", "signed", "back"], loses=True)


def test_losses_are_the_right_streams(start_engine: StartEngine) -> None:
    streams = [
        stream(side, name=f"s{side}-{number}", rate={"percent": 4}, **SMALL)
        for side in range(2)
        for number in range(3)
    ]
    engine = start_engine(card_config({"pps_ceiling": 1_000_000}, {"mode": "io"}, streams))
    check(engine, [one["name"] for one in streams], loses=True)


@pytest.mark.parametrize(("senders", "workers"), [(1, 2), (2, 3), (3, 5)])
def test_several_workers_and_senders(
    start_engine: StartEngine, tmp_path: Path, senders: int, workers: int
) -> None:
    config = over_memif(1, workers, tmp_path, rx_queues=senders, tx_queues=senders)
    config["tester"]["streams"] = [
        stream(0, name="flows", rate={"pps": 40_000}, **SMALL, **FLOWS),
        stream(0, name="signed", rate={"pps": 10_000}, **FLOWS),
        stream(1, name="one", rate={"pps": 30_000}, **SMALL),
    ]
    engine = start_engine(config)
    wait_for_links(engine)
    check(engine, ["flows", "signed", "one"])


def test_frames_are_as_described(start_engine: StartEngine, tmp_path: Path) -> None:
    packets = capture(
        start_engine,
        tmp_path,
        [
            {"rate": {"pps": 500}, "layers": [ETHERNET, {"ipv4": {}}, {"tcp": {}}]}
            | {"count_by": "ip_id", "frame_bytes": 64, **FLOWS},
            {"rate": {"pps": 500}, "layers": [ETHERNET, {"ipv6": {}}, {"tcp": {}}]}
            | {"count_by": "ip_id", "frame_bytes": 80},
        ],
    )
    assert all(checksums_are_right(packet) for packet in packets)
    assert {packet[IP].id for packet in packets if IP in packet} == {65535}
    assert {packet[IPv6].fl for packet in packets if IPv6 in packet} == {65534}


def test_what_would_be_taken_for_another_is_refused(start_engine: StartEngine) -> None:
    other = stream(0, signature=False, layers=[LAYERS[0], {"ipv4": {"id": 65535}}, {"tcp": {}}])
    config = card_config({}, {"mode": "io"}, [stream(0, **SMALL), other])
    with pytest.raises(EngineError) as refused:
        start_engine(config)
    assert "tester.streams[1]: streams" in str(refused.value)
    assert "the other one's are counted by" in str(refused.value)
