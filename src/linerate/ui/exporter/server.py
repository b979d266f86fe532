"""The exporter's HTTP server: GET /metrics, and nothing else.

A client takes one of a few connections for a few seconds at most: one that sends its request
slowly, or never reads the answer, delays no other for long.
"""

import hmac
import io
import ipaddress
import socket
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from linerate.ui.exporter.collector import Exporter

CLIENTS_MAX = 64
HEAD_BYTES_MAX = 8192
#: For the whole head of a request, and for each part of an answer to be taken.
CLIENT_SECONDS = 2.0
INDEX = b"linerate exporter: metrics are at /metrics\n"


def is_loopback(host: str) -> bool:
    """Whether only this host can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Server(ThreadingHTTPServer):
    """Serves one exporter's metrics; without a token, to this host alone."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, host: str, port: int, exporter: Exporter, token: str | None) -> None:
        """Listen; raises OSError when the address is taken or not ours."""
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.exporter = exporter
        self.token = token
        self._places = threading.BoundedSemaphore(CLIENTS_MAX)
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind; the name of the host is of no use, and asking for it may take long."""
        socket.socket.bind(self.socket, self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 (base's)
        """Give the client a place, or turn it away."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Serve it, and take the place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 (base's)
        """Leave out what clients do: one that went away is nothing to write about."""


def _read_head(connection: socket.socket) -> bytes:
    """Read a request's head; raises TimeoutError when that takes too long."""
    until = time.monotonic() + CLIENT_SECONDS
    head = b""
    while b"\r\n\r\n" not in head and b"\n\n" not in head and len(head) < HEAD_BYTES_MAX:
        connection.settimeout(max(until - time.monotonic(), 0.001))
        part = connection.recv(HEAD_BYTES_MAX - len(head))
        if not part:
            break
        head += part
        if time.monotonic() > until:
            raise TimeoutError
    connection.settimeout(CLIENT_SECONDS)
    return head


class _Handler(BaseHTTPRequestHandler):
    """One request; the connection is closed after its answer."""

    server: Server
    server_version = "linerate"
    sys_version = ""

    def setup(self) -> None:
        """Read the head at once, so that its time is limited as a whole."""
        super().setup()
        self.rfile = io.BufferedReader(io.BytesIO(_read_head(self.connection)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 (base's)
        """Say nothing of each scrape."""

    def do_GET(self) -> None:
        """Answer with the metrics, to who may have them."""
        path = urlsplit(self.path).path
        if not self._is_allowed():
            return
        if path == "/metrics":
            document, kind = self.server.exporter.text()
            self._answer(HTTPStatus.OK, document, kind)
        elif path == "/":
            self._answer(HTTPStatus.OK, INDEX, "text/plain; charset=utf-8")
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n", "text/plain; charset=utf-8")

    def _is_allowed(self) -> bool:
        """Check the token; without one, that no other site's page had the browser ask us."""
        token = self.server.token
        if token is None:
            name = self.headers.get("Host", "localhost").rpartition(":")
            host = name[0] if name[1] and not name[2].endswith("]") else name[2]
            if is_loopback(host):
                return True
            self._answer(HTTPStatus.FORBIDDEN, b"Host header not allowed\n", "text/plain")
            return False
        given = self.headers.get("Authorization", "")
        if hmac.compare_digest(given.encode("latin-1", "replace"), f"Bearer {token}".encode()):
            return True
        self.send_response(HTTPStatus.UNAUTHORIZED)
        self.send_header("WWW-Authenticate", 'Bearer realm="linerate"')
        self.send_header("Content-Length", "0")
        self.end_headers()
        return False

    def _answer(self, status: HTTPStatus, document: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(document)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(document)
