"""Cycles of the router's own nodes: what lies between port-rx and port-tx."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bench.peers.model import NotMeasuredError, Place, Sample, Session, Side
from bench.peers.session import EngineSession, engine_session

#: Not of the path: where packets come from and go to.
ENDS = ("port-rx", "port-tx")
FIRST = "ethernet-input"
#: Share of all packets that must be received; random destinations may hit the router's own
#: networks.
ARRIVE = 0.999


@dataclass(frozen=True, slots=True)
class PathSession:
    """A router between replay ports."""

    engine: EngineSession

    def sample(self, seconds: float) -> Sample:
        """Cycles a packet from ethernet-input to interface-output."""
        elapsed, nodes = self.engine.node_clocks(seconds)
        sent = sum(node.packets for name, node in nodes.items() if name.startswith("port-tx"))
        entered = nodes[FIRST].packets if FIRST in nodes else 0
        if sent == 0 or sent < ARRIVE * entered:
            raise NotMeasuredError(f"{entered - sent:,} of {entered:,} packets were dropped")
        path = {
            name: node for name, node in nodes.items() if not name.startswith(ENDS) and node.packets
        }
        clocks = sum(node.clocks for node in path.values()) / sent
        details: dict[str, float | str] = {
            f"{name} clocks": node.clocks / sent for name, node in path.items()
        }
        pps = sent / elapsed * self.engine.tsc_hz
        return Sample(pps, clocks, self.engine.tsc_hz, details)


def path(make_config: Callable[[Place], dict[str, Any]]) -> Side:
    """Our router, as `make_config` has it."""

    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        with engine_session(make_config(place), place) as engine:
            yield PathSession(engine)

    return opened
