"""Hostile peers at the server's ports: whatever they send, others are served."""

import socket
import struct
import threading
import zlib

import pytest
import zmq
from tests.fake.trex_engine import FakeEngine

from linerate.trex_server import framing
from linerate.trex_server.server import Server
from linerate.trex_server.sockets import Sockets

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'
ANSWER_MS = 10_000
#: A peer that was cut off gets no answer: it is not waited for as long.
SILENCE_MS = 300


@pytest.fixture
def port():
    """The port for requests of a server that runs until the test ends."""
    sockets, ended = Sockets("127.0.0.1", 0, 0), threading.Event()
    thread = threading.Thread(target=sockets.serve, args=(Server(FakeEngine()), ended.is_set))
    thread.start()
    yield sockets.requests_port
    ended.set()
    thread.join()
    sockets.close()


@pytest.fixture
def context():
    made = zmq.Context()
    yield made
    made.destroy(linger=0)


def asked(context, port, *parts, wait_ms=ANSWER_MS):
    """The answer to a message, or None."""
    with context.socket(zmq.REQ) as peer:
        peer.setsockopt(zmq.LINGER, 0)
        peer.connect(f"tcp://127.0.0.1:{port}")
        peer.send_multipart(parts)
        return peer.recv() if peer.poll(wait_ms) else None


def is_served(context, port):
    return b'"ts"' in asked(context, port, PING)


def test_a_message_that_is_too_long_is_not_even_read(port, context):
    assert asked(context, port, bytes(framing.MESSAGE_BYTES_MAX + 1), wait_ms=SILENCE_MS) is None
    assert is_served(context, port)


def test_a_bomb_is_answered_by_an_error(port, context):
    bomb = struct.pack(">II", framing.MAGIC, 100) + zlib.compress(bytes(32 << 20))
    answer = framing.unpack(asked(context, port, bomb)).text
    assert b"Parse error" in answer
    assert is_served(context, port)


def test_several_parts_are_one_message(port, context):
    assert b'"ts"' in asked(context, port, PING[:20], PING[20:])
    assert b"Parse error" in asked(context, port, b"\xff", b"\0" * 100)
    assert is_served(context, port)


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4096, b"\0", b""])
def test_peers_that_speak_otherwise_disturb_no_other(port, context, data):
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.sendall(data)
        assert is_served(context, port)


def test_a_peer_that_asks_and_leaves_disturbs_no_other(port, context):
    for _ in range(20):
        peer = context.socket(zmq.DEALER)
        peer.connect(f"tcp://127.0.0.1:{port}")
        peer.send_multipart((b"", PING))
        peer.close(linger=10)
    assert is_served(context, port)
