"""The other direction of templates: what was a source is a destination, whoever writes it."""

from typing import Any

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from linerate.model.suites import DUT_MACS, TESTER_MACS, streams
from linerate.traffic import TrafficError, loadtest_of, parse_rate
from linerate.traffic.profile import Profile, Stream

NONE = "00:00:00:00:00:00"
MACS = {"src": NONE, "dst": NONE}
PAYLOAD = Raw(b"p" * 30)


def stream_of(packet: Packet, **more: Any) -> Stream:
    template = bytes(packet)[12:]
    return {
        "name": "s",
        "template": (bytes(12) + template).hex(),
        "signature": True,
        "rate": {"pps": 1000},
        **more,
    }


def both(stream: Stream) -> list[dict[str, Any]]:
    loadtest = loadtest_of(Profile("one", "one", (stream,)), parse_rate("1x"), 2, 10**10)
    return streams(loadtest, DUT_MACS, {"percent": 100})


@pytest.mark.parametrize(
    ("there", "back"),
    [
        (
            IP(src="16.0.0.1", dst="48.0.0.7") / UDP(sport=1025, dport=53),
            IP(src="48.0.0.7", dst="16.0.0.1") / UDP(sport=53, dport=1025),
        ),
        (
            Dot1Q(vlan=7) / IP(src="16.0.0.1", dst="48.0.0.7") / TCP(sport=1, dport=2),
            Dot1Q(vlan=7) / IP(src="48.0.0.7", dst="16.0.0.1") / TCP(sport=2, dport=1),
        ),
        (
            IPv6(src="2001:db8::1", dst="2001:db8::2")
            / IPv6ExtHdrHopByHop()
            / UDP(sport=1, dport=2),
            IPv6(src="2001:db8::2", dst="2001:db8::1")
            / IPv6ExtHdrHopByHop()
            / UDP(sport=2, dport=1),
        ),
        (
            IP(src="16.0.0.1", dst="48.0.0.7", frag=5, proto=17),
            IP(src="48.0.0.7", dst="16.0.0.1", frag=5, proto=17),
        ),
    ],
    ids=["udp", "tagged", "ipv6", "fragment"],
)
def test_sources_are_destinations(there: Packet, back: Packet) -> None:
    one, other = both(stream_of(Ether(**MACS) / there / PAYLOAD))
    assert (other["name"], other["port"], other["rx_port"]) == ("s-back", "t1", "t0")
    assert one["template"][24:] == bytes(Ether(**MACS) / there / PAYLOAD)[12:].hex()
    assert other["template"][24:] == bytes(Ether(**MACS) / back / PAYLOAD)[12:].hex()
    assert other["template"][:24] == (DUT_MACS[1] + TESTER_MACS[1]).replace(":", "")


def program(offset: int, **write: Any) -> dict[str, Any]:
    variables = [{"name": "v", "bytes": 4, "op": "increment", "min": 0, "max": 9}]
    tuples = [{"name": "t", "ip_min": "1.1.1.1", "ip_max": "1.1.1.2", "port_min": 1,
               "port_max": 2, "flows": 0}]  # fmt: skip
    step = {"write": {"variable": "v", "offset": offset} | write}
    fixed = {"fix_ipv4_checksum": {"offset": 14}}
    return {"program": {"variables": variables, "tuples": tuples, "steps": [step, fixed]}}


@pytest.mark.parametrize(
    ("offset", "write", "there"),
    [
        (26, {}, 30),
        (30, {"variable": "t.ip"}, 26),
        (32, {"bytes": 2, "mask": 0xFFFF}, 28),
        (34, {"variable": "t.port"}, 36),
        (36, {"variable": "t.port"}, 34),
        (8, {}, 2),
        (50, {}, 50),
        (22, {}, 22),
    ],
)
def test_what_a_program_writes_changes_places(
    offset: int, write: dict[str, Any], there: int
) -> None:
    packet = Ether(**MACS) / IP(src="16.0.0.1", dst="48.0.0.1") / UDP() / PAYLOAD
    one, other = both(stream_of(packet, **program(offset, **write)))
    assert one["program"]["steps"][0]["write"]["offset"] == offset
    assert other["program"]["steps"][0]["write"] == one["program"]["steps"][0]["write"] | {
        "offset": there
    }
    assert other["program"]["steps"][1:] == one["program"]["steps"][1:]
    assert other["program"]["variables"] == one["program"]["variables"]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (stream_of(Ether(**MACS) / IP() / UDP(), **program(28)), "writes bytes 28 to 31"),
        (stream_of(Ether(**MACS) / IP() / UDP(), **program(34)), "writes bytes 34 to 37"),
        (stream_of(Ether(**MACS) / ARP()), "stream s: neither IPv4 nor IPv6"),
        (stream_of(Ether(**MACS) / IP() / UDP(), places=[0]), "the frames of a capture"),
    ],
)
def test_what_has_no_other_direction_is_refused(made: Stream, text: str) -> None:
    with pytest.raises(TrafficError, match=text):
        both(made)
