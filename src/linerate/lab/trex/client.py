"""The process of TRex's client: found, started, asked, ended."""

import contextlib
import importlib.util
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from linerate.base.errors import SetupError
from linerate.base.prerequisites import Prerequisite

PACKAGE = "lbr_trex_client"
FOLDER_VARIABLE = "LINERATE_TREX_CLIENT"
SCRIPT = Path(__file__).with_name("driver.py")
#: Pythons that it does not run on begin here.
PYTHON_BELOW = (3, 12)
#: For one reply of the server: TRex's own 3 are too few while it sends.
SERVER_SECONDS = 15
#: Several of the server's replies may be within one of the client's process.
REPLY_SECONDS = 60.0
END_SECONDS = 20.0
REACH_SECONDS = 5.0
#: A thousand streams' counters are some 200 kB.
REPLY_BYTES_MAX = 32 << 20


class Client(Protocol):
    """Whoever answers calls."""

    def ask(self, call: str, **parameters: object) -> dict[str, Any]:
        """Call, and return the reply; raises SetupError."""


def folder() -> Path | None:
    """Where the client's package is, found without importing it."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given) if (Path(given) / PACKAGE).is_dir() else None
    found = importlib.util.find_spec(PACKAGE)
    if found is not None and found.origin is not None:
        return Path(found.origin).parent.parent
    beside = Path(sys.prefix) / "trex-client"
    return beside if (beside / PACKAGE).is_dir() else None


def prerequisites() -> list[Prerequisite]:
    """Prerequisites that this Python lacks."""
    if sys.version_info >= PYTHON_BELOW:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        what = f"tester trex needs Python 3.11, this is {version}"
        return [Prerequisite(what, "TRex's client runs on no later one")]
    if folder() is None:
        remedy = f"pip install 'linerate[trex-client]', or {FOLDER_VARIABLE}=FOLDER"
        return [Prerequisite("tester trex needs TRex's client (lbr-trex-client)", remedy)]
    return []


def read_reply(line: bytes) -> dict[str, Any]:
    """The reply in a line of the driver's; raises SetupError with what it complains of."""
    try:
        reply = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SetupError("TRex's client printed no reply that this version reads") from error
    if isinstance(reply, dict) and isinstance(reply.get("error"), str):
        raise SetupError(f"TRex: {reply['error']}{_remedy(reply['error'])}")
    if not isinstance(reply, dict) or not isinstance(reply.get("reply"), dict):
        raise SetupError("TRex's client printed no reply that this version reads")
    return dict(reply["reply"])


_OWNED = "; another user has the port: expected that they release it, or other server_ports"
#: Remedies, by a part of the client's message.
_REMEDIES = {
    "failed to get server response": "; does it run (`t-rex-64 -i`), and may this host reach it?",
    "version": "; expected a server of v2.94 to v3.08 (API 5.1)",
    "acquire": _OWNED,
    "owned": _OWNED,
}


def _remedy(message: str) -> str:
    return next((text for part, text in _REMEDIES.items() if part in message.lower()), "")


class Process:
    """The driver, running."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process = process
        self._log = log
        self._rest = b""

    def ask(self, call: str, **parameters: object) -> dict[str, Any]:
        """Call, and return the reply; one at a time. Raises SetupError."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps({"call": call, **parameters}).encode() + b"\n")
            stdin.flush()
        except OSError as error:
            raise self._gone() from error
        return read_reply(self._line())

    def _line(self) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None
        until = time.monotonic() + REPLY_SECONDS
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([stdout], [], [], left)[0]:
                raise SetupError(f"TRex's client gave no reply in {REPLY_SECONDS:.0f} s")
            read = os.read(stdout.fileno(), 1 << 16)
            if not read:
                raise self._gone()
            self._rest += read
            if len(self._rest) > REPLY_BYTES_MAX:
                raise SetupError("TRex's client printed more than a reply can have")
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _gone(self) -> SetupError:
        lines = self._log.read_text(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        return SetupError(f"TRex's client ended: {last[:300]}")


@contextmanager
def running(server: str, sync_port: int, async_port: int, log: Path) -> Iterator[Process]:
    """Start it; its traffic is stopped and its ports are released on exit."""
    where = folder()
    assert where is not None, "prerequisites were not asked"
    _reach(server, sync_port)
    numbers = map(str, (sync_port, async_port, SERVER_SECONDS))
    command = [sys.executable, str(SCRIPT), server, *numbers]
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            env=_environment(os.environ, where),
            # A terminal's signals are for us; when we are gone its stdin ends. It stays in the
            # session, which goes before others (host/session_share.py).
            process_group=0,
        )
    try:
        yield Process(process, log)
    finally:
        _end(process)


def _reach(server: str, port: int) -> None:
    """Raise SetupError where no one listens: the client would wait for long."""
    try:
        socket.create_connection((server, port), REACH_SECONDS).close()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise SetupError(
            f"no TRex server at {server}:{port}: {why}; does it run (`t-rex-64 -i`), and may this "
            "host reach it?"
        ) from error


def _environment(ours: Mapping[str, str], where: Path) -> dict[str, str]:
    """Ours, with the client's folder, and pyzmq's where that is not this Python's own."""
    zmq = importlib.util.find_spec("zmq")
    more = [str(Path(zmq.origin).parent.parent)] if zmq is not None and zmq.origin else []
    return {**ours, "PYTHONPATH": os.pathsep.join((str(where), *more))}


def _end(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
