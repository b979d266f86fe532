"""Frames of templates as they are sent: IPv6 made of IPv4, prefixes, tags of ports."""

import ipaddress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

from linerate.experiments.latency import timed
from linerate.lab.engine_config import router_cli
from linerate.traffic import TrafficError, find, parse_rate
from linerate.traffic.connections import connections_loadtest
from linerate.traffic.trex.stateful_document import StatefulDocument
from linerate.traffic.trex.stateful_frames import read_frames

DOCUMENT = StatefulDocument(Path("frames.yaml"))
CAPTURE = Path("one.pcap")
WORDS = {"src_ipv6": [0xFE80, 0x232, 0x1002, 0x51, 0, 0], "dst_ipv6": [0x2001, 0xDB8, 3, 4, 0, 0]}
MSBS = {"src_msb": "2001:db8:1::", "dst_msb": "2001:db8:2::"}


@given(
    st.binary(max_size=60),
    st.sampled_from([TCP(sport=1, dport=2, flags="S"), UDP(sport=1, dport=2)]),
    st.integers(0, 255),
    st.integers(1, 255),
    st.booleans(),
)
def test_ipv4_becomes_ipv6(
    payload: bytes, transport: Packet, tos: int, ttl: int, tagged: bool
) -> None:
    """Type of service, hops, transport and payload stay; padding and options go."""
    ether = Ether() / Dot1Q(vlan=7) if tagged else Ether()
    options = [] if tos % 2 else "\x01\x01\x01\x00"
    packet = ether / IP(tos=tos, ttl=ttl, options=options) / transport / Raw(payload)
    data = bytes(packet)
    made = Ether(read_frames(DOCUMENT, {"ipv6": {}}).made(CAPTURE, 1, "client", data + b"padding"))
    ip = made[IPv6]
    assert (ip.tc, ip.fl, ip.hlim, ip.nh) == (tos, 0, ttl, packet[IP].proto)
    inside = bytes(Ether(data)[type(transport)])
    assert ip.plen == len(inside)
    assert bytes(made)[-len(inside) :] == inside
    assert (Dot1Q in made) == tagged


def test_prefixes_in_either_form() -> None:
    assert read_frames(DOCUMENT, WORDS).words() == {
        "ip6_prefixes": {"clients": "fe80:232:1002:51::", "servers": "2001:db8:3:4::"}
    }
    named = read_frames(DOCUMENT, {"ipv6": MSBS})
    assert named.words() == {"ip6_prefixes": {"clients": "2001:db8:1::", "servers": "2001:db8:2::"}}
    assert named.as_ipv6
    # TRex says it on its command line: words alone turn nothing.
    assert not read_frames(DOCUMENT, WORDS).as_ipv6
    assert not read_frames(DOCUMENT, {"ipv6": {"enable": 0}}).as_ipv6
    assert read_frames(DOCUMENT, {}).words() == {}


def test_tags_of_ports() -> None:
    frames = read_frames(DOCUMENT, {"port_info": [{"vlan": 100}, {"vlan": 200}]})
    data = bytes(Ether(dst="02:00:00:00:00:01") / IP() / UDP())
    for side, tag in (("client", 100), ("server", 200)):
        made = Ether(frames.made(CAPTURE, 1, side, data))
        assert made[Dot1Q].vlan == tag
        assert bytes(made[IP]) == bytes(Ether(data)[IP])
    alone = read_frames(DOCUMENT, {"port_info": [{"vlan": 0}, {"vlan": 9}]})
    assert alone.made(CAPTURE, 1, "client", data) == data


@pytest.mark.parametrize(
    ("top", "message"),
    [
        ({"ipv6": 1}, "ipv6: expected a mapping"),
        ({"ipv6": {"msb": 1}}, r"ipv6\.msb"),
        ({"ipv6": {"src_msb": "x"}}, r"ipv6\.src_msb: expected an address"),
        ({"ipv6": {"dst_msb": "2001::1"}}, r"ipv6\.dst_msb: .*32 bits"),
        ({"ipv6": MSBS} | WORDS, r"src_ipv6: expected it or ipv6\.src_msb"),
        ({"src_ipv6": [1]}, "src_ipv6: expected six"),
        ({"dst_ipv6": [1, 2, 3, 4, 5, 65536]}, "dst_ipv6: expected six"),
        ({"port_info": {}}, "port_info: expected a list"),
        ({"port_info": [{"vlan": 4095}]}, r"port_info\[0\]\.vlan"),
        ({"port_info": [{}, {"dest_mac": "x"}]}, r"port_info\[1\]\.dest_mac"),
    ],
)
def test_refusals_name_it(top: dict[str, Any], message: str) -> None:
    with pytest.raises(TrafficError, match=message) as caught:
        read_frames(DOCUMENT, top)
    assert "\n" not in str(caught.value)


