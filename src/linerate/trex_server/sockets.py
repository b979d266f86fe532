"""The two sockets: requests (REP), and the one that wakes clients (PUB)."""

import contextlib
import math
import time
from collections.abc import Callable

import zmq

from linerate.trex_server import methods  # noqa: F401 (registers them)
from linerate.trex_server.framing import MESSAGE_BYTES_MAX
from linerate.trex_server.rpc import answer
from linerate.trex_server.server import Server
from linerate.trex_server.traffic_engine import TrafficEngineError

REQUESTS_PORT, WAKE_PORT = 4501, 4500
WAKE_SECONDS = 0.5
POLL_MS = 50
#: Message that clients wait for before they ask for events.
WAKE = b"{}"


class Sockets:
    """Bound sockets, until closed."""

    def __init__(self, host: str, requests_port: int, wake_port: int) -> None:
        """Bind; raises zmq.ZMQError. Port 0 is any free one."""
        self._context = zmq.Context()
        self._requests = self._context.socket(zmq.REP)
        self._wake = self._context.socket(zmq.PUB)
        try:
            for one in (self._requests, self._wake):
                one.setsockopt(zmq.LINGER, 0)
            # A peer with a larger message is disconnected before it is read.
            self._requests.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES_MAX)
            self.requests_port = _bound(self._requests, host, requests_port)
            self.wake_port = _bound(self._wake, host, wake_port)
        except zmq.ZMQError:
            self.close()
            raise

    def serve(self, server: Server, is_ended: Callable[[], bool] = lambda: False) -> None:
        """Answer until the server is ended; raises TrafficEngineError when the engine has gone."""
        woken_at = 0.0
        while not server.is_ended and not is_ended():
            if self._requests.poll(_wait_ms(server)):
                self._requests.send(answer(server, _whole(self._requests)))
            server.tick()
            if time.monotonic() - woken_at >= WAKE_SECONDS:
                self._wake.send(WAKE)
                woken_at = time.monotonic()
        self._wake.send(WAKE)

    def close(self) -> None:
        """Close both."""
        with contextlib.suppress(zmq.ZMQError):
            self._context.destroy(linger=0)


def _wait_ms(server: Server) -> int:
    """Wait for a request, in ms: no longer than until the next pushed frame is due."""
    seconds = server.pushes.seconds_left(server.clock())
    return POLL_MS if seconds is None else min(POLL_MS, math.ceil(seconds * 1000))


def _bound(socket: "zmq.Socket[bytes]", host: str, port: int) -> int:
    address = f"tcp://[{host}]" if ":" in host else f"tcp://{host}"
    if ":" in host:
        socket.setsockopt(zmq.IPV6, 1)
    if port:
        socket.bind(f"{address}:{port}")
        return port
    return int(socket.bind_to_random_port(address))


def _whole(socket: "zmq.Socket[bytes]") -> bytes:
    """A request; one of several parts is joined, and refused as no JSON."""
    return b"".join(socket.recv_multipart())


__all__ = ["REQUESTS_PORT", "WAKE_PORT", "Sockets", "TrafficEngineError"]
