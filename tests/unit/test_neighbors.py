"""The tester's addresses, networks and neighbours: of a testbed file, in the engine's words."""

from ipaddress import IPv4Network

import pytest
from tests.unit.test_testbed import REAL

from linerate.base.errors import SetupError, TestbedError
from linerate.engine.telemetry import RefusedError
from linerate.lab import engine_config
from linerate.lab.links import End, Ends
from linerate.lab.neighbors import ATTEMPTS, learnt
from linerate.lab.users_networks import moved
from linerate.model.suites import select
from linerate.model.testbed import Testbed, parse, with_options
from linerate.traffic import find, loadtest_of, parse_rate

ENDS = Ends((End({"driver": "ethdev"}), End({"driver": "ethdev"})), None)
U2, B2 = select("standard", "U2,B2")
PORTS = [{"name": "e0", "address": "100.64.1.1/30"}, {"name": "e1", "address": "100.64.2.1/30"}]
OWN = ["100.64.1.2/30", ["100.64.2.2/30", "fd00::2/64"]]


def bed(dut: object = None, **tester: object) -> Testbed:
    return parse(
        {
            "wire": "veth",
            "tester": {"interfaces": ["eth1", "eth2"], "addresses": OWN} | tester,
            "dut": dut or {"kind": "external", "ports": PORTS},
        },
        "x",
    )


def test_the_engine_gets_the_addresses_of_both_ports():
    tester = engine_config.tester_config(bed(vlans=[10, 20]), ENDS, B2, "x")["tester"]
    assert tester["addresses"] == [
        {"port": "t0", "address": "100.64.1.2/30", "vlan": 10},
        {"port": "t1", "address": "100.64.2.2/30", "vlan": 20},
        {"port": "t1", "address": "fd00::2/64", "vlan": 20},
    ]
    tags = {stream["port"]: stream["layers"][1] for stream in tester["streams"]}
    assert tags == {"t0": {"vlan": {"id": 10}}, "t1": {"vlan": {"id": 20}}}


def test_addresses_of_cards_stand_beside_their_devices():
    ports = [
        {"device": "0000:05:00.0", "address": "100.64.1.2/30"},
        {"device": "0000:05:00.1", "address": "100.64.2.2/30"},
    ]
    testbed = parse(
        REAL | {"tester": {"ports": ports}, "dut": {"kind": "external", "ports": PORTS}}, "x"
    )
    assert testbed.neighbors == ("100.64.1.1", "100.64.2.1")
    config = engine_config.tester_config(testbed, ENDS, U2, "x")
    assert [one["address"] for one in config["tester"]["addresses"]] == [
        "100.64.1.2/30",
        "100.64.2.2/30",
    ]
    assert with_options(testbed, link="1G").neighbors == testbed.neighbors


def test_frames_are_between_the_users_networks():
    testbed = bed(networks=["10.1.0.0/16", "192.168.7.16/28"])
    stream = engine_config.tester_config(testbed, ENDS, U2, "x")["tester"]["streams"][0]
    assert stream["layers"][1]["ipv4"]["src"] == "10.1.0.1"
    assert stream["layers"][1]["ipv4"]["dst"] == "192.168.7.17"
    ranges = {one["field"]: (one["min"], one["max"]) for one in stream["modifiers"]}
    assert ranges["ipv4.src"] == ("10.1.0.1", "10.1.0.254")
    assert ranges["ipv4.dst"] == ("192.168.7.17", "192.168.7.30")
    default = engine_config.tester_config(bed(), ENDS, U2, "x")["tester"]["streams"][0]
    assert default["layers"][1]["ipv4"]["src"] == "16.0.0.1"


