"""A `linerate serve` in a process of its own, and requests to it."""

import http.client
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Served:
    """Where it is, and the token that it printed."""

    port: int
    token: str
    runs: Path
    pid: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: bytes | None = None, /, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """One request; underscores in names of headers are dashes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            lower = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, lower, answer.read()
        finally:
            connection.close()

    def status(self, method: str, path: str, body: bytes | None = None, /, **headers: str) -> int:
        return self.ask(method, path, body, **headers)[0]


@contextmanager
def served(runs: Path, *options: str) -> Iterator[Served]:
    """Start one on a port of its own; it ends without a word on standard error."""
    words = ["serve", "--runs", str(runs), "--listen", "127.0.0.1:0", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "linerate", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        port = re.search(r":(\d+)/", process.stdout.readline())
        token = re.search(r"token=(\S+)", process.stdout.readline())
        assert port
        assert token
        yield Served(int(port[1]), token[1], runs, process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        message = process.communicate(timeout=120)[1]
    assert message == "", message
    assert process.returncode in (0, -signal.SIGINT, 128 + signal.SIGINT)
