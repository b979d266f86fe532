"""Meters that are made for a test: web servers with a plug's answers, and upsd's protocol."""

import base64
import contextlib
import hashlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Status, headers and content, by the path that was asked for.
Answer = tuple[int, dict[str, str], bytes]


def answer(document: object, status: int = 200) -> Answer:
    return status, {"Content-Type": "application/json"}, json.dumps(document).encode()


@contextmanager
def web(respond: Callable[[str, dict[str, str]], Answer]) -> Iterator[str]:
    """A web server; `respond` gets path and headers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, content = respond(self.path, dict(self.headers))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(content)

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def basic(user: str, password: str, inside: Callable[[str], Answer]):
    """Behind a password, as the first generation and controllers have it."""
    wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    def respond(path: str, headers: dict[str, str]) -> Answer:
        if headers.get("Authorization") != wanted:
            return 401, {"WWW-Authenticate": 'Basic realm="meter"'}, b""
        return inside(path)

    return respond


def digest(user: str, password: str, inside: Callable[[str], Answer]):
    """Behind a digest with SHA-256, as the later generations have it."""

    def hashed(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    def respond(path: str, headers: dict[str, str]) -> Answer:
        found = dict(re.findall(r'(\w+)="?([^",]+)', headers.get("Authorization", "")))
        if path == "/shelly":
            return inside(path)
        if found.get("response"):
            first = hashed(f"{user}:shelly:{password}")
            second = hashed(f"GET:{path}")
            middle = f"{found['nonce']}:{found['nc']}:{found['cnonce']}:{found['qop']}"
            if found["response"] == hashed(f"{first}:{middle}:{second}"):
                return inside(path)
        ask = 'Digest qop="auth", realm="shelly", nonce="60dc59c6", algorithm=SHA-256'
        return 401, {"WWW-Authenticate": ask}, b""

    return respond


@contextmanager
def upsd(variables: dict[str, str], reply: Callable[[str], bytes] | None = None) -> Iterator[int]:
    """A server of Network UPS Tools with one supply, `lab`; `reply` answers otherwise."""

    def answered(line: str) -> bytes:
        _, _, ups, name = line.split()
        if ups != "lab":
            return b"ERR UNKNOWN-UPS\n"
        if name not in variables:
            return b"ERR VAR-NOT-SUPPORTED\n"
        return f'VAR {ups} {name} "{variables[name]}"\n'.encode()

    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, connection.makefile("rb") as lines:
                    for line in lines:
                        connection.sendall((reply or answered)(line.decode().strip()))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)
