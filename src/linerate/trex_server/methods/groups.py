"""Packet groups: counters of streams by number, latency."""

import zlib
from typing import Annotated, Any

from pydantic import BaseModel, Field

from linerate.trex_server import latency
from linerate.trex_server.methods.parameters import Nothing
from linerate.trex_server.pg_rates import Member, counts, groups
from linerate.trex_server.rpc import method
from linerate.trex_server.server import Server
from linerate.trex_server.traffic_engine import StreamCounters, StreamLatency

#: Rates by the counter that they are of, and their factor: bytes as bits.
RATES = {"tps": ("tp", 1), "tbs": ("tb", 8), "rps": ("rp", 1), "rbs": ("rb", 8)}


class _Groups(BaseModel):
    pgids: Annotated[tuple[Annotated[int, Field(ge=0, lt=1 << 32)], ...], Field(max_length=1152)]


@method("get_active_pgids", Nothing)
def get_active_pgids(server: Server, _: Nothing) -> dict[str, Any]:
    """Numbers of groups, by kind."""
    found: dict[str, list[int]] = {"flow_stats": [], "latency": []}
    for number, members in groups(server.ports).items():
        found["latency" if _is_timed(members) else "flow_stats"].append(number)
    return {"ids": found}


def _is_timed(members: list[Member]) -> bool:
    return any(member.stream.is_latency for member in members)


@method("get_pgid_stats", _Groups)
def get_pgid_stats(server: Server, asked: _Groups) -> dict[str, Any]:
    """Counters of groups; numbers of none are left out."""
    known = groups(server.ports)
    chosen = {number: known[number] for number in asked.pgids if number in known}
    counters = server.engine.streams() if chosen else {}
    timed = {number: members for number, members in chosen.items() if _is_timed(members)}
    return {
        "ts": {"value": round(server.clock() * 1e6), "freq": 1_000_000},
        "ver_id": {str(number): _version(members) for number, members in chosen.items()},
        "flow_stats": {
            str(number): _flow(server, number, members, counters)
            for number, members in chosen.items()
        },
        "latency": _latencies(server, timed, counters),
    }


def _version(members: list[Member]) -> int:
    """Another number whenever counters began anew, or are of other streams: they never go back."""
    streams = sorted((member.profile.version, member.stream.name) for member in members)
    return zlib.crc32(repr(streams).encode())


def _flow(
    server: Server,
    number: int,
    members: list[Member],
    counters: Any,  # noqa: ANN401
) -> dict[str, dict[str, float]]:
    made: dict[str, dict[str, float]] = {
        key: dict(by_port) for key, by_port in counts(members, server.ports, counters).items()
    }
    for name, (key, factor) in RATES.items():
        made[name] = {
            port: factor * server.group_rates.rate(number, key, port) for port in made[key]
        }
    return made


def _latencies(
    server: Server,
    timed: dict[int, list[Member]],
    counters: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Latency of the first stream of each group: those of several ports are not merged."""
    first = {
        number: next(one.stream.name for one in members if one.stream.is_latency)
        for number, members in timed.items()
    }
    read = server.engine.latencies(first.values()) if first else {}
    made: dict[str, Any] = {}
    for number, name in first.items():
        found, count = read.get(name, StreamLatency()), counters.get(name, StreamCounters())
        last_max_us = server.latency_periods.last_max_us(name, found)
        made[str(number)] = {
            "lat": latency.document(found, last_max_us, server.options.hdrh),
            "er": {
                "drp": count.lost,
                "ooo": count.out_of_order,
                "dup": count.duplicated,
                "sth": 0,
                "stl": 0,
            },
        }
    return made
