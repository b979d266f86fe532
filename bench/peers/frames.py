"""Ports, streams and routers that the benchmarks share."""

from typing import Any

from bench.peers.model import Place
from linerate.model.suites import DUT_MACS, TESTER_MACS

#: Frames that a replay port can hold at most.
FRAMES_MAX = 65536
#: The router's next hops: neighbours of r1, from 100.64.2.2 on.
NEXT_HOP_BASE = 2

Layers = list[dict[str, Any]]
Modifiers = list[dict[str, Any]]


def stream(
    ends: tuple[int, int] = (0, 1),
    modifiers: Modifiers | None = None,
    **changes: Any,  # noqa: ANN401 (keys of a stream)
) -> dict[str, Any]:
    """64-byte UDP frames as fast as can be, from tester port `ends[0]` to `ends[1]`."""
    source, sink = ends
    return {
        "port": f"t{source}",
        "rx_port": f"t{sink}",
        "frame_bytes": 64,
        "rate": {"max": True},
        "layers": layers(source, sink),
        "modifiers": modifiers or [],
        **changes,
    }


def layers(source: int = 0, sink: int = 1, label: int | None = None) -> Layers:
    """Ethernet, a label if there is one, IPv4 and UDP."""
    networks = ("16.0.0.1", "48.0.0.1")
    mpls = [] if label is None else [{"mpls": {"label": label, "ttl": 64}}]
    return [
        {"ethernet": {"src": TESTER_MACS[source], "dst": DUT_MACS[source]}},
        *mpls,
        {"ipv4": {"src": networks[source], "dst": networks[sink], "ttl": 64}},
        {"udp": {"src": 1025, "dst": 12}},
    ]


def varied(field: str, op: str, low: int | str, high: int | str) -> dict[str, Any]:
    """Vary one field."""
    return {"field": field, "op": op, "min": low, "max": high}


def replay(index: int, streams: list[dict[str, Any]], count: int = 1024) -> dict[str, Any]:
    """Port r0 or r1; without streams it only takes frames."""
    # A stream of a replay port has no port of its own to name.
    frames = [{k: v for k, v in one.items() if k not in {"port", "rx_port"}} for one in streams]
    port = {"name": f"r{index}", "driver": "replay", "mac": DUT_MACS[index], "frames": frames}
    return port | ({"count": count} if frames else {})


def one_core(
    place: Place, forwarder: dict[str, Any], frames: list[dict[str, Any]], count: int = 1024
) -> dict[str, Any]:
    """A forwarder between two replay ports; frames go from r0 to r1."""
    return {
        "memory": {"pages": place.pages, "megabytes": 256},
        "ports": [replay(0, frames, count), replay(1, [])],
        "forwarder": {"ports": ["r0", "r1"], **forwarder},
    }


def router_cli(next_hops: int = 1) -> str:
    """Interfaces and neighbours of the router between r0 and r1."""
    lines = [
        "set int state r0 up",
        "set int state r1 up",
        "set int ip address r0 100.64.1.1/24",
        "set int ip address r1 100.64.2.1/24",
    ]
    lines += [
        f"ip neighbor r1 {next_hop(index)} {TESTER_MACS[1][:-2]}{0x71 + index:02x}"
        for index in range(next_hops)
    ]
    return "\n".join(lines) + "\n"


def next_hop(index: int = 0) -> str:
    """Address of a neighbour of r1."""
    return f"100.64.2.{NEXT_HOP_BASE + index}"
