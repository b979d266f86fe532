"""Links of real ports: awaited, compared with the testbed, and watched, on the fake engine."""

import json
from pathlib import Path
from typing import cast

import pytest
from tests.command import result_of

from linerate.base.errors import SetupError
from linerate.engine.telemetry import Telemetry
from linerate.lab.tester._links import PortLinks, await_links, text_of
from linerate.model.measurement import Link
from linerate.results.store import load_measurement, load_run

TESTER = [{"device": "0000:05:00.0"}, {"device": "0000:05:00.1"}]
DUT = [{"device": "0000:06:00.0"}, {"device": "0000:06:00.1"}]
BENCH = ("bench", "bed.yaml", "--duration", "1s", "--only", "U2", "--json")


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def linerate(linerate_process):
    """A process: the folder of devices is looked up when modules are loaded."""
    return linerate_process


@pytest.fixture
def bed(tmp_path):
    """Write a testbed of real ports."""

    def write(**changes):
        document = {"wire": "ethdev", "tester": {"ports": TESTER}, "dut": {"ports": DUT}, **changes}
        (tmp_path / "bed.yaml").write_text(json.dumps(document))

    return write


class Ports:
    """Telemetry of ports whose links never change."""

    def __init__(self, *links):
        self._links = links

    def table(self, _command):
        return [
            {"name": name, "state": state, "speed_bps": speed} for name, state, speed in self._links
        ]


def awaited(*links, link_bps=None, say=lambda _text: None):
    devices = {"t0": "0000:05:00.0", "t1": "0000:05:00.1"}
    return await_links(
        PortLinks(cast(Telemetry, Ports(*links)), devices, link_bps, say), wait_seconds=0.3
    )


def test_links_that_are_up_are_not_waited_for():
    text: list[str] = []
    links = awaited(("t0", "up", 10**10), ("t1", "up", 0), link_bps=10**10, say=text.append)
    assert (links["t0"].speed_bps, links["t1"].speed_bps, text) == (10**10, 0, [])


def test_a_link_that_never_comes_up_names_the_port():
    text: list[str] = []
    with pytest.raises(SetupError) as refused:
        awaited(("t0", "up", 10**10), ("t1", "down", 0), say=text.append)
    assert str(refused.value) == (
        "t1 (0000:05:00.1): no link after 0 s: check its cable and transceiver, and that the port "
        "at the other end is up"
    )
    assert text == ["waiting for link of t1 (0000:05:00.1)"]


def test_less_than_the_testbed_says_is_refused():
    with pytest.raises(SetupError) as refused:
        awaited(("t0", "up", 10**9), link_bps=10**10)
    assert str(refused.value) == (
        "t0 (0000:05:00.0): negotiated 1 Gb/s, but the testbed says link: 10 Gb/s; check the cable "
        "and the other end, or correct `link`"
    )


def test_a_late_link_is_waited_for_and_reported(linerate, bed):
    bed()
    done = linerate(*BENCH, FAKE_LINK_SPEED=str(10**10), FAKE_LINK_AFTER="9")
    document = result_of(done.stdout)
    assert done.returncode == 0, done.stderr
    assert "waiting for link of t1 (0000:05:00.1)" in done.stderr.splitlines()
    run = load_run(Path(document["run"]))
    # Without `link` 100 % is what was negotiated.
    assert run.testbed.line_bps == 10**10
    assert run.environment.links == "10 Gb/s full duplex"
    links = load_measurement(Path(document["run"]), "U2").links
    assert {(link.state, link.speed_bps) for link in links.values()} == {("up", 10**10)}


def test_the_heading_has_speed_and_duplex(linerate, bed):
    bed(link="10G")
    done = linerate(*BENCH[:-1], FAKE_LINK_SPEED=str(10**10))
    heading = " ".join(" ".join(done.stdout.splitlines()[:3]).split())
    assert "links: 10 Gb/s full duplex" in heading


def test_percent_is_of_the_negotiated_rate(linerate, bed):
    bed()
    document = result_of(linerate(*BENCH, FAKE_LINK_SPEED=str(25 * 10**9)).stdout)
    assert load_measurement(Path(document["run"]), "U2").load.link_bps == 25 * 10**9


def test_a_link_slower_than_asked_for_ends_the_bench(linerate, bed):
    bed(link="25G")
    done = linerate(*BENCH, FAKE_LINK_SPEED=str(10**10))
    assert done.returncode == 1
    assert (
        "t0 (0000:05:00.0): negotiated 10 Gb/s, but the testbed says link: 25 Gb/s" in done.stderr
    )
    assert not done.stdout


def test_a_port_of_unknown_speed_takes_any_link(linerate, bed):
    bed(link="10G")
    assert linerate(*BENCH, FAKE_LINK_SPEED="0").returncode == 0


def test_a_port_of_unknown_speed_needs_a_link(linerate, bed):
    bed()
    done = linerate(*BENCH, FAKE_LINK_SPEED="0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "link: t0: the driver names no speed; add it, as `link: 10G`\n"


def test_virtual_ports_need_a_link(linerate, bed):
    bed(tester={"ports": [{"device": "net_af_packet0"}, {"device": "0000:05:00.1"}]})
    done = linerate(*BENCH)
    assert done.returncode == 2
    assert done.stderr.startswith("bed.yaml: link: required with `wire: ethdev`")


def test_a_link_that_goes_down_makes_the_trial_invalid(linerate, bed):
    bed(link="10G")
    done = linerate(*BENCH, FAKE_LINK_SPEED=str(10**10), FAKE_LINK_DOWN="0.2")
    assert done.returncode == 1
    (trial,) = result_of(done.stdout)["trials"]
    assert trial["invalid"] == ["t0: link down since 0.2 s"]
    assert trial["attempt"] == 3


def test_links_that_differ_are_named():
    both = {"t0": Link(state="up", speed_bps=10**10, duplex="full")}
    both["t1"] = both["t0"].model_copy(update={"speed_bps": 10**9})
    assert text_of(both) == "t0 10 Gb/s full duplex, t1 1 Gb/s full duplex"
    both["t1"] = both["t0"].model_copy(update={"speed_bps": 0})
    assert text_of(both) == "t0 10 Gb/s full duplex"
