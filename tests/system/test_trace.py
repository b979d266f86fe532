"""`linerate trace` of a live engine: each packet's way, node by node, and what is refused."""

from typing import Any

import pytest
from tests.command import result_of
from tests.schemas import valid_result
from tests.system import labs
from tests.system.conftest import StartEngine

from linerate.engine.engine_process import Engine
from linerate.engine.packet_trace import node_names
from linerate.engine.telemetry import RefusedError

MACS = ("02:00:00:00:01:00", "02:00:00:00:01:01")
HOSTS = ("02:00:00:00:02:00", "02:00:00:00:02:01")
ROUTER_CLI = f"""
set int state e0 up
set int state e1 up
set int ip address e0 16.0.0.254/24
set int ip address e1 100.64.2.1/30
ip route add 48.0.0.0/24 via 100.64.2.2
ip neighbor e1 100.64.2.2 {HOSTS[1]}
ip neighbor e0 16.0.0.1 {HOSTS[0]}
"""


def frame(name: str, destination: str, ttl: int) -> dict[str, Any]:
    return {
        "name": name,
        "frame_bytes": 64,
        "layers": [
            {"ethernet": {"src": HOSTS[0], "dst": MACS[0]}},
            {"ipv4": {"src": "16.0.0.1", "dst": destination, "ttl": ttl}},
            {"udp": {"src": 1025, "dst": 12}},
        ],
    }


@pytest.fixture
def engine(start_engine: StartEngine) -> Engine:
    """A router whose port receives three kinds of packets in turn, for ever."""
    frames = [
        frame("routed", "48.0.0.9", 64),
        frame("last hop", "48.0.0.9", 1),
        frame("no route", "99.0.0.1", 64),
    ]
    return start_engine(
        {
            "memory": {"megabytes": 256},
            "ports": [
                {"name": "e0", "driver": "replay", "mac": MACS[0], "count": 63, "frames": frames},
                {"name": "e1", "driver": "replay", "mac": MACS[1]},
            ],
            "forwarder": {
                "mode": "router",
                "ports": ["e0", "e1"],
                "router": {"cli": ROUTER_CLI},
            },
        }
    )


def trace(engine: Engine, *options: str) -> str:
    return labs.shown("trace", "--engine", engine.name, *options)


def hops(packet: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(hop["node"], hop["next"], hop["reason"]) for hop in packet["hops"]]


@pytest.mark.smoke
def test_each_packet_with_what_each_node_decided(engine: Engine) -> None:
    blocks = trace(engine, "--node", "ip4-input", "--count", "10").strip().split("\n\n")
    assert [block.split(" on ")[0] for block in blocks] == [f"Packet {n}" for n in range(1, 11)]
    (routed,) = {block.split("\n", 1)[1] for block in blocks if "> port-tx-e1" in block}
    lookup = next(line for line in routed.splitlines() if line.split()[0] == "ip4-lookup")
    assert "48.0.0.0/24: adjacency " in lookup
    assert "via 100.64.2.2 on e1" in lookup
    assert any("counted as: no route" in block for block in blocks)
    assert any("TTL 1" in block and "ip4-rewrite" in block for block in blocks)


def test_drops_with_their_reason_as_json(engine: Engine) -> None:
    packets = valid_result(
        "trace", trace(engine, "--node", "icmp4-error", "--count", "30", "--json")
    )
    assert len(packets) == 30
    assert all(hops(packet)[0][0] == "icmp4-error" for packet in packets)
    assert all(bytes.fromhex(packet["frame"])[12:14] == b"\x08\x00" for packet in packets)


def test_the_engine_forwards_on(engine: Engine) -> None:
    """A trace ends by itself, and the next one finds the engine as it was."""
    for _ in range(3):
        packets = result_of(trace(engine, "--node", "port-rx-e0-0", "--count", "100", "--json"))
        assert [hops(packet)[0][0] for packet in packets] == ["port-rx-e0-0"] * 100
    with engine.connect() as telemetry:
        before = telemetry.ask("/linerate/runtime,forwarder-0")["loops"]
        labs.wait_for(
            lambda: telemetry.ask("/linerate/runtime,forwarder-0")["loops"] > before + 1000
        )
        assert {"ethernet-input", "ip4-lookup", "ip4-rewrite"} <= set(node_names(telemetry))


def test_nodes_that_no_packet_comes_to(engine: Engine) -> None:
    shown = trace(engine, "--node", "arp-input", "--timeout", "0.3")
    assert "no packet came to arp-input in 0.3 s" in shown


def test_refused(engine: Engine) -> None:
    """Parameters that name no trace; the engine answers on."""
    refused = "the engine refused the command"
    cases = {
        "no-such-node,1": "there is no such node",
        "ip4-input,101": "expected a count from 1 to 100",
        "ip4-input,0": "expected a count from 1 to 100",
        "generator,1": "no worker walks that node",
        "ip4-input": refused,
        "ip4-input,-1": refused,
        "ip4-input,+1": refused,
        "ip4-input,99999": refused,
        "ip4-input,1,1": refused,
        "x" * 64 + ",1": refused,
        "": refused,
    }
    with engine.connect() as telemetry:
        for parameters, answer in cases.items():
            with pytest.raises(RefusedError, match=answer):
                telemetry.ask(f"/linerate/trace/start,{parameters}")
        for parameters in ("0", "x", "-1", "1,1", "99999"):
            with pytest.raises(RefusedError):
                telemetry.ask(f"/linerate/trace/read,{parameters}")
        assert telemetry.ask("/linerate/trace/stop")["traced"] == 0
