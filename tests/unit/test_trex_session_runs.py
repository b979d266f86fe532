"""Runs of TRex's clients: a failure to keep one is reported once, and ends nothing else."""

import json

import pytest
from tests.trex_rpc import stream

from linerate.model.testbed import Testbed
from linerate.trex_server.port import Port
from linerate.trex_server.profiles import Profile, Stream
from linerate.trex_server.session_runs import SessionRuns
from linerate.trex_server.traffic_engine import PortInfo
from linerate.trex_server.translation import parsed

PORT = PortInfo("t0", "card", "02:00:00:00:01:00", 10_000_000_000)


class Broken:
    """A tester of which nothing can be read."""

    info: dict[str, str] = {}
    box = None

    @property
    def tester(self):
        raise ZeroDivisionError("no reading")


def profile_of(**changes):
    given = stream(**changes)
    return Profile("trex-1", {1: Stream(given, parsed(given), "p0-s1")})


@pytest.mark.parametrize(("name", "reason"), [("file", "a file"), ("folder", "no reading")])
def test_a_failure_is_reported_once(tmp_path, name, reason):
    (tmp_path / "file").touch()
    lines: list[str] = []
    runs = SessionRuns(Broken(), Testbed(), tmp_path / name, ("linerate",), lines.append)  # type: ignore[arg-type]
    port, profile = Port(0, PORT), profile_of()
    for _ in range(2):
        runs.starts(port, profile, 1.0)
        runs.changes()
        runs.look([port])
        runs.close([port])
    failures = [line for line in lines if "not kept" in line]
    assert len(failures) == 1
    assert reason in failures[0]
    for written in tmp_path.glob("folder/*/run.json"):
        assert json.loads(written.read_text())["status"] == "failed"


@pytest.mark.parametrize(
    ("changes", "is_even"),
    [
        ({}, True),
        ({"isg": 5.0}, False),
        ({"self_start": False}, False),
        ({"enabled": False}, False),
        ({"mode": {"type": "single_burst", "rate": {"type": "pps", "value": 5}}}, False),
    ],
)
def test_rates_are_those_asked_for_where_all_streams_send_all_the_time(changes, is_even):
    assert profile_of(**changes).is_even == is_even
