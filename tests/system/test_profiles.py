"""Profiles of streams that come, go and change their rates while the engine runs."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.system.configs import card_config, stream
from tests.system.conftest import StartEngine
from tests.system.trials import read_ledger

from linerate.engine.telemetry import RefusedError, Telemetry

LINE = 14_880_952
#: Time that a rate is looked at, on the tester's clock.
LOOK_SECONDS = 0.5


class LiveTester:
    """A tester that takes profiles, over a card and a forwarder of ours."""

    def __init__(self, telemetry: Telemetry, folder: Path) -> None:
        self.telemetry = telemetry
        self.folder = folder

    def ask(self, command: str, **values: object) -> dict[str, Any]:
        words = ",".join(f"{key}={value}" for key, value in values.items())
        answer: dict[str, Any] = self.telemetry.ask(f"/linerate/profiles/{command},{words}")
        return answer

    def refused(self, command: str, **values: object) -> str:
        with pytest.raises(RefusedError) as refusal:
            self.ask(command, **values)
        return str(refusal.value)

    def load(self, profile: str, *streams: dict[str, Any], port: str = "t0") -> dict[str, Any]:
        return self.ask("load", port=port, profile=profile, file=self.file(*streams))

    def file(self, *streams: object) -> Path:
        path = self.folder / "streams.json"
        path.write_text(json.dumps({"streams": list(streams)}))
        return path

    def status(self, profile: str) -> dict[str, Any]:
        rows: list[dict[str, Any]] = self.telemetry.table("/linerate/profiles")
        (row,) = [row for row in rows if row["profile"] == profile]
        return row

    def rate(self, profile: str) -> float:
        """Frames for each second of the tester's own clock."""
        first = self.status(profile)
        time.sleep(LOOK_SECONDS)
        last = self.status(profile)
        us = last["elapsed_us"] - first["elapsed_us"]
        return float((last["sent"] - first["sent"]) * 1e6 / us)

    def wait(self, profile: str, state: str) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while (row := self.status(profile))["state"] != state:
            assert time.monotonic() < deadline, row
            time.sleep(0.02)
        return row

    def ledger(self) -> dict[str, int]:
        """Packets by kind, once nothing moves any more."""
        before = None
        while (rows := read_ledger(self.telemetry)) != before:
            before = rows
            time.sleep(0.1)
        sums: dict[str, int] = {}
        for (_, kind), packets in rows.items():
            sums[kind] = sums.get(kind, 0) + packets
        return sums


@pytest.fixture
def tester(start_engine: StartEngine, tmp_path: Path) -> Any:
    config = card_config({}, {"mode": "io"}, [])
    config["tester"]["profiles"] = True
    with start_engine(config).connect() as telemetry:
        yield LiveTester(telemetry, tmp_path)


def of(pps: float, **more: Any) -> dict[str, Any]:
    made = stream(0, **{"rate": {"pps": pps}, **more})
    return {key: value for key, value in made.items() if key not in ("port", "rx_port")}


def test_rates_change_while_it_runs_and_nothing_is_lost(tester: LiveTester) -> None:
    assert tester.load("a", of(1_000_000, name="one")) == {"done": 1}
    assert tester.ask("start", port="t0", profile="a", scale=0.1) == {"done": 1}
    assert tester.rate("a") == pytest.approx(100_000, rel=0.03)
    assert tester.ask("rate", port="t0", profile="a", scale=0.9) == {"done": 1}
    assert tester.rate("a") == pytest.approx(900_000, rel=0.03)
    tester.ask("pause", port="t0", profile="a")
    paused = tester.wait("a", "paused")["sent"]
    time.sleep(0.2)
    assert tester.status("a")["sent"] == paused
    tester.ask("resume", port="t0", profile="a")
    assert tester.rate("a") == pytest.approx(900_000, rel=0.03)
    tester.ask("stop", port="t0", profile="a")
    sent = tester.status("a")["sent"]
    assert tester.status("a")["state"] == "idle"
    time.sleep(0.1)
    assert tester.status("a")["sent"] == sent
    books = tester.ledger()
    assert books["sent"] == sent == books["received"] + books.get("loss", 0)


