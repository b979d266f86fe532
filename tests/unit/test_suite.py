"""The eight standard loadtests, and the streams that offer them."""

import ipaddress

import pytest

from linerate.model.suites import SUITES, Loadtest, Traffic, select, streams

MACS = ("02:00:00:00:0e:00", "02:00:00:00:0e:01")
STANDARD = {test.name: test for test in SUITES["standard"].loadtests}


def layers(stream):
    return {name: fields for layer in stream["layers"] for name, fields in layer.items()}


def test_the_eight_are_those_of_the_published_tables():
    assert list(STANDARD) == ["U1", "U2", "U3", "U4", "B1", "B2", "B3", "B4"]
    kinds = [
        (t.traffic.frame_bytes, t.traffic.flows, t.traffic.protocol) for t in STANDARD.values()
    ]
    four = [(1514, "many", "ipv4"), (64, "many", "ipv4"), (64, "one", "ipv4"), (64, "one", "mpls")]
    assert kinds == four + four
    assert [test.directions for test in STANDARD.values()] == [1] * 4 + [2] * 4


def test_some_can_be_selected():
    assert [test.name for test in select("standard", "b2, U1")] == ["U1", "B2"]
    assert len(select("standard")) == 8


@pytest.mark.parametrize(
    ("suite", "only"), [("nightly", None), ("standard", "U9"), ("standard", ",")]
)
def test_unknown_names_are_refused(suite, only):
    with pytest.raises(ValueError, match="expected"):
        select(suite, only)


def test_one_direction_goes_from_t0_to_t1():
    (stream,) = streams(STANDARD["U3"], MACS, {"percent": 100})
    assert (stream["port"], stream["rx_port"]) == ("t0", "t1")
    assert layers(stream)["ethernet"] == {"src": "50:7c:6f:20:30:70", "dst": MACS[0]}
    assert stream["modifiers"] == []


def test_both_directions_mirror_each_other():
    there, back = streams(STANDARD["B2"], MACS, {"percent": 100})
    assert (back["port"], back["rx_port"]) == (there["rx_port"], there["port"])
    assert layers(back)["ipv4"]["src"] == layers(there)["ipv4"]["dst"]
    assert layers(back)["ethernet"] == {"src": "50:7c:6f:20:30:71", "dst": MACS[1]}


def test_many_flows_stay_within_the_networks():
    made = streams(STANDARD["B2"], MACS, {"percent": 100})
    assert len(made) == 2
    for stream in made:
        fields = {modifier["field"]: modifier for modifier in stream["modifiers"]}
        assert set(fields) == {"ipv4.src", "ipv4.dst", "udp.src"}
        for name in ("ipv4.src", "ipv4.dst"):
            network = ipaddress.ip_network(layers(stream)["ipv4"][name[5:]] + "/24", strict=False)
            for bound in ("min", "max"):
                assert ipaddress.ip_address(fields[name][bound]) in network


@pytest.mark.parametrize("directions", [1, 2])
def test_skewed_flows_are_one_large_one_and_many(directions):
    loadtest = Loadtest("U2", Traffic(64, "skewed", "mpls"), directions)
    made = streams(loadtest, MACS, {"percent": 100})
    assert len({stream["name"] for stream in made}) == len(made) == 2 * directions
    for large, rest in zip(made[::2], made[1::2], strict=True):
        assert large["rate"]["percent"] > 5 * rest["rate"]["percent"]
        assert large["rate"]["percent"] + rest["rate"]["percent"] == pytest.approx(100)
        assert large["modifiers"] == []
        assert rest["modifiers"]
        assert layers(large) == layers(rest)
        assert large["port"] == rest["port"]
    assert all(stream["rate"] == {"max": True} for stream in streams(loadtest, MACS, {"max": True}))
    assert loadtest.text.startswith("64 B MPLS, skewed flows")


def test_labels_arrive_where_the_router_swaps_them():
    there, back = streams(STANDARD["B4"], MACS, {"percent": 100})
    assert layers(there)["mpls"]["label"] == 16
    assert layers(back)["mpls"]["label"] == 17
    assert list(layers(there)) == ["ethernet", "mpls", "ipv4", "udp"]


def test_the_line_carries_both_directions():
    assert STANDARD["B2"].line_pps(10e9) == 2 * STANDARD["U2"].line_pps(10e9)
    assert STANDARD["U2"].line_pps(10e9) == pytest.approx(14_880_952, abs=1)
