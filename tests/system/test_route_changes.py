"""Routes change at 10,000 a second while packets pass, and no packet is lost by that."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.system.configs import NETWORKS, TESTER_MACS, card_config, stream
from tests.system.conftest import StartEngine
from tests.system.trials import Outcome, read_ledger

from linerate.engine.engine_process import Engine

CHANGES_PER_SECOND = 10_000
CHANGES = 30_000
PACKETS = 500_000
DEADLINE_SECONDS = 120.0
#: Lines of the CLI in one request.
LINES = 1_000
#: Two neighbours on each side, at the same tester's port.
ROUTER_CLI = "\n".join(
    [
        *(f"set int state e{i} up" for i in range(2)),
        *(f"set int ip address e{i} 100.64.{i + 1}.1/24" for i in range(2)),
        *(
            f"ip neighbor e{i} 100.64.{i + 1}.{host} {TESTER_MACS[i]}"
            for i in range(2)
            for host in (2, 3)
        ),
        *(f"ip route add {NETWORKS[i]}.0/24 via 100.64.{i + 1}.2" for i in range(2)),
        "",
    ]
)


def unrelated() -> Iterator[str]:
    """Prefixes beside the stream's packets (48.0.0.1 to .63), in and around their /24, that
    would send them back if one of them took one; and prefixes around them to the right port."""
    beside = [f"48.0.0.{host}/{length}" for host in (64, 128, 192) for length in (26, 27, 30, 32)]
    beside += [f"48.0.{third}.{host}/30" for third in range(1, 9) for host in (0, 4)]
    beside += [f"48.0.{third}.0/24" for third in range(1, 9)]
    around = [f"48.0.0.0/{length}" for length in (8, 12, 16, 20, 22)]
    for _ in itertools.count():
        for prefix in beside:
            yield f"ip route add {prefix} via 100.64.1.2"
        for prefix in around:
            yield f"ip route replace {prefix} via 100.64.2.3"
        for prefix in beside + around:
            yield f"ip route del {prefix}"


def to_and_fro() -> Iterator[str]:
    """The streams' own routes, between two next hops that are both right."""
    for host in itertools.cycle((3, 2)):
        yield f"ip route replace 48.0.0.0/24 via 100.64.2.{host}"
        yield f"ip route replace 16.0.0.0/24 via 100.64.1.{host}"


class Changer(threading.Thread):
    """Changes routes, somewhat faster than at the rate."""

    def __init__(self, engine: Engine, lines: Iterator[str], folder: Path) -> None:
        super().__init__()
        self._file = folder / "changes.vpp"
        self._engine = engine
        self._lines = lines
        self._stop_now = threading.Event()
        self.done = 0

    def run(self) -> None:
        with self._engine.connect() as telemetry:
            while not self._stop_now.wait(LINES / CHANGES_PER_SECOND / 2):
                self._file.write_text("\n".join(itertools.islice(self._lines, LINES)))
                self.done += telemetry.ask(f"/linerate/exec,{self._file}")["done"]

    def stop(self) -> None:
        self._stop_now.set()
        self.join()


def streams() -> list[dict[str, Any]]:
    """Both ways, to 63 hosts each, at a rate that leaves a shared machine time."""
    both = []
    for source in range(2):
        hosts = NETWORKS[source ^ 1]
        vary = {
            "field": "ipv4.dst",
            "op": "increment",
            "min": f"{hosts}.1",
            "max": f"{hosts}.63",
        }
        both.append(stream(source, name=f"s{source}", rate={"percent": 5}, modifiers=[vary]))
    return both


def trial(start_engine: StartEngine, lines: Iterator[str], folder: Path) -> tuple[Outcome, int]:
    """One trial until enough routes were changed and packets sent, and the changes."""
    router = {"mode": "router", "router": {"cli": ROUTER_CLI}}
    engine = start_engine(card_config({}, router, streams()))
    changer = Changer(engine, lines, folder)
    deadline = time.monotonic() + DEADLINE_SECONDS
    with engine.connect() as telemetry:
        before = read_ledger(telemetry)
        telemetry.ask("/linerate/trial/start,duration_us=600000000,scale_ppm=1000000")
        changer.start()
        try:
            while True:
                status = telemetry.ask("/linerate/trial")
                seconds = (status["elapsed_us"] - status["paused_us"]) / 1e6
                enough = changer.done >= max(CHANGES, CHANGES_PER_SECOND * seconds)
                if enough and status["sent_packets"] >= PACKETS:
                    break
                assert time.monotonic() < deadline, f"{changer.done} changes, {status}"
                time.sleep(0.05)
            telemetry.ask("/linerate/trial/stop")
        finally:
            changer.stop()
        while (status := telemetry.ask("/linerate/trial"))["state"] != "done":
            assert time.monotonic() < deadline, f"the trial does not end: {status}"
            time.sleep(0.05)
        after = read_ledger(telemetry)
    return Outcome(status, {key: n - before.get(key, 0) for key, n in after.items()}), changer.done


@pytest.mark.parametrize("lines", [unrelated, to_and_fro])
def test_changes_lose_nothing(
    start_engine: StartEngine, lines: Callable[[], Iterator[str]], tmp_path: Path
) -> None:
    """A change each 100 us of the trial's time, and the router drops and answers nothing."""
    outcome, changes = trial(start_engine, lines(), tmp_path)
    status = outcome.status
    assert changes >= CHANGES
    assert changes >= CHANGES_PER_SECOND * (status["elapsed_us"] - status["paused_us"]) / 2e6
    assert status["sent_packets"] >= PACKETS
    # On a shared machine a ring may be full while its reader is away; nodes of the router
    # that look at packets lose none.
    in_rings = ("card0", "no free tx slots")
    losses = outcome.losses()
    assert [place for place in losses if not any(ring in place for ring in in_rings)] == []
    assert outcome.of_kind("originated") == outcome.of_kind("other") == 0
    assert outcome.unexplained == 0
