"""Set-ups of boxes as they answer, what each lacks, and the lines for it in each language."""

import json
from dataclasses import replace

import pytest

from linerate.experiments.box_check import cabling
from linerate.experiments.box_check.ports import ports
from linerate.experiments.box_check.wanted import both_sides
from linerate.experiments.first_packets import Crossing, Hop, Way, refusal
from linerate.lab.box import configuration
from linerate.model.box_setup import Missing, Setup, missing
from linerate.model.testbed import Testbed, parse
from linerate.parsers import box_setups
from linerate.parsers.boxes import Asked


def bed(**changes: object) -> Testbed:
    ports = [{"name": "e0", "address": "100.64.1.1/30"}, {"name": "e1"}]
    dut = {
        "kind": "linux",
        "at": "netns:box",
        "ports": ports,
        "macs": ["02:00:00:00:0e:00", "02:00:00:00:0e:01"],
    }
    document = {"wire": "veth", "tester": {"interfaces": ["a", "b"]}, "dut": dut}
    return parse(document | changes, "test")


def link(name: str, mac: str, **more: object) -> dict[str, object]:
    return {
        "ifname": name,
        "flags": ["UP", "LOWER_UP"],
        "mtu": 1500,
        "link_type": "ether",
        "address": mac,
        "stats64": {"rx": {"packets": 7}},
        **more,
    }


