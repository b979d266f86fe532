"""Frames of the tester, read back from a capture by scapy: fields, lengths, checksums."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scapy.compat import raw
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet
from scapy.utils import PcapReader
from tests.system.conftest import StartEngine
from tests.system.trials import run_trial

from linerate.base.line_rate import FRAME_BYTES_MAX

ETHERNET = {"ethernet": {"src": "50:7c:6f:20:30:70", "dst": "02:00:00:00:0e:00"}}
SIGNATURE_BYTES = 8


def capture(
    start_engine: StartEngine, folder: Path, streams: list[dict[str, Any]], seconds: float = 0.2
) -> list[Packet]:
    """Let a tester send the streams into a pcap file."""
    path = folder / "sent.pcap"
    config = {
        "memory": {"megabytes": 192},
        "ports": [
            {
                "name": "t0",
                "driver": "ethdev",
                "device": "net_pcap0",
                "devargs": f"tx_pcap={path}",
                "max_frame_bytes": FRAME_BYTES_MAX,
            }
        ],
        "tester": {"ports": ["t0"], "streams": [{"port": "t0", **s} for s in streams]},
    }
    outcome = run_trial(engine := start_engine(config), seconds)
    engine.stop()
    with PcapReader(str(path)) as reader:
        packets = list(reader)
    assert len(packets) == outcome.of_kind("sent")
    return packets


def checksums_are_right(packet: Packet) -> bool:
    """Let scapy compute all checksums again: nothing may change."""
    again = Ether(raw(packet))
    for layer in (IP, UDP, TCP):
        if layer in again:
            del again[layer].chksum
    return bool(raw(Ether(raw(again))) == raw(packet))


def signature(packet: Packet) -> tuple[int, int, int]:
    """Mark, stream, and the low bits of the sequence number."""
    at = (len(packet) - SIGNATURE_BYTES) & ~1
    word = int.from_bytes(raw(packet)[at : at + SIGNATURE_BYTES], "big")
    number, rest = divmod(word, 65535)
    assert rest == 0
    return number >> 46, number >> 30 & 0xFFFF, number & 0x3FFFFFFF


TEMPLATES = {
    "udp": [ETHERNET, {"ipv4": {}}, {"udp": {}}],
    "tcp": [ETHERNET, {"ipv4": {"dscp": 10}}, {"tcp": {"flags": 2}}],
    "vlan": [ETHERNET, {"vlan": {"id": 42, "priority": 3}}, {"ipv4": {}}, {"udp": {}}],
    "mpls": [ETHERNET, {"mpls": {"label": 16}}, {"ipv4": {}}, {"udp": {}}],
    "mpls2": [ETHERNET, {"mpls": {"label": 16}}, {"mpls": {"label": 99}}, {"ipv4": {}}],
    "ipv6": [ETHERNET, {"ipv6": {"hop_limit": 9}}, {"udp": {}}],
    "ipv6-tcp": [ETHERNET, {"ipv6": {}}, {"tcp": {}}],
}


@pytest.mark.parametrize("frame_bytes", [90, 91, 128, 1514, FRAME_BYTES_MAX])
@pytest.mark.parametrize("name", TEMPLATES)
def test_frames_are_right(
    start_engine: StartEngine, tmp_path: Path, name: str, frame_bytes: int
) -> None:
    stream = {"layers": TEMPLATES[name], "frame_bytes": frame_bytes, "rate": {"pps": 500}}
    packets = capture(start_engine, tmp_path, [stream])
    assert len(packets) == 100
    for number, packet in enumerate(packets):
        assert len(packet) == frame_bytes - 4
        assert checksums_are_right(packet)
        assert signature(packet) == (0b10, 0, number)


def test_layers_are_as_asked(start_engine: StartEngine, tmp_path: Path) -> None:
    layers = [
        ETHERNET,
        {"vlan": {"id": 42, "priority": 3}},
        {"mpls": {"label": 1000, "ttl": 7, "traffic_class": 5}},
        {"ipv4": {"src": "16.0.0.9", "dst": "48.0.0.7", "ttl": 3, "dscp": 46}},
        {"udp": {"src": 7, "dst": 9}},
    ]
    stream = {"layers": layers, "frame_bytes": 100, "rate": {"pps": 100}}
    packet = capture(start_engine, tmp_path, [stream])[0]
    assert (packet[Ether].src, packet[Ether].dst) == ("50:7c:6f:20:30:70", "02:00:00:00:0e:00")
    assert (packet[Dot1Q].vlan, packet[Dot1Q].prio) == (42, 3)
    assert (packet[MPLS].label, packet[MPLS].ttl, packet[MPLS].cos, packet[MPLS].s) == (
        1000, 7, 5, 1,
    )  # fmt: skip
    assert (packet[IP].src, packet[IP].dst, packet[IP].ttl) == ("16.0.0.9", "48.0.0.7", 3)
    assert packet[IP].tos == 46 << 2
    assert (packet[UDP].sport, packet[UDP].dport) == (7, 9)


@pytest.mark.smoke
def test_modifiers_walk_their_range(start_engine: StartEngine, tmp_path: Path) -> None:
    stream = {
        "layers": [ETHERNET, {"mpls": {}}, {"ipv4": {}}, {"udp": {}}],
        "frame_bytes": 80,
        "rate": {"pps": 5000},
        "modifiers": [
            {"field": "mpls.label", "op": "increment", "min": 16, "max": 20},
            {"field": "ipv4.src", "op": "decrement", "min": "16.0.0.1", "max": "16.0.0.9", "step": 2},
            {"field": "ipv4.dst", "op": "random", "min": "48.0.0.0", "max": "48.0.0.255"},
            {"field": "udp.src", "op": "increment", "min": 65000, "max": 65535, "step": 100},
        ],
    }  # fmt: skip
    packets = capture(start_engine, tmp_path, [stream])
    assert len(packets) == 1000
    assert all(checksums_are_right(packet) for packet in packets)
    assert [packet[MPLS].label for packet in packets] == [16 + i % 5 for i in range(1000)]
    assert [packet[IP].src for packet in packets] == [
        f"16.0.0.{9 - 2 * (i % 5)}" for i in range(1000)
    ]
    assert [packet[UDP].sport for packet in packets] == [65000 + 100 * (i % 6) for i in range(1000)]
    seen = Counter(packet[IP].dst for packet in packets)
    assert all(address.startswith("48.0.0.") for address in seen)
    # 1000 draws from 256: fewer than 230 different ones happen once in 10^15 runs.
    assert len(seen) >= 230


def test_ipv6_modifiers(start_engine: StartEngine, tmp_path: Path) -> None:
    stream = {
        "layers": [ETHERNET, {"ipv6": {"dst": "2001:db8:1::"}}, {"udp": {}}],
        "frame_bytes": 100,
        "rate": {"pps": 500},
        "modifiers": [
            {"field": "ipv6.dst", "op": "increment", "min": "2001:db8:1::1", "max": "2001:db8:1::4"}
        ],
    }
    packets = capture(start_engine, tmp_path, [stream])
    assert [packet[IPv6].dst for packet in packets[:5]] == [
        "2001:db8:1::1", "2001:db8:1::2", "2001:db8:1::3", "2001:db8:1::4", "2001:db8:1::1",
    ]  # fmt: skip
    assert all(checksums_are_right(packet) for packet in packets)


def test_mixed_streams_keep_their_weights(start_engine: StartEngine, tmp_path: Path) -> None:
    """7:4:1 of three sizes that reuse each other's buffers: exact shares, clean frames."""
    layers = [ETHERNET, {"ipv4": {}}, {"udp": {}}]
    tagged = [ETHERNET, {"vlan": {"id": 5}}, {"ipv4": {}}, {"tcp": {}}]
    streams = [
        {"layers": layers, "frame_bytes": 64, "rate": {"pps": 7000}},
        {"layers": tagged, "frame_bytes": 594, "rate": {"pps": 4000}},
        {"layers": layers, "frame_bytes": 1518, "rate": {"pps": 1000}},
    ]
    packets = capture(start_engine, tmp_path, streams, seconds=0.5)
    assert len(packets) == 6000
    assert Counter(len(p) + 4 for p in packets) == {64: 3500, 594: 2000, 1518: 500}
    assert all(checksums_are_right(packet) for packet in packets)
    for start in range(0, 6000, 12):
        window = Counter(len(p) + 4 for p in packets[start : start + 12])
        assert window == {64: 7, 594: 4, 1518: 1}
    for stream, size in enumerate((64, 594, 1518)):
        numbers = [signature(p) for p in packets if len(p) + 4 == size]
        assert numbers == [(0b10, stream, i) for i in range(len(numbers))]