def test_profiles_of_a_port_have_their_own_ends(tester: LiveTester) -> None:
    tester.load("long", of(50_000))
    tester.load("counted", of(50_000))
    tester.load("timed", of(50_000))
    tester.load("burst", of(50_000, burst=777))
    tester.ask("start", port="t0", profile="long", scale=1)
    tester.ask("start", port="t0", profile="counted", scale=1, packets=12345)
    tester.ask("start", port="t0", profile="timed", scale=2, duration_us=300_000)
    tester.ask("start", port="t0", profile="burst", scale=1)
    assert tester.wait("counted", "done")["sent"] == 12345
    assert tester.wait("timed", "done")["sent"] == pytest.approx(30_000, abs=1)
    assert tester.wait("burst", "done")["sent"] == 777
    assert tester.status("long")["state"] == "running"
    tester.ask("stop", port="t0", profile="long")
    # And again: a run counts anew.
    tester.ask("start", port="t0", profile="burst", scale=1)
    assert tester.wait("burst", "done")["sent"] == 777


def test_streams_come_go_and_change_by_themselves(tester: LiveTester) -> None:
    tester.load("a", of(100_000, name="one"), of(200_000, name="two"))
    tester.ask("start", port="t0", profile="a", scale=1)
    assert tester.rate("a") == pytest.approx(300_000, rel=0.03)
    tester.ask("rate", port="t0", profile="a", stream="two", scale=0)
    assert tester.rate("a") == pytest.approx(100_000, rel=0.03)
    tester.ask("rate", port="t0", profile="a", stream="two", scale=0.5)
    assert tester.rate("a") == pytest.approx(200_000, rel=0.03)
    tester.load("a", of(50_000, name="timed", latency=True, frame_bytes=90, unscaled=True))
    tester.ask("rate", port="t0", profile="a", scale=2)
    assert tester.rate("a") == pytest.approx(450_000, rel=0.03)
    tester.ask("remove", port="t0", profile="a", stream="one")
    assert tester.rate("a") == pytest.approx(250_000, rel=0.03)
    tester.ask("stop", port="t0", profile="a")
    books = tester.ledger()
    rows = tester.telemetry.table("/linerate/streams")
    assert {row["name"] for row in rows} == {"one", "two", "timed"}
    assert sum(row["sent"] for row in rows) == books["sent"]
    assert sum(row["received"] for row in rows) == books["received"]
    assert sum(row["lost"] for row in rows) <= books["loss"] == books["sent"] - books["received"]
    assert sum(row["duplicated"] + row["out_of_order"] + row["corrupted"] for row in rows) == 0


def test_a_start_at_a_time(tester: LiveTester) -> None:
    tester.load("a", of(1000))
    at = time.time() + 0.5
    tester.ask("start", port="t0", profile="a", scale=1, at_us=int(at * 1e6))
    assert tester.status("a")["sent"] == 0
    tester.ask("rate", port="t0", profile="a", scale=2)
    time.sleep(max(0, at - time.time()) + 1)
    row = tester.status("a")
    assert 0 < row["elapsed_us"] < (time.time() - at + 0.1) * 1e6
    assert row["sent"] == pytest.approx(row["elapsed_us"] * 2000 / 1e6, abs=200)


def test_what_can_not_be_done_is_refused_and_changes_nothing(tester: LiveTester) -> None:
    a = {"port": "t0", "profile": "a"}
    assert "no profile 'a'" in tester.refused("start", scale=1, **a)
    assert "no port of the tester" in tester.refused("stop", port="e0", profile="a")
    for streams, problem in (
        ([of(1), {"frames": 64}], "unknown key"),
        (["stream"], "expected a"),
        ([of(1, name="same"), of(1, start_us=7, rate={"max": True})], "rate"),
    ):
        assert problem in tester.refused("load", file=tester.file(*streams), **a)
    assert "No such file" in tester.refused("load", file="/nowhere", **a)
    assert tester.telemetry.table("/linerate/profiles") == []
    tester.load("a", of(LINE))
    assert "200 % of line" in tester.refused("start", scale=2, **a)
    assert "not running" in tester.refused("pause", **a)
    tester.ask("start", scale=0.01, **a)
    assert "stop it first" in tester.refused("start", scale=1, **a)
    assert "stop it first" in tester.refused("remove", **a)
    assert "of line" in tester.refused("rate", scale=1.5, **a)
    assert "no stream" in tester.refused("rate", stream="x", scale=1, **a)
    for nonsense in ("scale=-1", "scale=x", "scale=1,scale=1", "scale=1,packets=-1", "", "scale"):
        with pytest.raises(RefusedError):
            tester.telemetry.ask(f"/linerate/profiles/start,port=t0,profile=a,{nonsense}")
    with pytest.raises(RefusedError, match="busy"):
        tester.telemetry.ask("/linerate/trial/start,duration_us=1000,scale_ppm=1000")
    assert tester.rate("a") == pytest.approx(LINE / 100, rel=0.03)
    tester.ask("stop", **a)
    assert tester.ask("remove", **a) == {"done": 1}
