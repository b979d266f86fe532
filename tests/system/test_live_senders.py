"""Profiles that several senders of a port send: added, changed and stopped while they run."""

import time
from pathlib import Path
from typing import Any

import pytest
from tests.system.conftest import StartEngine
from tests.system.namespaces import needs_namespaces
from tests.system.test_profiles import LiveTester, of
from tests.system.test_socket_drivers import Wires, wires
from tests.system.test_socket_drivers import port as socket_port
from tests.system.test_tester_workers import made_by_node, over_memif, wait_for_links

from linerate.engine.engine_process import Engine

__all__ = ["wires"]

FLOWS = {"count": 300, "order": "increment"}
#: Streams of a profile: many flows, one, one that is timed and keeps its rate.
PPS = {"flows": 8_000, "one": 4_000, "timed": 500}
#: A machine of few CPUs may be late: a rate is looked at again then.
NEAR, LOOKS = 0.1, 20


def streams(prefix: str) -> list[dict[str, Any]]:
    made = [
        of(PPS["flows"], flows=FLOWS),
        of(PPS["one"]),
        of(PPS["timed"], latency=True, unscaled=True, frame_bytes=128),
    ]
    return [{**one, "name": f"{prefix}-{name}"} for one, name in zip(made, PPS, strict=True)]


def memif(folder: Path, senders: int, workers: int) -> dict[str, Any]:
    config = over_memif(1, workers, folder, rx_queues=senders, tx_queues=senders)
    config["tester"] = {"workers": workers, "ports": ["t0", "t1"], "profiles": True}
    return config


def frames(tester: LiveTester, port: str) -> int:
    """Frames that the port has taken."""
    counters: dict[str, Any] = tester.telemetry.ask(f"/linerate/port,{port}")
    return int(counters["tx_packets"])


def check_rate(tester: LiveTester, profile: str, pps: float) -> None:
    """It sends at that rate, sooner or later."""
    rates = []
    for _ in range(LOOKS):
        rates.append(tester.rate(profile))
        if rates[-1] == pytest.approx(pps, rel=NEAR):
            return
    raise AssertionError(f"{rates}, expected {pps}")


def check_silent(tester: LiveTester, port: str) -> None:
    """After a pause or a stop was answered no frame is made, kept or sent."""
    before, sent = frames(tester, port), tester.telemetry.table("/linerate/streams")
    time.sleep(0.1)
    assert frames(tester, port) == before
    assert tester.telemetry.table("/linerate/streams")[0]["sent"] == sent[0]["sent"]


def check_books(tester: LiveTester, engine: Engine) -> None:
    books = tester.ledger()
    rows = tester.telemetry.table("/linerate/streams")
    losses = books.get("loss", 0)
    assert books["sent"] == books["received"] + losses
    assert losses == books.get("held", 0) == 0
    for kind in ("duplicated", "corrupted", "other"):
        assert books.get(kind, 0) == 0
    assert sum(row["sent"] for row in rows) == books["sent"]
    for row in rows:
        assert row["sent"] == row["received"] > 0, row
        assert row["lost"] == row["duplicated"] == row["out_of_order"] == row["corrupted"] == 0
    made = made_by_node(engine)
    senders = [made[node] for node in made if node.startswith("tester-tx-t0")]
    assert all(senders)
    assert sum(senders) == books["sent"]


