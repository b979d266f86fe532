"""Testers of several workers: the books are exact, whatever the number of workers and senders."""

import time
from typing import Any

import pytest
from tests.system.configs import stream
from tests.system.conftest import StartEngine
from tests.system.namespaces import needs_namespaces
from tests.system.test_socket_drivers import Wires, wires
from tests.system.test_socket_drivers import port as socket_port
from tests.system.trials import run_trial

from linerate.engine.engine_process import Engine, EngineError

__all__ = ["wires"]

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


def over_memif(pairs: int, workers: int, folder: Any, **queues: int) -> dict[str, Any]:
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
            **queues,
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


def flows(count: int) -> dict[str, Any]:
    return {"count": count, "order": "increment"}


#: By name: what a port sends.
TRAFFIC: dict[str, list[dict[str, Any]]] = {
    "one flow": [{"rate": {"pps": 50_000}}],
    "1000 flows": [{"rate": {"pps": 50_000}, "flows": flows(1000)}],
    "slow": [{"rate": {"pps": 5000}, "flows": flows(1000)}],
    "imix": [
        {"frame_bytes": size, "rate": {"pps": 4000 * weight}, "flows": flows(500)}
        for size, weight in ((64, 7), (594, 4), (1518, 1))
    ],
    "latency beside flows": [
        {"rate": {"pps": 40_000}, "flows": flows(1000)},
        {"frame_bytes": 128, "rate": {"pps": 1000}, "latency": True},
    ],
    "a count": [{"rate": {"pps": 20_000}}, {"rate": {"pps": 10_000}, "burst": 777}],
}


def with_traffic(config: dict[str, Any], traffic: str) -> dict[str, Any]:
    """The same, its ports sending that to their neighbours."""
    ports = config["tester"]["ports"]
    config["tester"]["streams"] = [
        {
            **stream(at % 2),
            "port": port,
            "rx_port": ports[at ^ 1],
            "name": f"{port}-{number}",
            **changes,
        }
        for at, port in enumerate(ports)
        for number, changes in enumerate(TRAFFIC[traffic])
    ]
    return config


def check_senders(engine: Engine, config: dict[str, Any], senders: int) -> list[dict[str, Any]]:
    """Run trials; return what became of each stream."""
    wait_for_links(engine)
    trials = 2
    for _ in range(trials):
        outcome = run_trial(engine, SECONDS)
        assert outcome.unexplained == 0
        assert outcome.losses() == {}
        assert outcome.of_kind("sent") == outcome.of_kind("received")
        for kind in ("duplicated", "corrupted", "other"):
            assert outcome.of_kind(kind) == 0
        asked = outcome.status["asked_packets"]
        # A frame more or less at each schedule's end.
        ends = senders * len(config["ports"])
        assert outcome.of_kind("sent") == pytest.approx(asked, abs=ends)
        assert asked == pytest.approx(due(config), abs=ends)
    with engine.connect() as telemetry:
        answer = telemetry.ask("/linerate/streams")
        rows = telemetry.table("/linerate/streams")
        places = telemetry.table("/linerate/streams/received")
    names = [one["name"] for one in config["tester"]["streams"]]
    assert [row["name"] for row in rows] == names
    assert answer["total"] == len(names)
    assert [row["name"] for row in places] == names
    for row, place in zip(rows, places, strict=True):
        assert row["sent"] == row["received"] == place["received"] > 0
        assert row["lost"] == row["duplicated"] == row["out_of_order"] == row["corrupted"] == 0
    return rows


def made_by_node(engine: Engine) -> dict[str, int]:
    """Frames that each node of the tester's workers took or made."""
    with engine.connect() as telemetry:
        workers = [row["name"] for row in telemetry.table("/linerate/workers")]
        return {
            row["node"]: row["vectors"]
            for worker in workers
            for row in telemetry.table(f"/linerate/runtime,{worker}")
        }