def test_burst_ends(start_engine: StartEngine, tmp_path: Path) -> None:
    layers = [ETHERNET, {"ipv4": {}}, {"udp": {}}]
    streams = [
        {"layers": layers, "frame_bytes": 64, "rate": {"pps": 1000}},
        {"layers": layers, "frame_bytes": 128, "rate": {"pps": 10000}, "burst": 77},
    ]
    packets = capture(start_engine, tmp_path, streams)
    assert Counter(len(p) + 4 for p in packets) == {64: 200, 128: 77}


def test_flows_and_their_mirror(start_engine: StartEngine, tmp_path: Path) -> None:
    """Two directions of the same flows; scapy finds each packet's checksums right."""
    flows = {"count": 100_000, "order": "zipf", "dst_port": {"min": 80, "max": 90}}
    layers = [ETHERNET, {"ipv4": {"src": "16.0.0.1", "dst": "48.0.0.1"}}, {"tcp": {"flags": 2}}]
    up = {"layers": layers, "frame_bytes": 80, "rate": {"pps": 5000}, "flows": flows}
    down = up | {"flows": flows | {"mirror": True}}
    packets = capture(start_engine, tmp_path, [up, down])
    assert len(packets) == 2000
    assert all(checksums_are_right(packet) for packet in packets)
    assert all(packet[TCP].flags == "S" for packet in packets)
    ahead = [packet for packet in packets if signature(packet)[1] == 0]
    back = [packet for packet in packets if signature(packet)[1] == 1]
    sent = [(p[IP].src, p[IP].dst, p[TCP].sport, p[TCP].dport) for p in ahead]
    returned = [(p[IP].dst, p[IP].src, p[TCP].dport, p[TCP].sport) for p in back]
    assert sent == returned
    # The first of 100,000 by Zipf's law has 1 / 12.09 of 1,000.
    ((first, times),) = Counter(sent).most_common(1)
    assert first[:2] == ("16.0.0.1", "48.0.0.1")
    assert 50 < times < 125


def test_a_flood_is_all_new_flows(start_engine: StartEngine, tmp_path: Path) -> None:
    stream = {
        "layers": [ETHERNET, {"ipv6": {}}, {"udp": {}}],
        "frame_bytes": 90,
        "rate": {"pps": 10_000},
        "flows": {"count": 10_000_000},
    }
    packets = capture(start_engine, tmp_path, [stream])
    assert len({(p[IPv6].src, p[IPv6].dst, p[UDP].sport) for p in packets}) == 2000
    assert all(checksums_are_right(packet) for packet in packets)
