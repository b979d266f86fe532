"""Serve a testbed's tester to TRex's clients, from its start to its end."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import zmq

from linerate import __version__
from linerate.base.errors import SetupError
from linerate.lab.links import OnWait
from linerate.lab.profile_tester import running
from linerate.model.testbed import Testbed
from linerate.trex_server.server import Options, Server
from linerate.trex_server.session_runs import SessionRuns
from linerate.trex_server.sockets import REQUESTS_PORT, WAKE_PORT, Sockets
from linerate.trex_server.telemetry_engine import TelemetryEngine
from linerate.trex_server.traffic_engine import TrafficEngineError


@dataclass(frozen=True, slots=True)
class Listening:
    """Where clients connect."""

    host: str = "127.0.0.1"
    requests_port: int = REQUESTS_PORT
    wake_port: int = WAKE_PORT


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where runs of clients' traffic are kept, and the command that made them."""

    runs: Path
    command: tuple[str, ...]


def serve(
    testbed: Testbed,
    folder: Path,
    listening: Listening,
    on_ready: Callable[[Server, Sockets], None],
    on_wait: OnWait = lambda _text, _seconds: None,
    say: Callable[[str], None] = lambda _text: None,
    keeping: Keeping | None = None,
) -> None:
    """Serve until a client ends it, or a signal. Raises SetupError, EngineError.

    Files of the engine and of streams go into `folder`, runs of clients' traffic where `keeping`
    says.
    """
    try:
        sockets = Sockets(listening.host, listening.requests_port, listening.wake_port)
    except zmq.ZMQError as error:
        reason = (error.strerror or str(error)).lower()
        raise SetupError(
            f"{listening.host}: ports {listening.requests_port}, {listening.wake_port}: {reason}"
        ) from error
    with closing(sockets), running(testbed, lambda name: folder / name, on_wait, say) as tester:
        engine = TelemetryEngine(tester.telemetry, tester.ports, tester.next_macs, folder)
        recorder = None
        if keeping is not None:
            recorder = SessionRuns(tester, testbed, keeping.runs, keeping.command, say)
        server = Server(engine, Options(version=__version__), recorder=recorder)
        on_ready(server, sockets)
        try:
            try:
                sockets.serve(server)
            finally:
                server.end()
        except TrafficEngineError as error:
            raise SetupError(str(error)) from error