def due(config: dict[str, Any]) -> float:
    """Frames of a trial."""
    return sum(
        min(float(one["rate"]["pps"]) * SECONDS, float(one.get("burst", "inf")))
        for one in config["tester"]["streams"]
    )


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
@pytest.mark.parametrize("senders", [2, 3])
@pytest.mark.parametrize("pairs", [1, 2])
def test_senders(
    start_engine: StartEngine, tmp_path: Any, pairs: int, senders: int, workers: int
) -> None:
    config = over_memif(pairs, workers, tmp_path, rx_queues=senders, tx_queues=senders)
    config = with_traffic(config, "latency beside flows")
    engine = start_engine(config)
    sent = {row["name"]: row["sent"] for row in check_senders(engine, config, senders)}
    with engine.connect() as telemetry:
        timed = telemetry.table("/linerate/latency/figures,0")
    wanted = {f"generator-{name}" for name in config["tester"]["ports"]}
    wanted |= {f"{name}-{number}" for name in wanted for number in range(1, senders)}
    assert wanted <= set(made_by_node(engine))
    assert len(timed) == 2 * pairs
    # The last of two trials. Where workers share CPUs, a frame may have been under way while one
    # of them had to wait for its turn.
    for row in timed:
        counted = row["count"] + row["disturbed_count"]
        assert counted == pytest.approx(sent[row["name"]] / 2, abs=1)


@pytest.mark.parametrize("senders", [2, 3])
@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic_of_senders(
    start_engine: StartEngine, tmp_path: Any, traffic: str, senders: int
) -> None:
    config = over_memif(1, 3, tmp_path, rx_queues=senders, tx_queues=senders)
    config = with_traffic(config, traffic)
    rows = check_senders(start_engine(config), config, senders)
    for row, one in zip(rows, config["tester"]["streams"], strict=True):
        if "burst" in one:
            assert row["sent"] == 2 * one["burst"]


@needs_namespaces
@pytest.mark.parametrize("driver", ["socket-mmap", "socket-vector", "socket-single", "libpcap"])
def test_senders_on_sockets(start_engine: StartEngine, wires: Wires, driver: str) -> None:
    near, far = wires.names[0]
    config = {
        "memory": {"megabytes": 512},
        "ports": [
            socket_port("t0", driver, near, wires.tester, tx_queues=2),
            socket_port("t1", driver, far, wires.dut, tx_queues=2),
        ],
        "tester": {"workers": 4, "ports": ["t0", "t1"]},
    }
    check_senders(start_engine(with_traffic(config, "slow")), config, 2)


def test_ports_of_several_workers_answer(start_engine: StartEngine, tmp_path: Any) -> None:
    config = with_traffic(over_memif(1, 3, tmp_path, rx_queues=2, tx_queues=2), "one flow")
    config["tester"]["addresses"] = [
        {"port": f"t{port}", "address": f"10.0.0.{1 + port}/24"} for port in range(2)
    ]
    engine = start_engine(config)
    check_senders(engine, config, 2)
    with engine.connect() as telemetry:
        macs = {row["name"]: row["mac"] for row in telemetry.table("/linerate/ports")}
        for port in range(2):
            found = telemetry.ask(f"/linerate/resolve,t{port},10.0.0.{2 - port}")
            assert found["mac"].lower() == macs[f"t{port ^ 1}"].lower()


def test_each_sender_has_its_share(start_engine: StartEngine, tmp_path: Any) -> None:
    config = with_traffic(over_memif(1, 3, tmp_path, rx_queues=3, tx_queues=3), "1000 flows")
    engine = start_engine(config)
    rows = check_senders(engine, config, 3)
    nodes = made_by_node(engine)
    made = [count for node, count in nodes.items() if node.startswith("tester-tx-t0")]
    assert len(made) == 3
    # 334, 333 and 333 flows, a frame each in turn.
    parts = [334, 333, 333]
    for count, part in zip(sorted(made, reverse=True), parts, strict=True):
        assert count == pytest.approx(rows[0]["sent"] * part / 1000, abs=2)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            {
                "cards": [{"name": "card0", "host": "shunt"}],
                "ports": [
                    {"name": "t0", "driver": "wire", "card": "card0", "index": 0, "tx_queues": 2}
                ],
                "tester": {"ports": ["t0"], "streams": []},
            },
            "ports[0].tx_queues: one worker sends to a virtual card: expected 1, or more cards",
        ),
    ],
)
def test_what_has_one_sender_is_refused(
    start_engine: StartEngine, config: dict[str, Any], text: str
) -> None:
    with pytest.raises(EngineError) as refused:
        start_engine(config)
    assert text in str(refused.value)
