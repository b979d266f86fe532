"""Frames of a scenario: what is expected of each one sent, and how those received differ."""

from typing import Any

import pytest
from pydantic import TypeAdapter
from scapy.all import IP, UDP, Ether, IPv6, Raw
from scapy.contrib.mpls import MPLS
from scapy.layers.inet6 import IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import GRE, Dot1AD, Dot1Q
from scapy.layers.vxlan import VXLAN

from linerate.analysis.scenario_frames.judging import Crossing, Judgement, judge
from linerate.model.frame_layers import decode
from linerate.model.scenario import Back
from linerate.model.suites import DUT_MACS, TESTER_MACS

BACK: TypeAdapter[Any] = TypeAdapter(Back)
OUT = {"src": DUT_MACS[1], "dst": TESTER_MACS[1]}


def sent(number: int = 0, port: int = 12, ttl: int = 64) -> Any:
    """A frame of the tester's, numbered in its payload."""
    payload = number.to_bytes(4) + bytes(14)
    return (
        Ether(src=TESTER_MACS[0], dst=DUT_MACS[0])
        / IP(src="16.0.0.1", dst="48.0.0.1", ttl=ttl)
        / UDP(sport=1025, dport=port)
        / Raw(payload)
    )


def packet(number: int = 0, ttl: int = 63, **ip: Any) -> Any:
    """The IP packet of it, as a router leaves it."""
    inner = sent(number, ttl=ttl)[IP].copy()
    for name, value in ip.items():
        setattr(inner, name, value)
    del inner.chksum, inner[UDP].chksum
    return inner


def crossing(frame: Any, port: str) -> Crossing:
    """A frame at a port."""
    data = frame if isinstance(frame, bytes) else bytes(frame)
    return Crossing(port, decode(data), data)


def judged(back: Any, received: list[Any], count: int = 1, at: str = "t1") -> Judgement:
    """Frames 0, 1, … are sent at t0; these are received."""
    all_sent = [crossing(sent(number), "t0") for number in range(count)]
    return judge(all_sent, [crossing(one, at) for one in received], BACK.validate_python(back))


def texts(judgement: Judgement) -> list[str]:
    """The mistakes, in words."""
    return [one.text for one in judgement.mistakes]


IP6 = IPv6(src="2001:db8::1", dst="2001:db8::2", hlim=64)
TUNNEL = IP(src="100.64.2.1", dst="100.64.2.2", ttl=64)


@pytest.mark.parametrize(
    ("back", "frame"),
    [
        ("forwarded", Ether(**OUT) / packet()),
        ("unchanged", sent()),
        ({"change": ["macs"]}, Ether(**OUT) / packet(ttl=64)),
        ({"change": ["macswap"]}, Ether(src=DUT_MACS[0], dst=TESTER_MACS[0]) / packet(ttl=64)),
        (
            {"change": ["forward", {"push_vlan": 100}]},
            Ether(**OUT) / Dot1Q(vlan=100, prio=5) / packet(),
        ),
        (
            {"change": ["forward", {"push_vlan": 100}, {"push_vlan": {"id": 7, "tpid": 0x88A8}}]},
            Ether(**OUT) / Dot1AD(vlan=7) / Dot1Q(vlan=100) / packet(),
        ),
        (
            {"change": ["forward", {"push_mpls": {"label": 16, "ttl": 63}}]},
            Ether(**OUT) / MPLS(label=16, ttl=63, s=1) / packet(),
        ),
        (
            {"change": ["forward", {"set": {"ipv4.src": "192.0.2.1"}}], "any": ["udp.src"]},
            Ether(**OUT) / packet(src="192.0.2.1"),
        ),
        (
            {"change": ["ttl", {"encapsulate": [{"ipv4": {"src": "100.64.2.1"}}, {"gre": {}}]}]},
            Ether(**OUT) / TUNNEL / GRE() / packet(),
        ),
        (
            {"change": [{"encapsulate": [{"ipv4": {}}, {"udp": {"dst": 4789}},
                                         {"vxlan": {"vni": 5}}]}]},
            Ether(**OUT) / TUNNEL / UDP(sport=9, dport=4789, chksum=0) / VXLAN(vni=5) / sent(),
        ),
        (
            {"change": ["ttl", {"encapsulate": [
                {"ipv6": {"dst": "2001:db8::2"}},
                {"srh": {"segments_left": 0, "segments": "2001:db8::2"}}]}]},
            Ether(**OUT) / IP6 / IPv6ExtHdrSegmentRouting(addresses=["2001:db8::2"], segleft=0)
            / packet(),
        ),
    ],
)  # fmt: skip
def test_a_right_frame_is_right(back: Any, frame: Any) -> None:
    """Whatever a box makes of it, as scapy writes it."""
    judgement = judged(back, [frame])
    assert not judgement.mistakes, texts(judgement)
    assert (judgement.right, judgement.expected, judgement.others) == (1, 1, 0)


