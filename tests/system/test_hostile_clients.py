"""Clients of the telemetry socket that mean harm, or do it without: a trial goes on, and ends."""

import contextlib
import os
import random
import socket
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.system import labs
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine

from linerate.engine.engine_process import Engine, EngineError
from linerate.engine.snapshot import look
from linerate.engine.telemetry import Telemetry

SECONDS = 1.5
#: At which the card's ring holds what comes in half a second that others take.
PPS = 2_000


def path_of(engine: Engine) -> Path:
    return Path(engine.ready["socket"])


#: Clients that DPDK's telemetry serves at a time.
PLACES = 10


def join(path: Path, seconds: float = 60) -> socket.socket:
    """Connect; raises OSError when too many do at once, too."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(seconds)
    try:
        client.connect(str(path))
    except OSError:
        client.close()
        raise
    return client


@contextmanager
def hog(path: Path, places: int = PLACES) -> Iterator[None]:
    """Idle clients that occupy `count` places; disconnected ones free theirs."""
    deadline = time.monotonic() + 120
    with ExitStack() as stack:
        while places:
            assert time.monotonic() < deadline
            with ExitStack() as mine:
                try:
                    is_in = mine.enter_context(join(path)).recv(1024) != b""
                except (ConnectionResetError, BlockingIOError):
                    is_in = False
                if is_in:
                    stack.enter_context(mine.pop_all())
                    places -= 1
            if not is_in:
                time.sleep(0.01)
        yield


def nonsense(path: Path, enough: threading.Event, seed: int, joined: list[int]) -> None:
    """Send what no client should, now and then without reading; note each connection."""
    chance = random.Random(seed)
    words = [b"/linerate/runtime", b"/linerate/trial/start", b"/linerate/cli", b"/linerate/flows"]
    while not enough.is_set():
        with contextlib.suppress(OSError), join(path, seconds=5) as client:
            joined.append(seed)
            for _ in range(chance.randrange(20)):
                kind = chance.randrange(4)
                body = chance.randbytes(chance.choice((0, 1, 100, 1023, 1024, 100_000)))
                word = b"" if kind == 0 else chance.choice(words) + b","
                client.send(word + body)
                if kind > 1:
                    client.recv(chance.choice((1, 65536)))


@pytest.fixture
def engine(start_engine: StartEngine) -> Engine:
    streams = [stream(0, rate={"pps": PPS})]
    return start_engine(card_config({}, {"mode": "io"}, streams))


def run_to_end(telemetry: Telemetry) -> dict[str, int]:
    order = f"duration_us={int(SECONDS * 1e6)},scale_ppm=1000000"
    telemetry.ask(f"/linerate/trial/start,{order}")
    deadline = time.monotonic() + 120
    while (status := telemetry.ask("/linerate/trial"))["state"] != "done":
        assert time.monotonic() < deadline, status
        time.sleep(0.05)
    return dict(status)


def test_a_trial_ends_whatever_other_clients_do(engine: Engine) -> None:
    path = path_of(engine)
    with engine.connect() as telemetry:
        joined: list[int] = []
        enough = threading.Event()
        clients = [
            threading.Thread(target=nonsense, args=(path, enough, seed, joined))
            for seed in range(4)
        ]
        for client in clients:
            client.start()
        try:
            labs.wait_for(lambda: len(joined) > 4)
            before = len(joined)
            status = run_to_end(telemetry)
            # They came all the while, and still do.
            labs.wait_for(lambda: len(joined) > before)
        finally:
            enough.set()
            for client in clients:
                client.join()
        assert status["sent_packets"] == status["received_packets"] == int(PPS * SECONDS)
    # Places are given back, and the engine answers as ever.
    with engine.connect() as telemetry:
        assert telemetry.ask("/linerate/info")["name"] == engine.name


def test_idle_clients_in_all_places_do_not_keep_the_lab_from_its_trial(engine: Engine) -> None:
    path = path_of(engine)
    # The lab joins once, before its first trial, and stays.
    with engine.connect() as telemetry:
        with hog(path, PLACES - 1):
            status = run_to_end(telemetry)
            assert status["received_packets"] == int(PPS * SECONDS)
            seen = look((engine.name,))
            assert "turned us away" in seen.silent[engine.name]
        assert telemetry.ask("/linerate/trial")["state"] == "done"


def test_who_comes_to_an_engine_without_places_waits_and_then_says_why(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path_of(engine)
    # Those that leave in time are only waited for.
    taken = hog(path)
    taken.__enter__()
    leave = threading.Timer(0.3, lambda: taken.__exit__(None, None, None))
    leave.start()
    with engine.connect() as telemetry:
        assert telemetry.ask("/linerate/info")["name"] == engine.name
    leave.join()
    monkeypatch.setattr("linerate.engine.engine_process.CONNECT_SECONDS", 0.2)
    with hog(path), pytest.raises(EngineError, match="end those that only watch"):
        engine.connect()


def test_an_endless_file_is_not_read(start_engine: StartEngine, tmp_path: Path) -> None:
    router = {
        "mode": "router",
        "router": {"interfaces": [{"port": "e0", "addresses": ["100.64.1.1/30"]}]},
    }
    engine = start_engine(card_config({}, router, [stream(0)]))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Telemetry(path_of(engine), timeout_seconds=60) as telemetry:
        for path in ("/dev/zero", pipe, tmp_path):
            with pytest.raises(Exception, match="Invalid argument"):
                telemetry.ask(f"/linerate/exec,{path}")
        assert telemetry.ask("/linerate/exec,/dev/null".replace("/dev/null", _empty(tmp_path))) == {
            "done": 0
        }


def _empty(folder: Path) -> str:
    file = folder / "empty"
    file.touch()
    return str(file)


@pytest.mark.smoke
def test_only_the_engines_user_may_ask(engine: Engine) -> None:
    path = path_of(engine)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0


def test_parameters_stay_with_their_command(engine: Engine) -> None:
    """Clients ask at the same time, each for a worker: none gets another's parameters."""
    wrong: list[str] = []
    until = time.monotonic() + SECONDS

    def ask(worker: str) -> None:
        with engine.connect() as telemetry:
            while time.monotonic() < until and not wrong:
                reply = telemetry.ask(f"/linerate/runtime,{worker}")["worker"]
                if reply != worker:
                    wrong.append(f"{worker}: {reply}")

    clients = [threading.Thread(target=ask, args=(name,)) for name in ("tester", "forwarder-0") * 2]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert not wrong