def test_addresses_of_a_users_own_file_stay_and_those_of_a_mix_are_moved(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(
        "streams:\n- port: 0\n  layers:\n  - ethernet: {}\n  - vlan: {id: 7}\n"
        "  - ipv4: {src: 16.0.0.1, dst: 48.0.0.9}\n  - udp: {src: 1025, dst: 12}\n"
        "  frame_bytes: 64\n",
        encoding="utf-8",
    )
    testbed = bed(networks=["10.1.0.0/24", "10.2.0.0/24"], vlans=[10, 20])
    found = {}
    for name in (str(own), "imix"):
        loadtest = loadtest_of(find(name), parse_rate("100%"), None, 10**9)
        stream = engine_config.tester_config(testbed, ENDS, loadtest, "x")["tester"]["streams"][0]
        layers = {kind: layer[kind] for layer in stream["layers"] for kind in layer}
        found[name] = layers["ipv4"]["src"], layers["vlan"]["id"], len(stream["layers"])
    assert found == {str(own): ("16.0.0.1", 7, 4), "imix": ("10.1.0.1", 10, 4)}


@pytest.mark.parametrize(
    ("network", "host"),
    [("10.0.0.0/30", "10.0.0.2"), ("10.0.0.0/31", "10.0.0.1"), ("10.0.0.9/32", "10.0.0.9")],
)
def test_small_networks_have_few_hosts(network, host):
    networks = (IPv4Network(network), IPv4Network("11.0.0.0/24"))
    assert moved("16.0.0.254", networks) == host
    assert moved("48.0.0.7", networks) == "11.0.0.7"
    assert moved("100.64.1.1", networks) == "100.64.1.1"


@pytest.mark.parametrize(
    ("tester", "dut", "asked"),
    [
        ({}, None, ("100.64.1.1", "100.64.2.1")),
        ({"next_hops": ["100.64.1.1", "fe80::1"]}, {"kind": "external"}, ("100.64.1.1", "fe80::1")),
        ({}, {"kind": "external", "macs": ["02:00:00:00:00:01"] * 2, "ports": PORTS}, None),
    ],
)
def test_who_is_asked(tester, dut, asked):
    assert bed(dut, **tester).neighbors == asked


@pytest.mark.parametrize(
    ("tester", "dut", "line"),
    [
        (
            {"addresses": ["100.64.9.2/30", "100.64.2.2/30"]},
            None,
            "x: dut.ports.0.address: 100.64.1.1 is on no subnet of the tester's port "
            "(100.64.9.2/30): correct one of them, or give the neighbours as tester.next_hops",
        ),
        (
            {"next_hops": ["100.64.1.1", "100.64.2.2"]},
            None,
            "x: tester.next_hops.1: 100.64.2.2 is the tester's own address",
        ),
        (
            {"networks": ["10.0.0.0/24", "10.0.0.1/24"]},
            None,
            "x: tester.networks.1: expected an IPv4 prefix",
        ),
    ],
)
def test_addresses_that_do_not_fit_are_refused_in_a_line(tester, dut, line):
    with pytest.raises(TestbedError) as error:
        bed(dut, **tester)
    assert str(error.value).startswith(line)


def test_a_device_of_ours_is_given_its_neighbours():
    with pytest.raises(
        TestbedError, match=r"tester\.networks: expected with a device that is there"
    ):
        parse({"tester": {"networks": ["10.0.0.0/24", "10.1.0.0/24"]}}, "x")


class Asked:
    """A tester whose neighbours answer at the given attempt."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.questions: list[tuple[str, str, int | None]] = []

    def resolve(self, port: str, address: str, vlan: int | None) -> str:
        self.questions.append((port, address, vlan))
        if len(self.questions) < self.at:
            raise RefusedError("resolve", {"error": "no answer"})
        return f"02:aa:00:00:00:{len(self.questions):02x}"


def test_neighbours_that_come_late_are_asked_again():
    asked = Asked(2)
    output: list[str] = []
    macs = learnt(asked, bed(vlans=[10, 20]), output.append)
    assert macs == {
        "02:00:00:00:0e:00": "02:aa:00:00:00:02",
        "02:00:00:00:0e:01": "02:aa:00:00:00:03",
    }
    assert asked.questions[-1] == ("t1", "100.64.2.1", 20)
    assert output == [
        "t0: 100.64.1.1 is at 02:aa:00:00:00:02",
        "t1: 100.64.2.1 is at 02:aa:00:00:00:03",
    ]


def test_one_that_never_answers_ends_it_in_a_line():
    asked = Asked(100)
    with pytest.raises(
        SetupError, match=r"t0: neighbour 100\.64\.1\.1: no answer: check the cable"
    ):
        learnt(asked, bed(), print)
    assert len(asked.questions) == ATTEMPTS
