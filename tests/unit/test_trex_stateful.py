"""TRex stateful profiles: what they say in the engine's words, and what is refused by name."""

import struct
from fractions import Fraction
from pathlib import Path

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapNgWriter, wrpcap

from linerate.lab.engine_config import router_cli
from linerate.model.testbed import Testbed
from linerate.traffic import TrafficError, find, loadtest_of, offered_by, parse_rate
from linerate.traffic.capture.capture_file import read_capture
from linerate.traffic.connections import check_duration, connections_loadtest
from linerate.traffic.trex.stateful import TrexStateful

HEAD = """- duration : 1.0
  generator :
          distribution : "{order}"
          clients_start : "16.0.0.1"
          clients_end   : "16.0.0.255"
          servers_start : "48.0.0.1"
          servers_end   : "48.0.3.255"
          clients_per_gb : 201
          min_clients    : 101
          dual_port_mask : "1.0.0.0"
          tcp_aging      : 1
          udp_aging      : 1
{top}  cap_info :
"""
TEMPLATE = (
    "     - name: {name}\n       cps : {cps}\n       ipg : 1000\n       rtt : 5000\n       w : 1\n"
)
LINK = 10_000_000_000


def datagram(client: bool, length: int = 30) -> Packet:
    hosts, ports = ("10.0.0.1", "10.0.0.2"), (5000, 53)
    if not client:
        hosts, ports = hosts[::-1], ports[::-1]
    ip = IP(src=hosts[0], dst=hosts[1]) / UDP(sport=ports[0], dport=ports[1])
    return Ether() / ip / Raw(b"x" * length)


#: Client, server, server, client; gaps in microseconds.
SENDERS, GAPS = (True, False, False, True), (0, 40, 7, 3000)


def capture(path: Path, packets: list[Packet] | None = None) -> Path:
    made = packets or [datagram(client) for client in SENDERS]
    time = 1_700_000_000_000_000
    for packet, gap in zip(made, GAPS * len(made), strict=False):
        time += gap
        packet.time = Fraction(time, 10**6)
    path.parent.mkdir(parents=True, exist_ok=True)
    wrpcap(str(path), made)
    return path


def written(folder: Path, top: str = "", more: str = "", order: str = "seq", cps: float = 5) -> str:
    if not (folder / "one.pcap").exists():
        capture(folder / "one.pcap")
    path = folder / "profile.yaml"
    text = HEAD.format(top=top, order=order) + TEMPLATE.format(name="one.pcap", cps=cps) + more
    path.write_text(text)
    return str(path)


def gaps(text: str) -> list[float]:
    connections = find(text).connections
    assert connections is not None
    return [packet["after_us"] for packet in connections["templates"][0]["packets"]]


def test_sides_and_gaps(tmp_path: Path) -> None:
    profile = find(written(tmp_path))
    assert profile.connections is not None
    in_turn = {"name": "default", "order": "sequential"}
    assert profile.connections["clients"] == [{"min": "16.0.0.1", "max": "16.0.0.255"} | in_turn]
    assert profile.connections["servers"] == [{"min": "48.0.0.1", "max": "48.0.3.255"} | in_turn]
    (template,) = profile.connections["templates"]
    assert [packet["from"] for packet in template["packets"]] == [
        "client", "server", "server", "client",
    ]  # fmt: skip
    # rtt where the side changes, ipg where it does not.
    assert gaps(written(tmp_path)) == [0, 5000, 1000, 5000]
    assert profile.files == (tmp_path / "profile.yaml", tmp_path / "one.pcap")


def test_the_captures_own_gaps(tmp_path: Path) -> None:
    assert gaps(written(tmp_path, top="  cap_ipg : true\n")) == pytest.approx([0, 40, 7, 3000])
    floor = "  cap_ipg : true\n  cap_ipg_min : 30\n  cap_override_ipg : 200\n"
    assert gaps(written(tmp_path, top=floor)) == pytest.approx([0, 40, 200, 3000])
    of_template = "       cap_ipg : true\n"
    assert gaps(written(tmp_path, more=of_template)) == pytest.approx([0, 40, 7, 3000])


def test_what_templates_have(tmp_path: Path) -> None:
    more = "       limit : 9\n       server_addr : 48.0.0.7\n       one_app_server : true\n"
    profile = find(written(tmp_path, more=more, order="random"))
    assert profile.connections is not None
    assert [profile.connections[side][0]["order"] for side in ("clients", "servers")] == [
        "random", "random",
    ]  # fmt: skip
    (template,) = profile.connections["templates"]
    assert (template["limit"], template["server"], template["weight"]) == (9, "48.0.0.7", 1)


