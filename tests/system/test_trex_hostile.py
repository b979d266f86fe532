"""TRex servers whose replies are huge, malformed, slow or none: the lab ends in a line."""

import json
import socket
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.system.hostile_trex import hostile
from tests.trex_client import CLIENT

from linerate.base.errors import SetupError
from linerate.lab.trex import client
from linerate.lab.trex.tester import TrexTester
from linerate.model.suites import DUT_MACS, SUITES, streams
from linerate.trex_server import framing

pytestmark = pytest.mark.skipif(CLIENT is None, reason="needs TRex's client: make setup-test")

LINK = 10_000_000
U2 = streams(SUITES["standard"].loadtests[1], DUT_MACS, {"percent": 100})
#: Waits of the lab and of TRex's client, cut: what they are to end is the same.
SERVER_SECONDS, END_SECONDS = 2, 5.0
#: An end that takes longer hangs; loading the client takes most of it where others have the CPUs.
MOST_SECONDS = 90.0
#: Less than the calls of a connection take where each is late.
IMPATIENT_SECONDS = 4.0
#: More than a reply has, of which the client understands nothing.
HUGE = b"[" + b"7," * (4 << 20) + b"7]"


@pytest.fixture(autouse=True)
def cut_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SERVER_SECONDS", SERVER_SECONDS)
    monkeypatch.setattr(client, "END_SECONDS", END_SECONDS)
    monkeypatch.setenv(client.FOLDER_VARIABLE, str(CLIENT))


def trial(
    ports: tuple[int, int], folder: Path, on_loaded: Callable[[], None] = lambda: None
) -> None:
    """A trial from the first call to the last."""
    log = folder / "log"
    with client.running("127.0.0.1", *ports, log) as driver:
        with pytest.raises(SetupError, match="KeyError"):
            # Answered as soon as the client is loaded.
            driver.ask("nothing")
        on_loaded()
        tester = TrexTester(driver, U2, LINK, (0, 1))
        tester.start(200_000, 10_000)
        while tester.progress().state != "done":
            tester.ledger()
            time.sleep(0.05)
        tester.readings()


def refused(
    ports: tuple[int, int], folder: Path, on_loaded: Callable[[], None] = lambda: None
) -> str:
    """The line in which it ends, soon enough."""
    began = time.monotonic()
    with pytest.raises(SetupError) as error:
        trial(ports, folder, on_loaded)
    assert time.monotonic() - began < MOST_SECONDS
    line = str(error.value)
    assert "\n" not in line
    assert "Traceback" not in line
    assert len(line) < 700
    return line


def malformed(asked: bytes, _reply: bytes) -> bytes:
    """Right frames of JSON-RPC, with something else in them."""
    number = json.loads(asked)
    one = number[0] if isinstance(number, list) else number
    return json.dumps({"jsonrpc": "2.0", "id": one["id"], "result": [None]}).encode()


def bomb(_asked: bytes, _reply: bytes) -> bytes:
    """32 MB that say to be a hundred bytes."""
    return struct.pack(">II", framing.MAGIC, 100) + zlib.compress(bytes(32 << 20))


def late(_asked: bytes, reply: bytes) -> bytes:
    """The right reply, each as late as it may be."""
    time.sleep(0.8 * SERVER_SECONDS)
    return reply


TURNS: dict[str, tuple[Callable[[bytes, bytes], bytes | None], str]] = {
    "no JSON": (lambda _asked, _reply: b"\xff\0 <html>", "decode"),
    "none": (lambda _asked, _reply: None, "failed to get server response"),
    "malformed": (malformed, "can't read"),
    "huge": (lambda _asked, _reply: HUGE, ""),
    "a bomb": (bomb, ""),
    "half of them": (lambda _asked, reply: reply[: len(reply) // 2], ""),
}


@pytest.mark.parametrize("turn", TURNS)
def test_a_server_that_is_hostile_at_once(tmp_path: Path, turn: str) -> None:
    act, words = TURNS[turn]
    with hostile(act) as server:
        line = refused(server.ports, tmp_path)
    assert words.lower() in line.lower()
    assert line.startswith(("TRex: ", "TRex's client "))


@pytest.mark.parametrize("turn", ["malformed", "none", "a bomb"])
def test_a_server_that_turns_hostile_in_a_trial(tmp_path: Path, turn: str) -> None:
    with hostile(TURNS[turn][0], since=b"get_pgid_stats") as server:
        refused(server.ports, tmp_path)
        assert server.is_hostile


def test_a_server_whose_every_reply_is_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient() -> None:
        monkeypatch.setattr(client, "REPLY_SECONDS", IMPATIENT_SECONDS)

    with hostile(late) as server:
        assert "no reply in 4 s" in refused(server.ports, tmp_path, impatient)


def test_a_server_that_takes_connections_and_says_nothing(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        number = silent.getsockname()[1]
        assert "failed to get server response" in refused((number, number), tmp_path).lower()


def test_as_it_should_be(tmp_path: Path) -> None:
    with hostile(lambda _asked, reply: reply) as server:
        trial(server.ports, tmp_path)
