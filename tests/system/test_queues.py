"""Queues, rings and RSS that a port asks for, and what its device takes."""

from typing import Any

import pytest
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.namespaces import needs_namespaces
from tests.system.test_socket_drivers import Wires, port, wires
from tests.system.trials import run_trial

from linerate.engine.engine_process import Engine, EngineError
from linerate.engine.readings import read_queues

__all__ = ["wires"]

SECONDS = 0.3
FLOWS = [{"field": "udp.src", "op": "increment", "min": 1, "max": 200}]


def received_by_worker(engine: Engine) -> tuple[dict[str, int], int]:
    """Packets that each forwarder's worker took from the port e0, and calls of hand-off nodes."""
    taken: dict[str, int] = {}
    handed_over = 0
    with engine.connect() as telemetry:
        for row in telemetry.table("/linerate/workers"):
            if row["role"] != "forwarder":
                continue
            runtime = telemetry.ask(f"/linerate/runtime,{row['name']}")
            nodes = zip(runtime["node"], runtime["calls"], runtime["vectors"], strict=True)
            for node, calls, vectors in nodes:
                if "handoff" in node:
                    handed_over += calls
                if node.startswith("port-rx-e0"):
                    taken[row["name"]] = taken.get(row["name"], 0) + vectors
    return taken, handed_over


def check_spread(engine: Engine) -> None:
    outcome = run_trial(engine, SECONDS)
    assert outcome.unexplained == 0
    taken, handed_over = received_by_worker(engine)
    assert len(taken) == 2
    assert all(taken.values()), taken
    assert handed_over == 0


@pytest.mark.smoke
def test_a_card_with_four_queues_feeds_two_workers_without_hand_off(
    start_engine: StartEngine,
) -> None:
    forwarder = {"mode": "io", "workers": 2}
    streams = [stream(0, rate={"pps": 50_000}, modifiers=FLOWS)]
    engine = start_engine(card_config({"rx_queues": 4, "rx_ring": 512}, forwarder, streams))
    check_spread(engine)
    with engine.connect() as telemetry:
        queues = read_queues(telemetry)["e0"]
    assert (queues.rx_queues, queues.rx_ring, queues.tx_ring) == (4, 512, 1024)


@needs_namespaces
def test_a_virtual_device_with_four_queues_does_too(
    start_engine: StartEngine, wires: Wires
) -> None:
    asked = {"rx_queues": 4, "tx_queues": 4, "rx_ring": 256}
    duts = [
        port(f"e{n}", "net_af_packet", far, wires.dut, **asked)
        for n, (_, far) in enumerate(wires.names)
    ]
    for one in duts:
        one["devargs"] += ",qpairs=4"
    testers = wires.testers("socket-mmap")
    engine = start_engine(
        {
            "memory": {"megabytes": 256},
            "ports": [*duts, *testers],
            "forwarder": {"mode": "io", "ports": ["e0", "e1"], "workers": 2},
            "tester": {
                "ports": ["t0", "t1"],
                "streams": [stream(0, rate={"pps": 4000}, modifiers=FLOWS)],
            },
        }
    )
    check_spread(engine)
    with engine.connect() as telemetry:
        queues = read_queues(telemetry)["e0"]
        counters = telemetry.ask("/linerate/port,e0")
    assert (queues.rx_queues, queues.tx_queues, queues.rx_ring) == (4, 4, 256)
    each = [counters[f"rx_queue{q}_packets"] for q in range(4)]
    assert sum(each) == counters["rx_packets"]
    assert sum(map(bool, each)) > 1


def rx_only(**changes: Any) -> dict[str, Any]:
    return {
        "memory": {"megabytes": 128},
        "ports": [{"name": "e0", "driver": "ethdev", "device": "net_null0", **changes}],
        "forwarder": {"mode": "rxonly", "ports": ["e0"], "workers": 2},
    }


def test_fields_of_the_hash_are_as_asked(start_engine: StartEngine) -> None:
    with start_engine(rx_only(rx_queues=2, rss=["ipv4", "ipv6"])).connect() as telemetry:
        assert read_queues(telemetry)["e0"].rss == "ipv4, ipv6"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"rx_queues": 17}, "ports[0].rx_queues: expected a whole number from 1 to 16"),
        ({"tx_queues": 1}, "tx_queues: 1 are too few for 2 workers, which have one each"),
        ({"rx_ring": 0}, "ports[0].rx_ring: expected a whole number from 1 to 32768"),
        ({"rx_queues": 2, "rss": ["ip"]}, "ports[0].rss[0]: expected one of: ipv4, ipv4-frag"),
        ({"rx_queues": 2, "rss": []}, "ports[0].rss: expected one field or more"),
        ({"rss": ["ipv4"]}, 'there is one rx queue: expected "rx_queues" of 2 or more'),
    ],
)
def test_what_a_device_does_not_take_is_refused(
    start_engine: StartEngine, changes: dict[str, Any], text: str
) -> None:
    with pytest.raises(EngineError) as refused:
        start_engine(rx_only(**changes))
    assert text in str(refused.value)


@needs_namespaces
def test_too_few_queues_are_named(start_engine: StartEngine, wires: Wires) -> None:
    one = port("e0", "net_af_packet", wires.names[0][1], wires.dut, rx_queues=2)
    with pytest.raises(EngineError) as refused:
        start_engine(rx_only() | {"ports": [one]})
    assert "net_af_packet has 1 rx and 1 tx queues, 2 (rx_queues) and 2 (one a worker)" in str(
        refused.value
    )
