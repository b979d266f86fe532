"""Latency of a profile: the sent frames do not change, and untimed ones are reported."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from linerate.experiments.latency import timed
from linerate.model.suites import DUT_MACS, Loadtest, streams
from linerate.model.testbed import Testbed
from linerate.report.offered import streams as reported
from linerate.traffic import TrafficError, loadtest_of, offered_by, parse_rate
from linerate.traffic.profile import Profile

LINK = 10**10
UDP: list[dict[str, Any]] = [{"ipv4": {}}, {"udp": {}}]
STREAM: dict[str, Any] = {"name": "a", "layers": UDP, "rate": {"pps": 1000}}


def loadtest_from(*made: dict[str, Any], rate: str = "1x") -> Loadtest:
    return loadtest_of(Profile("made", "made", made), parse_rate(rate), None, LINK)


def sent(loadtest: Loadtest, **rate: Any) -> list[dict[str, Any]]:
    return streams(loadtest, DUT_MACS, rate or {"percent": 100})


def test_bursts_are_timed_whole_and_sent_once() -> None:
    bursts = {"frames": 5, "count": 7, "gap_us": 2000}
    loadtest = loadtest_from(
        STREAM | {"bursts": bursts}, STREAM | {"name": "b", "start_us": 10}, STREAM | {"name": "c"}
    )
    plain, made = sent(loadtest), sent(timed(loadtest))
    for one, whole in zip(made[:2], plain[:2], strict=True):
        assert one | {"weight": 1} == whole | {"latency": True, "weight": 1}
    assert [one["name"] for one in made] == ["a", "b", "c", "c-latency"]
    assert loadtest.traffic.always_paced


def test_places_are_taken_once() -> None:
    made = sent(timed(offered_by("imix-genome:aaafg", Testbed())))
    for port in ("t0", "t1"):
        here = [one for one in made if one["port"] == port]
        assert sorted(place for one in here for place in one["places"]) == [0, 1, 2, 3, 4]
        assert all(one["latency"] for one in here)


def test_flows_are_renewed_as_often() -> None:
    flows = {"count": 1000, "new_per_s": 200}
    made = sent(timed(loadtest_from(STREAM | {"flows": flows})))
    assert [one["rate"]["pps"] for one in made] == pytest.approx([900, 100])
    assert [one["flows"]["new_per_s"] for one in made] == pytest.approx([180, 20])


@given(st.lists(st.tuples(st.integers(1, 1000), st.booleans()), min_size=2, max_size=9))
@settings(deadline=None)
def test_the_mix_without_rates_stays(weights: list[tuple[int, bool]]) -> None:
    """A ceiling: within the half weight that whole numbers cost, of each half."""
    weights = [(1000, True), *weights]
    profile = [
        {"name": f"{n}", "layers": UDP, "weight": weight, "signature": signed}
        for n, (weight, signed) in enumerate(weights)
    ]
    made = sent(timed(loadtest_from(*profile, rate="100%")), max=True)
    assert max(one["weight"] for one in made) <= 1000
    scale = min(1.0, 1000 / max(9 * one if ok else 10 * one for one, ok in weights))
    for number, (weight, signed) in enumerate(weights):
        of_it = [one["weight"] for one in made if one["name"].partition("-")[0] == f"{number}"]
        wanted = [9 * weight, weight] if signed else [10 * weight]
        assert len(of_it) == len(wanted)
        for have, want in zip(of_it, wanted, strict=True):
            assert abs(have - want * scale) <= 1.0


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({}, [None, True]),
        ({"signature": False}, [None]),
        ({"latency": True}, [True]),
        ({"layers": [{"ipv4": {}}, {"tcp": {}}], "frame_bytes": 71}, [None]),
        ({"layers": [{"ipv4": {}}, {"tcp": {}}], "frame_bytes": 72}, [None, True]),
        ({"layers": [{"ethernet": {}}, {"vlan": {}}, *UDP], "frame_bytes": 64}, [None, True]),
    ],
)
def test_what_has_no_room_is_not_timed(change: dict[str, Any], parts: list[bool | None]) -> None:
    other = STREAM | {"name": "b"}
    made = sent(timed(loadtest_from(STREAM | change, other)))
    assert [one.get("latency") for one in made[:-2]] == parts
    assert [one["name"] for one in made[-2:]] == ["b", "b-latency"]


def test_a_template_has_room_only_if_it_says_so() -> None:
    template = {"name": "t", "template": "00" * 60, "signature": True, "rate": {"pps": 1}}
    made = sent(timed(loadtest_from(template | {"timeable": False}, template | {"timeable": True})))
    assert [one.get("latency") for one in made] == [None, None, True]
    assert all("timeable" not in one for one in made)


def test_both_parts_of_a_stream_are_reported_as_one(evidence: Any) -> None:
    loadtest = loadtest_from(STREAM, STREAM | {"name": "b"})
    measured = evidence()
    load = measured.load.model_copy(update={"offered": loadtest.traffic.offered})
    counters = {
        "a": {"sent": 90, "received": 80, "duplicated": 1, "out_of_order": 2},
        "a-latency": {"sent": 10, "received": 9, "duplicated": 0, "out_of_order": 1},
        "b": {"sent": 100, "received": 100, "duplicated": 0, "out_of_order": 0},
    }
    one, other = reported(measured.model_copy(update={"load": load, "streams": counters}))
    assert (one.sent, one.received, one.lost, one.out_of_order) == (100, 89, 11, 3)
    assert (other.sent, other.lost) == (100, 0)


def test_what_cannot_be_timed_at_all_is_refused() -> None:
    with pytest.raises(TrafficError, match=re.escape("'made' has no frame with 14 bytes")):
        timed(loadtest_from(STREAM | {"signature": False}))
    many = [STREAM | {"name": f"{n}"} for n in range(129)]
    with pytest.raises(TrafficError, match="129 streams to time; expected at most 128"):
        timed(loadtest_from(*many))


def test_a_command_says_it_before_a_run_begins(linerate: Any, tmp_path: Path) -> None:
    wrpcap(str(tmp_path / "some.pcap"), [Ether(bytes(60))])
    refused = linerate("bench", "--traffic", "some.pcap", "--latency")
    assert refused.returncode == 2
    assert refused.stderr.startswith("the command line: latency: 'some' has no frame")
    assert not (tmp_path / "runs").exists()