LINUX = {
    "ip -j -s link": json.dumps(
        [link("e0", "02:00:00:00:0E:00"), link("e1", "02:00:00:00:0e:01", flags=[])]
    ),
    "ip -j addr": json.dumps(
        [{"ifname": "e0", "addr_info": [{"local": "100.64.1.1", "prefixlen": 30}]}]
    ),
    "ip -j route": json.dumps(
        [
            {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"},
            {"dst": "16.0.0.0/24", "gateway": "100.64.1.2", "dev": "e0"},
        ]
    ),
    "ip -j route drops": '[]\n[{"type": "blackhole", "dst": "48.0.0.0/16"}]\n',
    "ip -j neigh": json.dumps(
        [
            {"dst": "100.64.1.2", "dev": "e0", "lladdr": "50:7C:6F:20:30:70", "state": ["STALE"]},
            {"dst": "100.64.2.2", "dev": "e1", "lladdr": "50:7c:6f:20:30:71", "state": ["FAILED"]},
        ]
    ),
    "ip_forward": "1\n",
    "sysfs": "e0|igc|0000:02:00.0|2500|5.0 GT/s PCIe|1\ne1|||||\nlo|||||\n",
    "os-release": 'ID=debian\nPRETTY_NAME="Debian"\n',
}

VPP = {
    "show interface": """\
              Name               Idx    State  MTU (L3/IP4/IP6/MPLS)     Counter          Count
e0                                1      up          9000/0/0/0     rx packets              12
                                                                    rx bytes              720
e1                                2     down         9000/0/0/0
local0                            0     down          0/0/0/0
""",
    "show hardware-interfaces": """\
              Name                Idx   Link  Hardware
e0                                 1     up   e0
  Link speed: 10 Gbps
  Ethernet address 02:fe:00:00:00:10
  Intel 82599
    carrier up full duplex max-frame-size 2034
    pci: device 8086:154d subsystem 8086:7b11 address 0000:05:00.00 numa 0
e1                                 2    down  e1
  Link speed: unknown
  Ethernet address 02:fe:00:00:00:11
""",
    "show interface address": "e0 (up):\n  L3 100.64.1.1/30\ne1 (dn):\nlocal0 (dn):\n",
    "show ip neighbors": """\
    Time                       IP                    Flags      Ethernet              Interface
   14.2190             100.64.1.2                     S    50:7c:6f:20:30:70 e0
""",
    "show ip fib 16.0.0.1": """\
ipv4-VRF:0, fib_index:0, flow hash:[src dst sport dport proto flowlabel ] epoch:0 flags:none
16.0.0.0/24 fib:0 index:20 locks:2
  CLI refs:1 src-flags:added,contributing,active,
  forwarding:   unicast-ip4-chain
  [@0]: dpo-load-balance: [proto:ip4 index:22 buckets:1 uRPF:21 to:[0:0]]
    [0] [@5]: ipv4 via 100.64.1.2 e0: mtu:9000 next:4 flags:[] 507c6f20307002fe000000100800
""",
    "show ip fib 48.0.0.1": """\
ipv4-VRF:0, fib_index:0, flow hash:[src dst sport dport proto flowlabel ] epoch:0 flags:none
0.0.0.0/0 fib:0 index:0 locks:2
  forwarding:   unicast-ip4-chain
  [@0]: dpo-load-balance: [proto:ip4 index:1 buckets:1 uRPF:0 to:[0:0]]
    [0] [@0]: dpo-drop ip4
""",
}


def setup_of(kind: str, texts: dict[str, str]) -> Setup:
    found = box_setups.find(kind)
    assert found is not None
    return found.read(texts)


def test_linux_is_read():
    setup = setup_of("linux", LINUX)
    first = setup.interfaces["e0"]
    assert (first.mac, first.driver, first.pci) == ("02:00:00:00:0e:00", "igc", "0000:02:00.0")
    assert (first.speed_bps, first.pcie) == (2_500_000_000, "5.0 GT/s x1")
    assert (first.addresses, first.rx_packets) == (("100.64.1.1/30",), 7)
    assert setup.interfaces["e1"].enabled is False
    assert setup.forwards is True
    assert setup.configured_by == "linux"
    route = setup.route_to("48.0.0.0/24")
    assert route is not None
    assert route.drops == "blackhole"
    assert setup_of("linux", LINUX | {"os-release": 'ID="openwrt"'}).configured_by == "openwrt"


def test_vpp_is_read():
    setup = setup_of("vpp", VPP)
    first = setup.interfaces["e0"]
    assert (first.mac, first.pci) == ("02:fe:00:00:00:10", "0000:05:00.0")
    assert (first.speed_bps, first.rx_packets, first.link) == (10_000_000_000, 12, True)
    assert first.addresses == ("100.64.1.1/30",)
    assert setup.interfaces["e1"].enabled is False
    assert not setup.interfaces["local0"].physical
    route = setup.route_to("16.0.0.0/24")
    assert route is not None
    assert (route.via, route.interface) == ("100.64.1.2", "e0")
    dropped = setup.route_to("48.0.0.0/24")
    assert dropped is not None
    assert dropped.drops


@pytest.mark.parametrize(("kind", "texts"), [("linux", LINUX), ("vpp", VPP)])
def test_one_side_is_right_and_the_other_lacks_everything(kind, texts):
    setup = setup_of(kind, texts)
    first, second = (missing(setup, side) for side in both_sides(bed()))
    assert not first
    assert (second.link_up, second.address, second.route, second.neighbor) == (True,) * 4


@pytest.mark.parametrize("kind", ["linux", "vpp"])
@pytest.mark.parametrize("text", ["", "no such command", "[", '[{"ifname": 3}]', "{" * 5000])
def test_rubbish_is_no_set_up(kind, text):
    names = LINUX if kind == "linux" else VPP
    setup_of(kind, dict.fromkeys(names, text))


def test_vpp_is_asked_for_the_routes_that_are_needed_alone():
    kind = box_setups.find("vpp")
    assert kind is not None
    asked = kind.questions(Asked(ports={}, socket="/run/a b.sock"), ("16.0.0.0/24",))
    assert "vppctl -s '/run/a b.sock' show ip fib 16.0.0.1" in [one.command for one in asked]
    assert kind.questions(Asked(ports={}), ())[-1].command.endswith("show ip neighbors")


LINES = {
    "linux": [
        "ip link set e1 up",
        "ip address add 100.64.2.1/30 dev e1",
        "ip route replace 48.0.0.0/24 via 100.64.2.2 dev e1",
        "ip neighbour replace 100.64.2.2 lladdr 50:7c:6f:20:30:71 dev e1 nud permanent",
        "sysctl -w net.ipv4.ip_forward=1",
    ],
    "vpp": [
        "set interface state e1 up",
        "set interface ip address e1 100.64.2.1/30",
        "ip route add 48.0.0.0/24 via 100.64.2.2 e1",
        "set ip neighbor e1 100.64.2.2 50:7c:6f:20:30:71 static",
    ],
    "grout": [
        "interface set port e1 up",
        "address add 100.64.2.1/30 iface e1",
        "nexthop add l3 iface e1 address 100.64.2.2 mac 50:7c:6f:20:30:71",
        "route add 48.0.0.0/24 via 100.64.2.2",
    ],
    "openwrt": [
        "uci set network.linerate_t1=interface",
        "uci set network.linerate_t1.ipaddr='100.64.2.1'",
        "uci set network.linerate_t1.netmask='255.255.255.252'",
        "uci set network.linerate_t1_route.target='48.0.0.0/24'",
        "uci set network.linerate_t1_neighbor.mac='50:7c:6f:20:30:71'",
        "uci set firewall.linerate.network='linerate_t0 linerate_t1'",
        "uci commit",
        "/etc/init.d/network reload",
        "sysctl -w net.ipv4.ip_forward=1",
    ],
}


@pytest.mark.parametrize("language", LINES)
def test_each_language_says_all_that_is_missing(language):
    first, second = both_sides(bed())
    lacks = (
        Missing(first),
        Missing(second, link_up=True, address=True, route=True, neighbor=True, forwarding=True),
    )
    found = configuration.find(language)
    assert found is not None
    lines = found.lines(lacks)
    assert [line for line in lines if line in LINES[language]] == LINES[language]
    # Nothing is printed for the side that is right.
    assert not any("100.64.1" in line for line in lines)
    assert found.lines((Missing(first), Missing(second))) == ()


def test_lines_are_applied_by_the_programs_of_the_box():
    words = {"vpp": "vppctl -s /run/x.sock show", "grout": "grcli -s /run/x.sock show"}
    for language, command in words.items():
        found = configuration.find(language)
        assert found is not None
        assert found.command("show", "/run/x.sock") == command


def test_a_port_says_what_is_wrong_with_it():
    setup = setup_of("linux", LINUX)
    slow = replace(setup.interfaces["e0"], mac="02:00:00:00:00:42", mtu=1400)
    changed = replace(setup, interfaces={"e0": slow})
    found = {(one.check, one.subject): one.state for one in ports(bed(link="10G"), changed)}
    wrong = {name for name, state in found.items() if state == "fault"}
    assert wrong == {("speed", "e0"), ("mtu", "e0"), ("mac", "e0"), ("port", "e1")}
    # 2.5 Gb/s need more than one lane of PCIe 2 has after its coding: 4 Gb/s are enough.
    assert found["pcie", "e0"] == "ok"


def test_a_narrow_slot_is_noted():
    setup = setup_of("linux", LINUX)
    fast = replace(setup.interfaces["e0"], speed_bps=25_000_000_000, pcie="8.0 GT/s x2")
    found = list(ports(bed(), replace(setup, interfaces={"e0": fast})))
    (pcie,) = [one for one in found if one.check == "pcie"]
    assert pcie.state == "note"


@pytest.mark.parametrize(
    ("grown", "expected"),
    [
        ({"e0": 300, "e1": 700, "mgmt": 40}, {"t0": ("e0",), "t1": ("e1",)}),
        ({"e0": 700, "e1": 302}, {"t0": ("e1",), "t1": ("e0",)}),
        ({"e0": 300, "e1": 0, "e3": 690}, {"t0": ("e0",), "t1": ("e3",)}),
        ({"e0": 1000, "e1": 0}, {"t0": ("e0",), "t1": ("e0",)}),
        ({"e0": 0, "e1": 12}, {"t0": (), "t1": ()}),
    ],
)
def test_numbers_of_frames_tell_the_cables(grown, expected):
    found = {port: cabling.received_by(side, grown) for side, port in enumerate(("t0", "t1"))}
    assert found == expected


def way(received: int, entered: int | None, left: int | None) -> Way:
    hops = (Hop("e0", "rx", entered), Hop("e1", "tx", left))
    return Way("t0", "t1", 200, received, hops)


@pytest.mark.parametrize(
    ("entered", "left", "words"),
    [
        (0, 0, "e0 of the box received 0 of them"),
        (200, 0, "the box received them at e0, and sent 0 by e1"),
        (200, 200, "the box sent them by e1, and they did not arrive at t1"),
        (None, None, "the box does not count them"),
    ],
)
def test_a_run_says_where_its_first_packets_ended(entered, left, words):
    found = Crossing((way(0, entered, left),), (("ip: no route", 200),))
    line = refusal(found)
    assert words in line
    assert "ip: no route 200" in line
    assert "linerate testbed check" in line
    assert "\n" not in line


def test_packets_that_came_through_end_no_run():
    assert refusal(Crossing((way(3, 200, 3),), ())) == ""
