"""Packet groups (PGIDs): streams of a number on all ports, counted and timed together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linerate.trex_server.smoothing import Smoothed
from linerate.trex_server.traffic_engine import StreamCounters

if TYPE_CHECKING:
    from linerate.trex_server.port import Port
    from linerate.trex_server.profiles import Profile, Stream
    from linerate.trex_server.server import Server

#: Directions of a group's counters at a port.
FIELDS = ("tp", "tb", "rp", "rb")


@dataclass(frozen=True, slots=True)
class Member:
    """A stream of a group."""

    port: Port
    profile: Profile
    stream: Stream


def groups(ports: Iterable[Port]) -> dict[int, list[Member]]:
    """Streams by their number, of those that have one."""
    found: dict[int, list[Member]] = {}
    for port in ports:
        for profile, _, stream in port.streams():
            if stream.pg_id is not None:
                found.setdefault(stream.pg_id, []).append(Member(port, profile, stream))
    return found


def counts(
    members: Iterable[Member], ports: Iterable[Port], counters: Mapping[str, StreamCounters]
) -> dict[str, dict[str, int]]:
    """`tp`, `tb`, `rp`, `rb` by port number: frames and bytes sent and received."""
    ports = list(ports)
    made = {key: {str(port.number): 0 for port in ports} for key in FIELDS}
    numbers = {port.info.name: str(port.number) for port in ports}
    for member in members:
        count = counters.get(member.stream.name, StreamCounters())
        here = str(member.port.number)
        made["tp"][here] += count.sent
        made["tb"][here] += count.sent * member.stream.document.frame_bytes
        for name, (packets, size) in count.received.items():
            if name in numbers:
                made["rp"][numbers[name]] += packets
                made["rb"][numbers[name]] += size
    return made


class GroupRates:
    """Smoothed rates of all groups, by group, counter and port."""

    def __init__(self) -> None:
        self._rates: dict[tuple[int, str, str], Smoothed] = {}

    def read(self, server: Server) -> None:
        """Take a reading; groups that are no more are forgotten."""
        now, known = server.clock(), groups(server.ports)
        counters = server.engine.streams() if known else {}
        rates: dict[tuple[int, str, str], Smoothed] = {}
        for number, members in known.items():
            for key, by_port in counts(members, server.ports, counters).items():
                for port, value in by_port.items():
                    place = (number, key, port)
                    rates[place] = self._rates.get(place) or Smoothed()
                    rates[place].read(value, now)
        self._rates = rates

    def rate(self, number: int, key: str, port: str) -> float:
        """A second; 0 for what was not read yet."""
        found = self._rates.get((number, key, port))
        return found.rate if found else 0.0