def test_names_are_found_above_and_distinguished(tmp_path: Path) -> None:
    capture(tmp_path / "cap2" / "dns.pcap")
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    more = TEMPLATE.format(name="cap2/dns.pcap", cps=1) * 2
    profile = find(written(folder, more=more))
    assert profile.connections is not None
    names = [template["name"] for template in profile.connections["templates"]]
    assert names == ["one", "dns", "dns-2"]


def test_what_has_no_effect(tmp_path: Path) -> None:
    """The tester is the sender; a profile with an address of TRex's checks that."""
    plain = find(written(tmp_path))
    top = "  mac : [0x00,0x00,0x00,0x01,0x00,0xff]\n  wlength : 1\n"
    profile = find(written(tmp_path, top, more="       wlength : 1\n"))
    assert profile.connections == plain.connections
    assert profile.text == f"{plain.text} (mac is not used)"
    assert "mac" not in plain.text


@pytest.mark.parametrize(
    ("top", "more", "message"),
    [
        ("", "       plugin_id : 2\n", r"cap_info\[0\]\.plugin_id: 2 \(SIP\)"),
        ("", "       keep_src_port : true\n", "keep_src_port"),
        ("", "       dyn_pyload : []\n", r"cap_info\[0\]\.dyn_pyload"),
        ("  vlan : { enable : 1 , vlan0 : 1 , vlan1 : 2 }\n", "", "vlan: .*port_info"),
        ("  mac : [0,0,0,1,0]\n", "", "mac: expected six numbers of 8 bits"),
        ("  mac : [0,0,0,1,0,256]\n", "", "mac: expected six numbers of 8 bits"),
        ("  mac : [0,0,0,1,0,true]\n", "", "mac: expected six numbers of 8 bits"),
        ("  mac : 00:00:00:01:00:00\n", "", "mac: expected six numbers of 8 bits"),
        ("  mac_override_by_ip : 1\n", "", "mac_override_by_ip"),
        ("  src_ipv6 : [1]\n", "", "src_ipv6"),
        ("  cap_ipg_min : no\n", "", "cap_ipg_min"),
        ("", "       one_app_server : true\n", "server_addr"),
        ("", "     - name: none.pcap\n       cps : 1\n", r"cap_info\[1\]\.name.*'none.pcap'"),
        ("", "     - name: one.pcap\n       cps : x\n", r"cap_info\[1\]\.cps"),
        ("", "     - name: one.pcap\n       cps : 1\n", r"cap_info\[1\]\.ipg"),
    ],
)
def test_refusals_name_it_in_one_line(tmp_path: Path, top: str, more: str, message: str) -> None:
    with pytest.raises(TrafficError, match=message) as caught:
        find(written(tmp_path, top, more))
    assert "\n" not in str(caught.value)
    assert "profile.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("packets", "message"),
    [
        ([datagram(True), Ether() / IPv6()], "frame 2 is neither UDP nor TCP"),
        ([datagram(True), Ether() / IP(dst="9.9.9.9") / UDP()], "frame 2 is of another connection"),
        ([Ether() / IP(flags="MF") / UDP() / Raw(b"x" * 8)], "frame 1 is a fragment"),
    ],
)
def test_captures_that_are_no_template(tmp_path: Path, packets: list[Packet], message: str) -> None:
    capture(tmp_path / "one.pcap", packets)
    with pytest.raises(TrafficError, match=message):
        find(written(tmp_path))


