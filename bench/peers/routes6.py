"""The IPv6 path over a table of routes shaped like the Internet's."""

import random
from collections.abc import Iterator
from ipaddress import IPv6Address
from typing import Any

from bench.peers.frames import FRAMES_MAX, one_core, stream
from bench.peers.model import Kind, Place
from bench.peers.path import path
from bench.peers.registry import register
from linerate.model.suites import DUT_MACS, TESTER_MACS

PREFIXES = 200_000
#: Shape of the Internet's table: prefixes of each length per thousand; the rest of all are /48.
#: Some longer ones stand for prefixes that networks announce internally.
LENGTHS_PER_THOUSAND = {
    29: 26, 30: 5, 31: 2, 32: 150, 33: 22, 34: 20, 35: 12, 36: 65, 37: 6, 38: 13, 39: 7,
    40: 95, 41: 4, 42: 18, 43: 6, 44: 85, 45: 5, 46: 25, 47: 18, 56: 1, 64: 3, 128: 3,
}  # fmt: skip
#: Networks get a /32 or more of a registry's block, one beside the other.
BLOCKS = (0x20010000, 0x24000000, 0x26000000, 0x28000000, 0x2A000000, 0x2C000000)
NETWORKS_PER_BLOCK = 8192
NEXT_HOPS = 8
SEED = 950
MEGABYTES = 1024


def next_hop(index: int) -> str:
    """Address of a neighbour of r1."""
    return f"2001:db8:0:2::{2 + index:x}"


def prefixes() -> list[tuple[int, int]]:
    """200,000 different prefixes: numbers of 128 bits, and lengths."""
    choose = random.Random(SEED)
    counts = {length: PREFIXES * share // 1000 for length, share in LENGTHS_PER_THOUSAND.items()}
    counts[48] = PREFIXES - sum(counts.values())
    found: list[tuple[int, int]] = []
    for length, count in sorted(counts.items()):
        seen: set[int] = set()
        while len(seen) < count:
            network = choose.choice(BLOCKS) + choose.randrange(NETWORKS_PER_BLOCK)
            address = network << 96 | choose.getrandbits(96)
            seen.add(address >> (128 - length) << (128 - length))
        found += [(address, length) for address in sorted(seen)]
    return found


def routes() -> Iterator[str]:
    """Routes of such a table, through several neighbours, and a default route."""
    choose = random.Random(SEED)
    yield f"ip route add ::/0 via {next_hop(0)}"
    for address, length in prefixes():
        via = next_hop(choose.randrange(NEXT_HOPS))
        yield f"ip route add {IPv6Address(address)}/{length} via {via}"


def _router_cli() -> str:
    lines = [
        "set int state r0 up",
        "set int state r1 up",
        "set int ip address r0 2001:db8:0:1::1/64",
        "set int ip address r1 2001:db8:0:2::1/64",
    ]
    lines += [
        f"ip neighbor r1 {next_hop(index)} {TESTER_MACS[1][:-2]}{0x71 + index:02x}"
        for index in range(NEXT_HOPS)
    ]
    return "\n".join([*lines, *routes()]) + "\n"


def destinations(count: int) -> list[IPv6Address]:
    """Random addresses, each within a prefix chosen at random."""
    choose = random.Random(SEED + 1)
    chosen = choose.choices(prefixes(), k=count)
    return [
        IPv6Address(address >> (128 - length) << (128 - length) | choose.getrandbits(128) >> length)
        for address, length in chosen
    ]


def _frames(destination: IPv6Address) -> dict[str, Any]:
    layers = [
        {"ethernet": {"src": TESTER_MACS[0], "dst": DUT_MACS[0]}},
        {"ipv6": {"src": "2001:db8:0:1::2", "dst": str(destination)}},
    ]
    return stream(layers=layers, signature=False)


def _ip6(place: Place) -> dict[str, Any]:
    frames = [_frames(destination) for destination in destinations(FRAMES_MAX)]
    forwarder = {"mode": "router", "router": {"cli": _router_cli()}}
    config = one_core(place, forwarder, frames, FRAMES_MAX)
    config["memory"]["megabytes"] = MEGABYTES
    return config


register(Kind("ipv6", f"IPv6 path, {PREFIXES:,} routes, random destinations", path(_ip6)))
