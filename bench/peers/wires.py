"""Two cores: our tester sends over net_memif to ours or to testpmd."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.frames import stream
from bench.peers.model import Place, Sample, Session, Side
from bench.peers.session import EngineSession, engine_session
from bench.peers.testpmd import forwarder, started
from linerate.model.suites import DUT_MACS, DUT_PORTS, TESTER_MACS, TESTER_PORTS

MEGABYTES = 512
#: Descriptors of a ring, as a power of two: as many as our card has.
RING_LOG2 = 10


@dataclass(frozen=True, slots=True)
class WireSession:
    """A tester that sends as fast as it can, and what comes back."""

    engine: EngineSession

    def sample(self, seconds: float) -> Sample:
        """Packets that the tester's ports received."""
        pps = self.engine.rate(TESTER_PORTS, "rx_packets", seconds)
        return Sample(pps, tsc_hz=self.engine.tsc_hz)


def streams(directions: int) -> list[dict[str, Any]]:
    """One stream a direction, with sequence numbers."""
    return [stream((here, 1 - here), signature=True) for here in range(directions)]


def _devargs(folder: Path, index: int, role: str) -> str:
    socket = folder / f"{index}.sock"
    return f"role={role},id={index},socket={socket},socket-abstract=no,rsize={RING_LOG2}"


def _port(folder: Path, index: int, role: str) -> dict[str, Any]:
    here = role == "client"
    return {
        "name": (TESTER_PORTS if here else DUT_PORTS)[index],
        "driver": "ethdev",
        "device": f"net_memif{index + 2 * here}",
        "devargs": _devargs(folder, index, role),
        "mac": (TESTER_MACS if here else DUT_MACS)[index],
    }


def _tester(place: Place, folder: Path, directions: int) -> dict[str, Any]:
    return {
        "memory": {"pages": place.pages, "megabytes": MEGABYTES},
        "ports": [_port(folder, index, "client") for index in range(2)],
        "tester": {"ports": list(TESTER_PORTS), "streams": streams(directions)},
    }


def ours(mode: str, directions: int) -> Side:
    """Our forwarder."""

    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        with tempfile.TemporaryDirectory(prefix="linerate-") as name:
            config = _tester(place, Path(name), directions)
            # The server's end first: a client without a server tries again much later.
            servers = [_port(Path(name), index, "server") for index in range(2)]
            config["ports"] = servers + config["ports"]
            config["forwarder"] = {"mode": mode, "ports": list(DUT_PORTS)}
            with engine_session(config, place) as engine:
                engine.send_forever()
                yield WireSession(engine)

    return opened


def testpmd(mode: str, directions: int) -> Side:
    """Put testpmd behind our tester."""

    @contextmanager
    def opened(place: Place) -> Iterator[Session]:
        with ExitStack() as stack:
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix="linerate-"))
            folder = Path(name)
            vdevs = [f"net_memif{index},{_devargs(folder, index, 'server')}" for index in range(2)]
            running = stack.enter_context(started(forwarder(mode, tuple(vdevs), place, burst=64)))
            running.console.ask("start")
            # It forwards on the work CPU, so that the tester has the main one to itself.
            config = _tester(place, folder, directions) | {"cpus": [place.main_cpu]}
            engine = stack.enter_context(engine_session(config, place))
            engine.send_forever()
            yield WireSession(engine)

    return opened