def profile(folder: Path, packets: list[Packet], **top: object) -> str:
    wrpcap(str(folder / "one.pcap"), packets)
    document = top | {
        "generator": {
            "clients_start": "16.0.0.0",
            "clients_end": "16.0.0.255",
            "servers_start": "48.0.0.1",
            "servers_end": "48.0.0.1",
        },
        "cap_info": [{"name": "one.pcap", "cps": 5, "ipg": 1, "rtt": 1}],
    }
    (folder / "one.yaml").write_text(yaml.safe_dump([document]))
    return str(folder / "one.yaml")


def six(client: bool, *between: Packet) -> Packet:
    ends = ("2001:db8::1", "2001:db8::2")[:: 1 if client else -1]
    ports = (5000, 53)[:: 1 if client else -1]
    packet = Ether() / IPv6(src=ends[0], dst=ends[1])
    for header in between:
        packet /= header
    return packet / UDP(sport=ports[0], dport=ports[1]) / Raw(b"x" * 9)


@pytest.mark.parametrize(
    ("tags", "message"),
    [((0x8100,) * 3, "tags 0x8100, 0x8100, 0x8100"), ((0x9100,), "tags 0x9100")],
)
def test_tags_that_connections_cannot_have_are_reported(
    tmp_path: Path, tags: tuple[int, ...], message: str
) -> None:
    plain = bytes(Ether(src="02:00:00:00:00:02", dst="02:00:00:00:00:01") / IP() / UDP())
    tagged = plain[:12] + b"".join(tag.to_bytes(2) + b"\0\7" for tag in tags) + plain[12:]
    with pytest.raises(TrafficError, match=f"frame 1 has {message}; expected at most 2"):
        find(profile(tmp_path, [Ether(tagged)]))


def test_connections_cannot_be_timed(tmp_path: Path) -> None:
    found = find(profile(tmp_path, [six(True)]))
    loadtest = connections_loadtest(found, parse_rate("1x"), None, 10_000_000_000)
    with pytest.raises(TrafficError, match="'one' has connections"):
        timed(loadtest)


def test_captures_of_ipv6(tmp_path: Path) -> None:
    text = profile(tmp_path, [six(True, IPv6ExtHdrDestOpt()), six(False), six(True)], **WORDS)
    found = find(text)
    assert found.connections is not None
    packets = found.connections["templates"][0]["packets"]
    assert [packet["from"] for packet in packets] == ["client", "server", "client"]
    assert found.connections["ip6_prefixes"]["servers"] == "2001:db8:3:4::"
    loadtest = connections_loadtest(found, parse_rate("1x"), None, 10_000_000_000)
    assert loadtest.traffic.networks == (
        ("fe80:232:1002:51::1000:0/120",),
        ("2001:db8:3:4::3000:1/128",),
    )
    lines = router_cli(None, loadtest.traffic.networks).splitlines()
    assert "ip route add 2001:db8:3:4::3000:1/128 via fd64:2::2" in lines
    assert "set int ip address e0 fd64:1::1/126" in lines
    assert ipaddress.ip_address("fd64:1::2") in ipaddress.ip_network("fd64:1::/126")


@pytest.mark.parametrize(
    ("packets", "top", "message"),
    [
        ([six(True, IPv6ExtHdrFragment())], {}, "frame 1 is neither UDP nor TCP"),
        ([Ether() / IPv6() / ICMPv6EchoRequest()], {}, "frame 1 is neither UDP nor TCP"),
        ([Ether() / IP() / ICMP()], {"ipv6": {}}, "frame 1 is ICMP, not had over IPv6"),
        ([six(True), Ether() / IP() / UDP()], {}, "frame 2 is of another connection"),
    ],
)
def test_captures_that_are_no_template(
    tmp_path: Path, packets: list[Packet], top: dict[str, Any], message: str
) -> None:
    with pytest.raises(TrafficError, match=message):
        find(profile(tmp_path, packets, **top))
