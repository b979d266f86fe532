"""A server for TRex's clients that replies as it should until it turns hostile."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import zmq
from tests.fake.trex_engine import FakeEngine

from linerate.trex_server import framing, methods  # noqa: F401 (registers them)
from linerate.trex_server.rpc import answer
from linerate.trex_server.server import Server

POLL_MS = 20


@dataclass
class Hostile:
    """Given a request and the proper reply: what is sent instead; None: nothing ever."""

    turn: Callable[[bytes, bytes], bytes | None]
    #: Requests from then on: bytes that are in the first of them.
    since: bytes = b""
    ports: tuple[int, int] = (0, 0)
    is_hostile: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def serve(self, requests: "zmq.Socket[bytes]", wake: "zmq.Socket[bytes]") -> None:
        server = Server(FakeEngine())
        while not self.ended.is_set():
            if requests.poll(POLL_MS):
                data = requests.recv()
                asked = framing.unpack(data).text
                self.is_hostile = self.is_hostile or self.since in asked
                reply: bytes | None = answer(server, data)
                if self.is_hostile:
                    assert reply is not None
                    reply = self.turn(asked, reply)
                if reply is None:
                    return
                requests.send(reply)
            server.tick()
            wake.send(b"{}")


@contextmanager
def hostile(turn: Callable[[bytes, bytes], bytes | None], since: bytes = b"") -> Iterator[Hostile]:
    """Serve until the end of the block."""
    made = Hostile(turn, since)
    context = zmq.Context()
    sockets = context.socket(zmq.REP), context.socket(zmq.PUB)
    first, second = (one.bind_to_random_port("tcp://127.0.0.1") for one in sockets)
    made.ports = first, second
    thread = threading.Thread(target=made.serve, args=sockets)
    thread.start()
    try:
        yield made
    finally:
        made.ended.set()
        thread.join()
        context.destroy(linger=0)
