"""Frames that tell whether a flow rule acts: each differs in one field from one that rules match.

Numbers are those of the patterns (`flow_rule_patterns`), and neighbours of them that no pattern, or
only a wider one, matches.
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, replace

#: A frame's headers, outermost first, with the fields that patterns can ask for.
Header = tuple[str, Mapping[str, int]]

_TESTER_MAC = bytes.fromhex("507c6f203070")
_BYTES = 96
_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "sctp": 132}
_L4_BYTES = {"icmp": 8, "tcp": 20, "udp": 8, "sctp": 12}
_ETHERTYPES = {"vlan": 0x8100, "mpls": 0x8847, "ipv4": 0x0800, "ipv6": 0x86DD}
#: Kept for experiments (IEEE 802): the first is what a pattern asks for.
_LOCAL_TYPES = (0x88B5, 0x88B6)


def _ip(text: str) -> int:
    return int(ipaddress.ip_address(text))


@dataclass(frozen=True, slots=True)
class ProbeFrame:
    """One frame, by its fields."""

    name: str
    eth_dst: int = 0x020000000002
    #: EtherType of a frame without IP.
    eth_type: int | None = None
    vlan: int | None = None
    label: int | None = None
    src: str = "198.18.0.1"
    dst: str = "198.19.0.1"
    tos: int = 0
    ttl: int = 64
    protocol: str = "udp"
    sport: int = 1025
    dport: int = 12
    tcp_flags: int = 0x10
    icmp_type: int = 8

    @property
    def headers(self) -> tuple[Header, ...]:
        """Headers with their fields, as patterns name them."""
        above = [*self._tags(), *self._packet()]
        first = self.eth_type if not above else _ETHERTYPES[above[0][0]]
        return (("eth", {"dst": self.eth_dst, "type": first or 0}), *above)

    def _tags(self) -> list[Header]:
        tags: list[Header] = [] if self.vlan is None else [("vlan", {"vid": self.vlan})]
        return tags if self.label is None else [*tags, ("mpls", {"label": self.label})]

    def _packet(self) -> list[Header]:
        if self.eth_type is not None:
            return []
        version = "ipv6" if ":" in self.src else "ipv4"
        address = {"src": _ip(self.src), "dst": _ip(self.dst)}
        more = {"tos": self.tos, "ttl": self.ttl} if version == "ipv4" else {}
        return [(version, address | more), (self.protocol, self._upper())]

    def _upper(self) -> dict[str, int]:
        if self.protocol == "icmp":
            return {"type": self.icmp_type, "code": 0}
        ports = {"src": self.sport, "dst": self.dport}
        return ports | ({"flags": self.tcp_flags} if self.protocol == "tcp" else {})

    def encode(self) -> bytes:
        """The frame without FCS, its payload zeros: room for the tester's signature."""
        head = self.eth_dst.to_bytes(6, "big") + _TESTER_MAC
        kinds = [kind for kind, _ in self.headers]
        if self.vlan is not None:
            head += b"\x81\x00" + self.vlan.to_bytes(2, "big")
            kinds.remove("vlan")
        below = kinds[1] if len(kinds) > 1 else ""
        head += (_ETHERTYPES[below] if below else self.eth_type or 0).to_bytes(2, "big")
        if self.label is not None:
            head += (self.label << 12 | 1 << 8 | self.ttl).to_bytes(4, "big")
        packet = b"" if self.eth_type is not None else self._encode_packet(_BYTES - len(head))
        return (head + packet).ljust(_BYTES, b"\0")

    def _encode_packet(self, length: int) -> bytes:
        addresses = ipaddress.ip_address(self.src).packed + ipaddress.ip_address(self.dst).packed
        number = _PROTOCOLS[self.protocol]
        if ":" in self.src:
            payload = length - 40
            head = b"\x60\0\0\0" + payload.to_bytes(2, "big") + bytes((number, self.ttl))
            return head + addresses + self._encode_upper(addresses, payload)
        head = bytes((0x45, self.tos)) + length.to_bytes(2, "big") + b"\0\0\0\0"
        head += bytes((self.ttl, number))
        total = _checksum(head + b"\0\0" + addresses)
        return head + total + addresses + self._encode_upper(addresses, length - 20)

    def _encode_upper(self, addresses: bytes, length: int) -> bytes:
        ports = self.sport.to_bytes(2, "big") + self.dport.to_bytes(2, "big")
        if self.protocol == "icmp":
            head = bytes((self.icmp_type, 0))
            return (head + _checksum(head)).ljust(length, b"\0")
        pseudo = addresses + bytes((0, _PROTOCOLS[self.protocol])) + length.to_bytes(2, "big")
        if self.protocol == "udp":
            head = ports + length.to_bytes(2, "big")
            return (head + _checksum(pseudo + head)).ljust(length, b"\0")
        if self.protocol == "tcp":
            head = ports + bytes(8) + bytes((0x50, self.tcp_flags, 0xFF, 0xFF))
            return (head + _checksum(pseudo + head)).ljust(length, b"\0")
        # SCTP's is a CRC, which a signature would break: no NIC drops by it.
        return ports.ljust(length, b"\0")


