"""The IPv4 path over small and large tables of routes."""

import random
from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import Any

from bench.peers.frames import FRAMES_MAX, next_hop, one_core, router_cli, stream, varied
from bench.peers.model import Kind, Place
from bench.peers.path import path
from bench.peers.registry import register

MILLION = 1_000_000
FIRST_ROUTE = int(IPv4Address("16.0.0.0"))
TABLE_MEGABYTES = 1024

INTERNET_PREFIXES = 950_000
#: Shape of the Internet's table: prefixes by length; the rest of all are /24, and what
#: is longer is a tail that networks announce among themselves.
INTERNET_LENGTHS = {
    8: 16, 9: 14, 10: 37, 11: 100, 12: 300, 13: 580, 14: 1_200, 15: 2_100, 16: 13_500,
    17: 8_400, 18: 14_000, 19: 25_000, 20: 43_000, 21: 52_000, 22: 110_000, 23: 96_000,
    25: 700, 26: 700, 27: 600, 28: 600, 29: 800, 30: 900, 31: 200, 32: 2_500,
}  # fmt: skip
INTERNET_NEXT_HOPS = 8
#: First octets of no host, or of the router's own networks.
NOT_ROUTED = (0, 100, 127)
SEED = 950


def contiguous_routes() -> Iterator[str]:
    """A million /24 routes, one after the other."""
    for index in range(MILLION):
        prefix = IPv4Address(FIRST_ROUTE + index * 256)
        yield f"ip route add {prefix}/24 via {next_hop()}"


def internet_prefixes() -> list[tuple[int, int]]:
    """950,000 different prefixes with the Internet's lengths, spread over its whole space."""
    choose = random.Random(SEED)
    counts = dict(INTERNET_LENGTHS)
    counts[24] = INTERNET_PREFIXES - sum(counts.values())
    firsts = [octet for octet in range(1, 224) if octet not in NOT_ROUTED]
    found: list[tuple[int, int]] = []
    for length, count in sorted(counts.items()):
        seen: set[int] = set()
        while len(seen) < count:
            address = choose.choice(firsts) << 24 | choose.getrandbits(24)
            seen.add(address >> (32 - length) << (32 - length))
        found += [(address, length) for address in sorted(seen)]
    return found


def internet_routes() -> Iterator[str]:
    """Routes of such a table, through several neighbours, and a default route."""
    choose = random.Random(SEED)
    yield f"ip route add 0.0.0.0/0 via {next_hop()}"
    for address, length in internet_prefixes():
        via = next_hop(choose.randrange(INTERNET_NEXT_HOPS))
        yield f"ip route add {IPv4Address(address)}/{length} via {via}"


def _router(cli: str) -> dict[str, Any]:
    return {"mode": "router", "router": {"cli": cli}}


def _one_flow(place: Place) -> dict[str, Any]:
    cli = router_cli() + f"ip route add 48.0.0.0/24 via {next_hop()}\n"
    return one_core(place, _router(cli), [stream()])


def _thousand_flows(place: Place) -> dict[str, Any]:
    cli = router_cli() + f"ip route add 48.0.0.0/16 via {next_hop()}\n"
    flows = [varied("ipv4.dst", "increment", "48.0.0.1", "48.0.3.232")]
    return one_core(place, _router(cli), [stream(modifiers=flows)], count=1000)


def _million_routes(place: Place) -> dict[str, Any]:
    cli = router_cli() + "\n".join(contiguous_routes()) + "\n"
    last = str(IPv4Address(FIRST_ROUTE + MILLION * 256 - 1))
    frames = stream(modifiers=[varied("ipv4.dst", "random", str(IPv4Address(FIRST_ROUTE)), last)])
    return _large(one_core(place, _router(cli), [frames], FRAMES_MAX))


def _internet(place: Place) -> dict[str, Any]:
    cli = router_cli(INTERNET_NEXT_HOPS) + "\n".join(internet_routes()) + "\n"
    halves = (("1.0.0.0", "126.255.255.255"), ("128.0.0.0", "223.255.255.255"))
    frames = [stream(modifiers=[varied("ipv4.dst", "random", *half)]) for half in halves]
    return _large(one_core(place, _router(cli), frames, FRAMES_MAX))


def _large(config: dict[str, Any]) -> dict[str, Any]:
    config["memory"]["megabytes"] = TABLE_MEGABYTES
    return config


register(Kind("ipv4-1-flow", "IPv4 path, one flow", path(_one_flow)))
register(Kind("ipv4-1000-flows", "IPv4 path, 1,000 flows", path(_thousand_flows)))
register(Kind("ipv4-1m-routes", "IPv4 path, a million /24 routes", path(_million_routes)))
register(Kind("ipv4-internet", "IPv4 path, a table like the Internet's", path(_internet)))
