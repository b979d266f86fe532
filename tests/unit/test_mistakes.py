"""Expected values are reported for each text: not for all that they are names."""

import json

import pytest

from linerate.base import pci
from linerate.base.errors import TestbedError
from linerate.base.line_rate import parse_bps
from linerate.base.validation import _EXPECTED_TEXT
from linerate.model import testbed
from linerate.model.nic_presets import card_option
from linerate.traffic import TrafficError, find
from linerate.traffic.native_profile import Document
from linerate.traffic.rate import parse_rate

LAYER = """
streams:
- name: a
  frame_bytes: 64
  rate: {{percent: 1}}
  layers: [{layer}]
"""


def patterns(node):
    """Patterns anywhere in a JSON schema."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from [value] if key == "pattern" and isinstance(value, str) else patterns(value)
    elif isinstance(node, list):
        for value in node:
            yield from patterns(value)


@pytest.mark.parametrize(
    "document", [Document.model_json_schema(), testbed.Testbed.model_json_schema()]
)
def test_every_pattern_of_a_file_has_words(document):
    found = set(patterns(json.loads(json.dumps(document))))
    assert found
    assert found <= set(_EXPECTED_TEXT)


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        ("{ipv4: {src: x, dst: 1.2.3.4}}", "ipv4.src: expected an IP address, not 'x'"),
        (
            "{ethernet: {src: 02-00-00-00-00-01}}",
            "ethernet.src: expected a MAC address as 02:00:00:00:0e:00, not '02-00-00-00-00-01'",
        ),
    ],
)
def test_an_address_is_no_name(tmp_path, layer, text):
    path = tmp_path / "traffic.yaml"
    path.write_text(LAYER.format(layer=layer))
    with pytest.raises(TrafficError) as caught:
        find(str(path))
    assert str(caught.value) == f"{path}: streams.0.layers.0.{text}"


def test_a_socket_is_a_path():
    with pytest.raises(TestbedError) as caught:
        testbed.parse({"wire": "memif", "tester": {"sockets": ["a b", "c"]}}, "bed.yaml")
    assert "sockets.0: expected a path of 1 to 107 bytes without blanks and commas, not 'a b'" in (
        str(caught.value)
    )


PORTS = {"wire": "ethdev", "dut": {"kind": "external", "macs": ["02:00:00:00:0e:00"] * 2}}


@pytest.mark.parametrize(
    ("ports", "lines"),
    [
        (
            ["eth0", "0000:05:00.1"],
            [
                "bed.yaml: tester.ports.0.device: expected a PCI address as 0000:05:00.0, or a "
                "device of DPDK's as net_af_packet0, not 'eth0'; `linerate doctor` lists the "
                "addresses of cards"
            ],
        ),
        (
            ["0000:05:00.0", "05:00.0"],
            ["bed.yaml: ports: expected a device for each port, not 0000:05:00.0 twice"],
        ),
    ],
)
def test_a_port_is_a_device_of_its_own(ports, lines):
    document = PORTS | {"tester": {"ports": [{"device": port} for port in ports]}}
    with pytest.raises(TestbedError) as caught:
        testbed.parse(document, "bed.yaml")
    assert caught.value.lines == lines


def test_the_address_of_an_interface_is_named(tmp_path):
    card = tmp_path / "devices/0000:05:00.0"
    card.mkdir(parents=True)
    (tmp_path / "net/enp5s0").mkdir(parents=True)
    (tmp_path / "net/enp5s0/device").symlink_to(card)
    with pytest.raises(ValueError, match=r"not 'enp5s0': the address of enp5s0 is 0000:05:00\.0$"):
        pci.check_device("enp5s0", tmp_path / "net")
    assert pci.check_device("net_af_packet0") == "net_af_packet0"
    assert pci.check_device("5:00.0") == "0000:05:00.0"


def test_a_group_of_stations_is_no_port():
    document = {"wire": "memif", "dut": {"kind": "external", "macs": ["01:00:5e:00:00:01"] * 2}}
    with pytest.raises(TestbedError, match="01:00:5e:00:00:01 is a group's"):
        testbed.parse(document, "bed.yaml")


def test_an_empty_file_is_no_testbed(tmp_path):
    path = tmp_path / "bed.yaml"
    path.write_text("# nothing yet\n")
    with pytest.raises(TestbedError) as caught:
        testbed.load(path)
    assert caught.value.lines == [f"{path}: empty: expected keys and values, as `wire: card`"]


@pytest.mark.parametrize(
    ("dut", "wire"),
    [("kernel", "veth"), ("testpmd:mac", "veth"), ("vpp", "memif"), ("io", "card")],
)
def test_a_device_has_a_wire_that_it_works_on(dut, wire):
    assert testbed.with_options(testbed.Testbed(), dut=dut).wire == wire


def test_a_wire_of_the_users_stays():
    with pytest.raises(TestbedError, match="expected veth or af_xdp for kernel"):
        testbed.with_options(testbed.Testbed(), dut="kernel", wire="card")
    af_xdp = testbed.Testbed(wire="af_xdp")
    assert testbed.with_options(af_xdp, dut="kernel").wire == "af_xdp"


def test_a_limit_of_a_card_has_its_unit():
    assert card_option("pps=200k") == {"pps_ceiling": 200_000}
    assert card_option("pps=2M") == {"pps_ceiling": 2_000_000}
    with pytest.raises(ValueError, match="expected a whole number"):
        card_option("pps=k")


def test_a_rate_without_its_unit_is_refused_with_both():
    with pytest.raises(TrafficError, match="expected a unit, 2Mpps or 2Mbps; not '2M'"):
        parse_rate("2M")


def test_a_bit_rate_without_its_unit():
    with pytest.raises(ValueError, match="expected a bit rate with its unit, as 10G, not '10'"):
        parse_bps("10")
    assert parse_bps("1000") == 1000


@pytest.mark.parametrize("options", [["--json"], ["--format", "csv"], ["-o", "page.html"]])
def test_several_runs_are_compared_not_put_into_one_output(linerate, options):
    done = linerate("report", "a", "b", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "the command line: pages alone can be of several; "
        "linerate compare a b puts them side by side\n"
    )