def _checksum(data: bytes) -> bytes:
    """Internet checksum (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total = sum(int.from_bytes(padded[at : at + 2], "big") for at in range(0, len(padded), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return (total ^ 0xFFFF).to_bytes(2, "big")


_UDP = ProbeFrame("udp")
_TCP = ProbeFrame("tcp", protocol="tcp")
_UDP6 = ProbeFrame("ipv6 udp", src="2001:2::1", dst="2001:2::2")
_TCP6 = replace(_UDP6, name="ipv6 tcp", protocol="tcp")
_NO_IP = ProbeFrame("type 0x88b6", eth_type=_LOCAL_TYPES[1])

FRAMES = (
    _NO_IP,
    replace(_NO_IP, name="MAC …:01", eth_dst=0x020000000001),
    replace(_NO_IP, name="type 0x88b5", eth_type=_LOCAL_TYPES[0]),
    replace(_NO_IP, name="VLAN 100", vlan=100),
    replace(_NO_IP, name="VLAN 101", vlan=101),
    replace(_UDP, name="udp in VLAN 100", vlan=100),
    replace(_UDP, name="udp in VLAN 101", vlan=101),
    replace(_UDP, name="udp to port 13 in VLAN 100", vlan=100, dport=13),
    replace(_UDP, name="udp behind label 16", label=16),
    replace(_UDP, name="udp behind label 17", label=17),
    replace(_UDP, name="udp from .2 behind label 16", label=16, src="198.18.0.2"),
    _UDP,
    replace(_UDP, name="udp from .2", src="198.18.0.2"),
    replace(_UDP, name="udp from another /24", src="198.18.1.1"),
    replace(_UDP, name="udp to .2", dst="198.19.0.2"),
    replace(_UDP, name="udp from port 1026", sport=1026),
    replace(_UDP, name="udp to port 13", dport=13),
    replace(_UDP, name="udp to port 1100", dport=1100),
    replace(_UDP, name="udp to port 1300", dport=1300),
    replace(_UDP, name="udp to port 2048", dport=2048),
    replace(_UDP, name="udp with TOS 0x2e", tos=0x2E),
    replace(_UDP, name="udp with TTL 1", ttl=1),
    _TCP,
    replace(_TCP, name="tcp from port 1026", sport=1026),
    replace(_TCP, name="tcp to port 13", dport=13),
    replace(_TCP, name="tcp SYN", tcp_flags=2),
    ProbeFrame("sctp", protocol="sctp"),
    ProbeFrame("sctp to port 13", protocol="sctp", dport=13),
    ProbeFrame("icmp echo", protocol="icmp"),
    ProbeFrame("icmp echo reply", protocol="icmp", icmp_type=0),
    ProbeFrame("icmp echo from .2", protocol="icmp", src="198.18.0.2"),
    _UDP6,
    replace(_UDP6, name="ipv6 udp from ::3", src="2001:2::3"),
    replace(_UDP6, name="ipv6 udp from another /48", src="2001:2:1::1"),
    replace(_UDP6, name="ipv6 udp to ::9", dst="2001:2::9"),
    replace(_UDP6, name="ipv6 udp to port 13", dport=13),
    _TCP6,
    replace(_TCP6, name="ipv6 tcp to port 13", dport=13),
)
