"""Streams with tunnel headers: what scapy reads in the frames, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import scapy.contrib.geneve  # noqa: F401 (binds its layer)
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrSegmentRouting
from scapy.layers.l2 import GRE, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet

from linerate.traffic.native_profile import Ours
from linerate.traffic.profile import Stream, TrafficError
from linerate.traffic.tunnels import needs_template, templated

INNER: list[dict[str, Any]] = [{"ipv4": {"src": "10.0.0.1", "dst": "48.0.0.1"}}, {"udp": {}}]


def of(*layers: dict[str, Any], **more: Any) -> Stream:
    return templated({"frame_bytes": 256, "layers": list(layers), **more})


def read(stream: Stream) -> Packet:
    """The frame, whose checksums and lengths scapy would write too."""
    frame = bytes.fromhex(stream["template"])
    packet = Ether(frame)
    again = packet.copy()
    layer = again
    while layer:
        for field in ("chksum", "len", "plen"):
            # A tunnel over UDP has none (RFC 7348).
            if field in layer.fields and not (field == "chksum" and layer.fields[field] == 0):
                delattr(layer, field)
        layer = layer.payload
    assert bytes(again) == frame
    return packet


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ([{"ipv4": {}}, {"udp": {}}, {"vxlan": {"vni": 5}}, {"ethernet": {}}, *INNER],
         [Ether, IP, UDP, VXLAN, Ether, IP, UDP]),
        ([{"ipv4": {}}, {"gre": {}}, *INNER], [Ether, IP, GRE, IP, UDP]),
        ([{"ipv4": {}}, {"gre": {"key": 7}}, {"ethernet": {}}, *INNER],
         [Ether, IP, GRE, Ether, IP, UDP]),
        ([{"ipv4": {}}, *INNER], [Ether, IP, IP, UDP]),
        ([{"ipv6": {}}, *INNER], [Ether, IPv6, IP, UDP]),
        ([{"ipv6": {"dst": "fd00::2"}}, {"srh": {"segments": ["fd00::2", "fd00::3"]}},
          {"ipv4": {}}, {"tcp": {}}],
         [Ether, IPv6, IPv6ExtHdrSegmentRouting, IP, TCP]),
    ],
)  # fmt: skip
def test_headers_are_what_scapy_reads(layers: list[Any], expected: list[type[Packet]]) -> None:
    packet = read(of(*layers))
    found: list[type[Packet]] = []
    layer = packet
    while layer and type(layer) in {*expected}:
        found.append(type(layer))
        layer = layer.payload
    assert found == expected
    assert len(packet) == 252


def test_a_vni_and_its_port_are_written() -> None:
    packet = read(of({"ipv4": {}}, {"udp": {}}, {"vxlan": {"vni": 77}}, {"ethernet": {}}, *INNER))
    assert (packet[VXLAN].vni, packet[UDP].dport, packet[UDP].chksum) == (77, 4789, 0)


def test_segments_are_kept_backwards() -> None:
    packet = read(of({"ipv6": {}}, {"srh": {"segments": ["fd00::2", "fd00::3"]}}, *INNER))
    header = packet[IPv6ExtHdrSegmentRouting]
    assert header.addresses == ["fd00::3", "fd00::2"]
    assert header.segleft == 1


def test_a_modifier_writes_in_the_header_it_names() -> None:
    stream = of(
        {"ipv4": {}}, {"gre": {}}, *INNER,
        modifiers=[{"field": "ipv4#2.dst", "op": "random", "min": "48.0.0.1", "max": "48.0.0.9"}],
    )  # fmt: skip
    packet = read(stream)
    inner = len(packet) - len(packet[IP:2])
    steps = stream["program"]["steps"]
    assert steps[0] == {"write": {"variable": "v0", "offset": inner + 16}}
    assert {"fix_ipv4_checksum": {"offset": inner}} in steps
    assert stream["program"]["variables"][0]["max"] - stream["program"]["variables"][0]["min"] == 8


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        ({"layers": [{"ipv4": {}}, {"gre": {}}, *INNER], "flows": {"count": 2}}, "flows"),
        ({"layers": [{"ipv4": {}}, {"gre": {}}, *INNER], "frame_bytes": 64}, "expected 78 or more"),
        ({"layers": [{"ipv4": {}}, {"gre": {}}, *INNER],
          "modifiers": [{"field": "udp#2.src", "min": 1, "max": 2}]}, "no such header"),
        ({"layers": [{"ipv6": {}}, {"srh": {"segments": ["fd00::2"]}}, {"udp": {}}],
          "modifiers": [{"field": "ipv6.src", "min": "fd00::1", "max": "fd00::2"}]}, "behind srh"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(stream: Stream, says: str) -> None:
    with pytest.raises(TrafficError, match=says):
        templated({"frame_bytes": 256, **stream})


def test_frames_without_a_tunnel_stay_layers() -> None:
    assert not needs_template([{"ethernet": {}}, {"vlan": {}}, {"vlan": {}}, {"ipv4": {}}])
    assert needs_template([{"ipv4": {}}, {"ipv4": {}}])


def test_a_file_has_them(tmp_path: Path) -> None:
    file = tmp_path / "gre.yaml"
    file.write_text(
        "streams: [{frame_bytes: 128, layers: [{ipv4: {}}, {gre: {}}, {ipv4: {}}, {udp: {}}]}]"
    )
    (stream,) = Ours().read(str(file)).streams
    assert "layers" not in stream
    assert stream["signature"]


@pytest.mark.parametrize(
    ("kinds", "needed"),
    [
        ("ethernet ipv4 udp", False),
        ("vlan vlan mpls mpls ipv6 tcp", False),
        ("ipv6 ipv4 udp", True),
        ("ipv4 ipv6 udp", True),
        ("ipv4 ipv4 udp", True),
        ("ipv4 gre ipv4", True),
    ],
)
def test_headers_that_the_engine_has_no_layers_for(kinds, needed):
    assert needs_template([{kind: {}} for kind in kinds.split()]) == needed