@pytest.mark.parametrize(
    ("back", "frame", "text"),
    [
        ("forwarded", sent(), "ethernet.dst: expected 50:7c:6f:20:30:71"),
        ("forwarded", Ether(**OUT) / packet(ttl=64), "ipv4.ttl: expected 63, received 64"),
        ("unchanged", Ether(**OUT) / packet(), "ethernet.dst"),
        (
            "forwarded",
            Ether(**OUT) / Dot1Q(vlan=1) / packet(),
            "headers: expected ethernet/ipv4/udp, received ethernet/vlan/ipv4/udp",
        ),
        (
            {"change": ["forward", {"push_vlan": 100}]},
            Ether(**OUT) / Dot1Q(vlan=101) / packet(),
            "vlan.id: expected 100, received 101",
        ),
        ("dropped", sent(), "received at t1, expected it to be dropped"),
        (
            {"change": [{"pop_vlan": 1}]},
            sent(),
            "`back` does not fit the frame: expected vlan in ethernet/ipv4/udp",
        ),
    ],
)
def test_a_wrong_frame_is_named(back: Any, frame: Any, text: str) -> None:
    """By the field that is wrong."""
    judgement = judged(back, [frame])
    assert judgement.right == 0
    assert any(text in one for one in texts(judgement)), texts(judgement)


def test_wrong_checksums_are_found() -> None:
    """An address is rewritten, and nothing else."""
    data = bytearray(bytes(Ether(**OUT) / packet()))
    data[14 + 15] ^= 1
    judgement = judged({"change": ["forward"], "any": ["ipv4.src"]}, [bytes(data)])
    assert "ipv4.checksum: expected good, received bad" in texts(judgement)[0]
    assert "udp.checksum: expected good, received bad" in texts(judgement)[0]


def test_frames_that_are_missing_are_counted() -> None:
    """Those of ten that were not received; frames of the box itself are no mistake."""
    some = [Ether(**OUT) / packet(number) for number in range(7)]
    arp = Ether(dst="ff:ff:ff:ff:ff:ff", type=0x0806) / Raw(bytes(46))
    judgement = judged("forwarded", [*some, arp], count=10)
    assert [one.sentence for one in judgement.mistakes] == ["not received (3 of 10 frames from t0)"]
    assert judgement.others == 1


def test_a_frame_at_the_wrong_port_is_named() -> None:
    """It returned to the port that sent it."""
    back = Ether(src=DUT_MACS[0], dst=TESTER_MACS[0]) / packet()
    judgement = judged("forwarded", [back], at="t0")
    assert texts(judgement) == ["received at t0, expected at t1"]


def test_copies_are_counted() -> None:
    """Two of each are expected: one more, or one less, is named."""
    frame = Ether(**OUT) / packet()
    case = {"change": ["forward"], "copies": 2}
    assert not judged(case, [frame] * 2).mistakes
    assert texts(judged(case, [frame])) == ["not received"]
    assert texts(judged(case, [frame] * 3)) == ["received 3 times, expected 2"]


