"""Testers of several workers: the books are exact, whatever the number of workers and ports."""

import time
from typing import Any

import pytest
from tests.system.configs import stream
from tests.system.conftest import StartEngine
from tests.system.trials import run_trial

from linerate.engine.engine_process import Engine

SECONDS = 0.4
#: More than one CPU can send when all workers have one together.
RATE = {"percent": 2}


def over_cards(cards: int, workers: int) -> dict[str, Any]:
    """A tester on the bare links of as many cards, two ports each."""
    ports = [
        {"name": f"t{2 * card + i}", "driver": "wire", "card": f"card{card}", "index": i}
        for card in range(cards)
        for i in range(2)
    ]
    streams = [
        {**stream(i % 2, rate=RATE), "port": f"t{i}", "rx_port": f"t{i ^ 1}", "name": f"s{i}"}
        for i in range(2 * cards)
    ]
    return {
        "memory": {"megabytes": 512},
        "cards": [{"name": f"card{card}", "host": "shunt"} for card in range(cards)],
        "ports": ports,
        "tester": {"workers": workers, "ports": [p["name"] for p in ports], "streams": streams},
    }


def over_memif(pairs: int, workers: int, folder: Any) -> dict[str, Any]:
    """A tester whose ports are the two ends of memif links."""
    config = over_cards(pairs, workers)
    del config["cards"]
    config["ports"] = [
        {
            "name": f"t{i}",
            "driver": "ethdev",
            "device": f"net_memif{i}",
            "devargs": f"role={'client' if i % 2 else 'server'},id={i // 2},"
            f"socket={folder}/memif.sock,socket-abstract=no",
            "link_bps": 10_000_000_000,
        }
        for i in range(2 * pairs)
    ]
    return config


def wait_for_links(engine: Engine) -> None:
    """Both ends of a memif connect a moment after they are there."""
    deadline = time.monotonic() + 60
    with engine.connect() as telemetry:
        while any(row["state"] != "up" for row in telemetry.table("/linerate/links")):
            assert time.monotonic() < deadline, "a link does not come up"
            time.sleep(0.05)


def check(start_engine: StartEngine, config: dict[str, Any], workers: int) -> None:
    engine = start_engine(config)
    wait_for_links(engine)
    for _ in range(2):
        outcome = run_trial(engine, SECONDS)
        assert outcome.unexplained == 0
        assert outcome.of_kind("sent") == outcome.status["sent_packets"] > 0
        assert outcome.of_kind("duplicated") == outcome.of_kind("corrupted") == 0
        assert outcome.of_kind("other") == 0
        asked = outcome.status["asked_packets"]
        assert outcome.of_kind("sent") == pytest.approx(asked, abs=len(config["ports"]))
    with engine.connect() as telemetry:
        rows = telemetry.table("/linerate/streams")
        roles = [row["role"] for row in telemetry.table("/linerate/workers")]
        books = telemetry.table("/linerate/ledger")
    assert roles == ["tester"] * workers
    assert len(rows) == len(config["ports"])
    for row in rows:
        assert row["out_of_order"] == row["duplicated"] == row["corrupted"] == 0
        assert row["sent"] >= row["received"] > 0
    lost = sum(row["packets"] for row in books if row["kind"] == "loss")
    assert sum(row["sent"] - row["received"] for row in rows) == lost


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
@pytest.mark.parametrize("cards", [1, 2, 4])
def test_cards(start_engine: StartEngine, cards: int, workers: int) -> None:
    check(start_engine, over_cards(cards, workers), workers)


@pytest.mark.parametrize(("pairs", "workers"), [(1, 1), (1, 2), (2, 3), (2, 5), (4, 3)])
def test_memif(start_engine: StartEngine, tmp_path: Any, pairs: int, workers: int) -> None:
    check(start_engine, over_memif(pairs, workers, tmp_path), workers)