def run(engine: Engine, folder: Path) -> None:
    """Everything that a profile can be asked for, and what became of it."""
    wait_for_links(engine)
    with engine.connect() as telemetry:
        tester = LiveTester(telemetry, folder)
        scaled, fixed = PPS["flows"] + PPS["one"], PPS["timed"]
        tester.load("a", *streams("a"))
        assert tester.status("a")["pps_thousandths"] == pytest.approx(
            1000 * (scaled + fixed), abs=3
        )
        tester.ask("start", port="t0", profile="a", scale=0.1)
        check_rate(tester, "a", 0.1 * scaled + fixed)
        tester.ask("rate", port="t0", profile="a", scale=0.9)
        check_rate(tester, "a", 0.9 * scaled + fixed)
        tester.ask("pause", port="t0", profile="a")
        assert tester.status("a")["state"] == "paused"
        check_silent(tester, "t0")
        tester.ask("resume", port="t0", profile="a")
        tester.ask("rate", port="t0", profile="a", stream="a-one", scale=0)
        before = tester.telemetry.table("/linerate/streams")[1]["sent"]
        check_rate(tester, "a", 0.9 * PPS["flows"] + fixed)
        assert tester.telemetry.table("/linerate/streams")[1]["sent"] == before
        tester.load("a", {**of(2_000, flows=FLOWS), "name": "more"})
        tester.ask("rate", port="t0", profile="a", stream="a-one", scale=0.5)
        again = 0.9 * (PPS["flows"] + 0.5 * PPS["one"] + 2_000) + fixed
        check_rate(tester, "a", again)
        tester.ask("remove", port="t0", profile="a", stream="a-flows")
        tester.ask("stop", port="t0", profile="a")
        assert tester.status("a")["state"] == "idle"
        check_silent(tester, "t0")
        tester.ask("remove", port="t0", profile="a")
        check_ends(tester)
        check_books(tester, engine)


def check_ends(tester: LiveTester) -> None:
    """Profiles that end by themselves, when all of their senders are done."""
    tester.load("counted", *streams("counted"))
    tester.load("timed", *streams("timed"))
    tester.load("burst", {**of(10_000, burst=777), "name": "burst"})
    tester.ask("start", port="t0", profile="counted", scale=0.5, packets=2_345)
    tester.ask("start", port="t0", profile="timed", scale=0.5, duration_us=300_000)
    tester.ask("start", port="t0", profile="burst", scale=1)
    assert tester.wait("counted", "done")["sent"] == 2_345
    due = 0.3 * (0.5 * (PPS["flows"] + PPS["one"]) + PPS["timed"])
    # A frame more or less at each end of a part.
    assert tester.wait("timed", "done")["sent"] == pytest.approx(due, abs=9)
    assert tester.wait("burst", "done")["sent"] == 777


@pytest.mark.parametrize(("senders", "workers"), [(1, 1), (2, 2), (2, 3), (3, 3), (3, 5)])
def test_memif(start_engine: StartEngine, tmp_path: Path, senders: int, workers: int) -> None:
    engine = start_engine(memif(tmp_path, senders, workers))
    run(engine, tmp_path)


def on_sockets(driver: str, senders: int, names: tuple[str, str], found: Wires) -> dict[str, Any]:
    return {
        "memory": {"megabytes": 512},
        "ports": [
            socket_port(f"t{i}", driver, name, netns, tx_queues=senders)
            for i, (name, netns) in enumerate(zip(names, (found.tester, found.dut), strict=True))
        ],
        "tester": {"workers": senders, "ports": ["t0", "t1"], "profiles": True},
    }


@needs_namespaces
@pytest.mark.parametrize("senders", [2, 3])
@pytest.mark.parametrize("driver", ["socket-mmap", "socket-vector"])
def test_sockets(
    start_engine: StartEngine, tmp_path: Path, wires: Wires, driver: str, senders: int
) -> None:
    near, far = wires.names[0]
    engine = start_engine(on_sockets(driver, senders, (near, far), wires))
    run(engine, tmp_path)


@pytest.mark.parametrize("senders", [2, 3])
def test_no_frame_after_a_pause_under_overload(
    start_engine: StartEngine, tmp_path: Path, senders: int
) -> None:
    """More than the machine can send: each sender is late, and the port full."""
    engine = start_engine(memif(tmp_path, senders, senders))
    wait_for_links(engine)
    with engine.connect() as telemetry:
        tester = LiveTester(telemetry, tmp_path)
        tester.load("a", {**of(14_000_000, flows=FLOWS), "name": "a"})
        tester.ask("start", port="t0", profile="a", scale=1)
        for _ in range(5):
            time.sleep(0.1)
            tester.ask("pause", port="t0", profile="a")
            check_silent(tester, "t0")
            tester.ask("resume", port="t0", profile="a")
        tester.ask("stop", port="t0", profile="a")
        check_silent(tester, "t0")
        assert tester.ledger()["sent"] == tester.telemetry.table("/linerate/streams")[0]["sent"]