def test_captures_are_read_in_each_format(tmp_path: Path) -> None:
    packets = [Ether() / Dot1Q(vlan=5) / IP() / UDP() / Raw(bytes(n)) for n in (1, 2, 3, 50)]
    classic = read_capture(capture(tmp_path / "a.pcap", packets))
    nano = tmp_path / "nano.pcap"
    wrpcap(str(nano), packets, nano=True)
    ng = tmp_path / "b.pcapng"
    with PcapNgWriter(str(ng)) as writer:
        writer.write(packets)
    big = tmp_path / "big.pcap"
    wrpcap(str(big), packets, endianness=">")
    for path in (nano, ng, big):
        read = read_capture(path)
        assert [frame.data for frame in read] == [bytes(packet) for packet in packets]
        assert [frame.nanoseconds for frame in read] == [frame.nanoseconds for frame in classic]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends"),
        (b"not a capture", "pcap or pcapng"),
        (struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101), "link type 101"),
        (struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + bytes(9), "middle"),
        (
            struct.pack("<IHHIIII4I", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 0, 0, 9, 12) + bytes(9),
            "9 of 12 bytes",
        ),
        (struct.pack("<6I", 0x0A0D0D0A, 8, 0x1A2B3C4D, 0, 0, 0), "broken"),
    ],
)
def test_captures_that_are_broken(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "broken.pcap"
    path.write_bytes(data)
    with pytest.raises(TrafficError, match=message):
        read_capture(path)


def test_a_loadtest_offers_what_was_asked(tmp_path: Path) -> None:
    profile = find(written(tmp_path, cps=1000))
    own = connections_loadtest(profile, parse_rate("1x"), None, LINK)
    offered = own.traffic.offered
    assert offered is not None
    assert offered.full_pps == pytest.approx(4000)
    assert offered.connections_per_second == 1000
    assert own.directions == 2
    made = own.traffic.connections(("02:00:00:00:0e:00", "02:00:00:00:0e:01"))
    assert made is not None
    assert (made["client_port"], made["server_port"]) == ("t0", "t1")
    assert made["server_macs"]["dst"] == "02:00:00:00:0e:01"
    assert made["templates"][0]["cps"] == 1000
    line = connections_loadtest(profile, parse_rate("50%"), None, LINK).traffic.offered
    assert line is not None
    sides = [stream for stream in line.streams if stream.side == 0]
    l1 = sum(stream.pps * (stream.frame_bytes + 20) * 8 for stream in sides)
    assert l1 == pytest.approx(LINK / 2)
    with pytest.raises(TrafficError, match="both"):
        connections_loadtest(profile, parse_rate("1x"), 1, LINK)


def test_trials_are_long_enough_for_connections(tmp_path: Path) -> None:
    """A connection of this capture takes 11 ms; five begin a second."""
    loadtest = connections_loadtest(find(written(tmp_path)), parse_rate("1x"), None, LINK)
    check_duration((loadtest,), 0.2)
    with pytest.raises(TrafficError, match=r"--duration: .* needs 0\.2 s at 1x.* at least 1s"):
        check_duration((loadtest,), 0.1)
    often = connections_loadtest(find(written(tmp_path, cps=1e4)), parse_rate("1x"), None, LINK)
    check_duration((often,), 0.02)
    with pytest.raises(TrafficError, match=r"--duration: .* needs 0\.011 s at 1x"):
        check_duration((often,), 0.01)


def test_connections_of_frames_that_are_too_long_are_refused(tmp_path: Path) -> None:
    capture(tmp_path / "one.pcap", [datagram(client, 1476) for client in SENDERS])
    assert offered_by(written(tmp_path), Testbed(), "1x")
    capture(tmp_path / "one.pcap", [datagram(client, 1477) for client in SENDERS])
    for testbed, more in (
        (Testbed(), ", or try --card max_frame=1523"),
        (Testbed(wire="veth"), ""),
    ):
        with pytest.raises(
            TrafficError, match=rf"frames of 1523 bytes, and the port takes 1522, .*offloads{more}$"
        ):
            offered_by(written(tmp_path), testbed, "1x")


def test_pools_elsewhere_are_routed(tmp_path: Path) -> None:
    loadtest = connections_loadtest(find(written(tmp_path)), parse_rate("1x"), None, LINK)
    clients, servers = loadtest.traffic.networks
    assert clients == ()
    assert "48.0.2.0/23" in servers
    assert all(not prefix.startswith("48.0.0.") for prefix in servers)
    text = router_cli(None, loadtest.traffic.networks)
    assert "ip route add 48.0.2.0/23 via 100.64.2.2" in text.splitlines()
    assert router_cli(None) in text


def test_only_its_own_files_are_recognised(tmp_path: Path) -> None:
    source = TrexStateful()
    assert source.recognises(written(tmp_path))
    assert source.words("") == []
    (tmp_path / "ours.yaml").write_text("streams: []\n")
    assert not source.recognises(str(tmp_path / "ours.yaml"))
    with pytest.raises(TrafficError):
        loadtest_of(find(written(tmp_path)), parse_rate("1x"), None, LINK)
