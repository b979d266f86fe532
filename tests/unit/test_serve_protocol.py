"""Connections: who asks and does not read is let go, and its place is free again."""

import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest
from tests.many_runs import make_many

from linerate.ui.serve.app import Settings, make_app
from linerate.ui.web import guard, protocol
from linerate.ui.web.guard import Guard, Rules
from linerate.ui.web.server import Server

#: More than kernels keep for a connection.
LONG = bytes(16 << 20)
#: Reached only by tests that fail.
PATIENCE_SECONDS = 60


async def long_answer(_scope, _receive, send):
    length = str(len(LONG)).encode()
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-length", length)]})  # fmt: skip
    await send({"type": "http.response.body", "body": LONG})


@contextmanager
def serving(app):
    """A server in a thread of its own, and its port."""
    server = Server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


@pytest.fixture
def server():
    with serving(Guard(long_answer, Rules(closed=False))) as started:
        yield started


def ask(server, path="/", more="", window_bytes=4096):
    """Ask, and read nothing."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window_bytes)
    client.settimeout(PATIENCE_SECONDS)
    client.connect(("127.0.0.1", int(server.address.rpartition(":")[2])))
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
    return client


def wait(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def connections(server):
    return server._server.server_state.connections


def test_who_does_not_read_is_let_go_and_its_place_is_free(server, monkeypatch):
    monkeypatch.setattr(guard, "REQUESTS_MAX", 1)
    monkeypatch.setattr(protocol, "READ_SECONDS", 0.2)
    with ask(server) as client:
        assert client.recv(9) == b"HTTP/1.1 "
        wait(lambda: not connections(server))
        monkeypatch.setattr(protocol, "READ_SECONDS", PATIENCE_SECONDS)
        with ask(server) as other:
            assert b" 200 " in other.recv(20)


@pytest.mark.parametrize("more", ["", "Connection: close\r\n"])
def test_the_end_of_an_answer_is_not_waited_for_either(monkeypatch, tmp_path, more):
    """The last piece is with the connection when the answer is complete."""
    monkeypatch.setattr(protocol, "PIECE_BYTES", len(LONG))
    monkeypatch.setattr(protocol, "READ_SECONDS", 0.2)
    make_many(tmp_path, 1)
    with (
        serving(make_app(Settings(tmp_path, Rules(closed=False), start=False))) as server,
        ExitStack() as stack,
    ):
        for _ in range(4):
            client = stack.enter_context(ask(server, "/static/draw.js", more))
            assert client.recv(9) == b"HTTP/1.1 "
        wait(lambda: not connections(server))


def test_no_more_of_an_answer_is_kept_than_some_pieces(server, monkeypatch):
    monkeypatch.setattr(protocol, "READ_SECONDS", PATIENCE_SECONDS)
    with ask(server) as client:
        wait(lambda: connections(server))
        (connection,) = connections(server)
        wait(connection.transport.get_write_buffer_size)
        most = 0
        for _ in range(50):
            client.recv(1 << 16)
            most = max(most, connection.transport.get_write_buffer_size())
        assert most <= 4 * protocol.PIECE_BYTES


def test_who_reads_is_sent_all(server):
    with ask(server, more="Connection: close\r\n", window_bytes=1 << 20) as client:
        answer = bytearray()
        while part := client.recv(1 << 20):
            answer += part
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    assert b" 200 " in head
    assert body == LONG
