"""Forwarding modes on one core: replay ports against testpmd on net_null."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from bench.peers.frames import one_core, stream
from bench.peers.model import Kind, Place, Sample, Session, Side
from bench.peers.registry import register
from bench.peers.session import EngineSession, check, engine_session
from bench.peers.testpmd import NULL_PORTS, forwarder, null_session

#: Modes that make their packets themselves: nothing is received, by either side.
GENERATING = ("txonly", "flowgen")


@dataclass(frozen=True, slots=True)
class ModeSession:
    """Our engine in one mode."""

    engine: EngineSession

    def sample(self, seconds: float) -> Sample:
        """Packets that were sent: those dropped on the way are no achievement."""
        pps = self.engine.rate(("r0", "r1"), "tx_packets", seconds)
        return Sample(pps, tsc_hz=self.engine.tsc_hz)


def ours(mode: str) -> Side:
    """Our engine in `mode`."""

    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        frames = [] if mode in GENERATING else [stream(name="one")]
        config = one_core(place, {"mode": mode}, frames)
        check(config)
        with engine_session(config, place) as engine:
            yield ModeSession(engine)

    return opened


def peer(mode: str) -> Side:
    """Make testpmd's side, whose best burst is found out once a run."""
    best: dict[Place, int] = {}

    def opened(place: Place) -> AbstractContextManager[Session]:
        ports = tuple(f"{port},no-rx=1" if mode in GENERATING else port for port in NULL_PORTS)
        return null_session(forwarder(mode, ports, place), place, best)

    return opened


for _mode in ("io", "mac", "macswap", "txonly", "csum", "flowgen"):
    register(
        Kind(
            name=_mode,
            text=f"{_mode} on one core",
            ours=ours(_mode),
            peer=peer(_mode),
            peer_name="testpmd",
        )
    )
