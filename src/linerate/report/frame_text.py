"""Frames in words: addresses, protocol, ports, and what ARP and ICMP ask and answer."""

import ipaddress
from datetime import datetime

from linerate.model.captured_frame import CapturedFrame

_ETHERNET_BYTES = 14
_TAG_BYTES = 4
_TAGS = (0x8100, 0x88A8, 0x9100)
_IP4, _IP6, _ARP, _MPLS = 0x0800, 0x86DD, 0x0806, 0x8847
_PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP"}
_WITH_PORTS = (6, 17, 132)
_ICMP, _ICMP6 = 1, 58
_ECHOES = {
    (_ICMP, 8): "echo request",
    (_ICMP, 0): "echo reply",
    (_ICMP6, 128): "echo request",
    (_ICMP6, 129): "echo reply",
}
_MESSAGES = {
    (_ICMP, 3): "destination unreachable",
    (_ICMP, 11): "time exceeded",
    (_ICMP6, 1): "destination unreachable",
    (_ICMP6, 2): "packet too big",
    (_ICMP6, 3): "time exceeded",
    (_ICMP6, 133): "router solicitation",
    (_ICMP6, 134): "router advertisement",
    (_ICMP6, 135): "neighbour solicitation",
    (_ICMP6, 136): "neighbour advertisement",
}
_SOLICITATIONS = (135, 136)


def _mac(data: bytes) -> str:
    return data.hex(":")


def _icmp(protocol: int, message: bytes) -> str:
    """Kind of an ICMP message; empty where it is cut short."""
    if len(message) < 8:
        return ""
    kind = protocol, message[0]
    if kind in _ECHOES:
        number, sequence = int.from_bytes(message[4:6]), int.from_bytes(message[6:8])
        return f", {_ECHOES[kind]}, id {number}, seq {sequence}"
    text = _MESSAGES.get(kind, f"type {message[0]}")
    if protocol == _ICMP6 and message[0] in _SOLICITATIONS and len(message) >= 24:
        return f", {text} of {ipaddress.IPv6Address(message[8:24])}"
    return f", {text}, code {message[1]}"


def _upper(protocol: int, source: str, destination: str, upper: bytes) -> str:
    name = _PROTOCOLS.get(protocol, f"protocol {protocol}")
    if protocol in _WITH_PORTS and len(upper) >= 4:
        ports = int.from_bytes(upper[:2]), int.from_bytes(upper[2:4])
        return f"{name} {source} port {ports[0]} > {destination} port {ports[1]}"
    more = _icmp(protocol, upper) if protocol in (_ICMP, _ICMP6) else ""
    return f"{name} {source} > {destination}{more}"


def _ip(packet: bytes) -> str:
    version = packet[0] >> 4
    if version == 4 and len(packet) >= 20:
        source, destination = (ipaddress.IPv4Address(packet[at : at + 4]) for at in (12, 16))
        later = int.from_bytes(packet[6:8]) & 0x1FFF != 0
        upper = b"" if later else packet[(packet[0] & 15) * 4 :]
        return _upper(packet[9], f"{source}", f"{destination}", upper) + f", TTL {packet[8]}"
    if version == 6 and len(packet) >= 40:
        source6, destination6 = (ipaddress.IPv6Address(packet[at : at + 16]) for at in (8, 24))
        upper = packet[40:]
        return (
            _upper(packet[6], f"{source6}", f"{destination6}", upper) + f", hop limit {packet[7]}"
        )
    return "no IP header"


def _arp(packet: bytes) -> str:
    if len(packet) < 28 or packet[:6] != b"\x00\x01\x08\x00\x06\x04":
        return "ARP"
    sender, target = (ipaddress.IPv4Address(packet[at : at + 4]) for at in (14, 24))
    operation = int.from_bytes(packet[6:8])
    if operation == 1:
        return f"ARP who has {target}, tell {sender}"
    if operation == 2:
        return f"ARP {sender} is at {_mac(packet[8:14])}"
    return f"ARP operation {operation}"


def describe(frame: bytes) -> str:
    """Addresses, protocol and ports of a frame, outer VLAN and label included."""
    at, tags = _ETHERNET_BYTES, ""
    kind = int.from_bytes(frame[12:14])
    while kind in _TAGS and len(frame) >= at + _TAG_BYTES:
        tags += f"VLAN {int.from_bytes(frame[at : at + 2]) & 0xFFF}, "
        kind = int.from_bytes(frame[at + 2 : at + 4])
        at += _TAG_BYTES
    if kind == _MPLS and len(frame) >= at + _TAG_BYTES:
        return f"{tags}MPLS label {int.from_bytes(frame[at : at + 4]) >> 12}"
    if kind in (_IP4, _IP6) and len(frame) > at:
        return tags + _ip(frame[at:])
    return tags + (_arp(frame[at:]) if kind == _ARP else f"ethertype 0x{kind:04x}")


def frame_line(frame: CapturedFrame) -> str:
    """One captured frame in a line: time, direction, MAC addresses, length, contents."""
    seconds, rest = divmod(frame.time_ns, 1_000_000_000)
    # In this host's time zone, as tcpdump has it.
    clock = datetime.fromtimestamp(seconds).astimezone().strftime("%H:%M:%S")
    direction = "tx" if frame.is_sent else "rx"
    macs = f"{_mac(frame.data[6:12])} > {_mac(frame.data[:6])}"
    text = f"{clock}.{rest // 1000:06d} {direction} {macs}, {frame.length_bytes} bytes"
    return f"{text}: {describe(frame.data)}"