def test_the_first_case_that_matches_counts() -> None:
    """By ranges, prefixes and values; what falls into none is named."""
    back = [
        {"where": {"udp.dst": "1-11"}, "dropped": True},
        {"where": {"ipv4.dst": "48.0.0.0/8", "udp.dst": "12"}, "change": ["forward"]},
    ]
    assert not judged(back, [Ether(**OUT) / packet()]).mistakes
    assert texts(judged(back[:1], []))[0].startswith("no case of `back`")


def test_a_share_may_be_dropped() -> None:
    """A policer lets half of the frames through."""
    case = {"change": ["forward"], "percent": [40, 60]}
    some = [Ether(**OUT) / packet(number) for number in range(5)]
    assert not judged(case, some, count=10).mistakes
    assert texts(judged(case, some[:3], count=10)) == ["30.0 % received, expected 40 to 60 %"]


def test_every_path_of_a_split_is_seen() -> None:
    """Two next hops of which one never gets a frame."""
    hops = ["02:00:00:00:20:01", "02:00:00:00:20:02"]
    case = {"change": ["forward", {"split": {"ethernet.dst": hops}}]}
    both = [Ether(src=DUT_MACS[1], dst=hops[n % 2]) / packet(n) for n in range(4)]
    assert not judged(case, both, count=4).mistakes
    one = [Ether(src=DUT_MACS[1], dst=hops[0]) / packet(n) for n in range(4)]
    assert texts(judged(case, one, count=4)) == [f"ethernet.dst: no frame with {hops[1]}"]


def test_tunnels_are_taken_off() -> None:
    """A frame that was sent in a tunnel returns without it."""
    inner = sent()
    outer = Ether(src=TESTER_MACS[0], dst=DUT_MACS[0]) / TUNNEL
    whole = outer / UDP(sport=9, dport=4789) / VXLAN(vni=5) / inner
    vxlan = {"change": [{"decapsulate": ["ethernet", "ipv4", "udp", "vxlan"]}]}
    made = judge([crossing(whole, "t0")], [crossing(inner, "t1")], BACK.validate_python(vxlan))
    assert not made.mistakes, texts(made)
    gre = {"change": [{"decapsulate": ["ipv4", "gre"]}, "forward"]}
    tunnelled = crossing(outer / GRE() / packet(ttl=64), "t0")
    made = judge([tunnelled], [crossing(Ether(**OUT) / packet(), "t1")], BACK.validate_python(gre))
    assert not made.mistakes, texts(made)


def test_labels_are_swapped_and_popped() -> None:
    """A swap takes one from the label's TTL."""
    labelled = Ether(src=TESTER_MACS[0], dst=DUT_MACS[0]) / MPLS(label=16, ttl=64) / packet(ttl=64)
    swapped = Ether(**OUT) / MPLS(label=17, ttl=63) / packet(ttl=64)
    swap = BACK.validate_python({"change": ["macs", {"swap_mpls": 17}]})
    assert not judge([crossing(labelled, "t0")], [crossing(swapped, "t1")], swap).mistakes
    pop = BACK.validate_python({"change": ["macs", {"pop_mpls": 1}], "any": ["ipv4.ttl"]})
    popped = crossing(Ether(**OUT) / packet(), "t1")
    assert not judge([crossing(labelled, "t0")], [popped], pop).mistakes


@pytest.mark.parametrize("length", range(0, 60, 3))
def test_frames_cut_short_are_no_error(length: int) -> None:
    """Whatever is received is decoded as far as it goes."""
    for frame in (sent(), Ether(**OUT) / TUNNEL / GRE() / packet(), Ether() / IP6 / UDP()):
        assert decode(bytes(frame)[:length]) is not None


def test_padding_is_left_out() -> None:
    """Short frames are padded on the wire."""
    frame = bytes(Ether(**OUT) / packet()) + bytes(20)
    assert not judged("forwarded", [frame]).mistakes
