"""A frame as its layers: header by header, with the fields that a box may change.

Lengths, protocol numbers and EtherTypes that follow from the next header are no fields; checksums
are fields that are `good`, `bad` or `none`.
"""

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Value = str | int
#: Layers that a frame's Ethernet header follows.
CARRY_ETHERNET = ("vxlan", "geneve")
ETHERNET_BRIDGING = 0x6558
VLAN_TYPES = (0x8100, 0x88A8, 0x9100)
_LAYERS_MAX = 32
_IP4, _IP6, _MPLS = 0x0800, 0x86DD, (0x8847, 0x8848)
_VXLAN_PORTS, _GENEVE_PORT = (4789, 8472), 6081
_MORE_FRAGMENTS = 0x2000
_OFFSET = 0x1FFF


@dataclass(frozen=True, slots=True)
class Layer:
    """One header."""

    name: str
    fields: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Packet:
    """Headers from the outside in, and what follows the last that is known."""

    layers: tuple[Layer, ...]
    payload: bytes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the headers."""
        return tuple(layer.name for layer in self.layers)

    @property
    def text(self) -> str:
        """The headers in a line."""
        return "/".join(self.names)

    def named(self) -> Iterator[tuple[str, Layer]]:
        """Each header with its name; the second of a kind is `ipv4#2`."""
        seen: dict[str, int] = {}
        for layer in self.layers:
            seen[layer.name] = seen.get(layer.name, 0) + 1
            number = seen[layer.name]
            yield layer.name if number == 1 else f"{layer.name}#{number}", layer

    def value(self, name: str) -> Value | None:
        """A field by its name, as `ipv4.ttl`; None where there is none."""
        where, _, key = name.partition(".")
        return next(
            (layer.fields.get(key) for known, layer in self.named() if known == where), None
        )


#: Takes a header off: the layer, where the rest begins, and the decoder of that.
_Step = tuple[Layer, bytes, "_Decoder | None"]
_Decoder = Callable[[bytes], "_Step | None"]


def decode(frame: bytes) -> Packet:
    """Layers of a frame without FCS; padding behind an IP packet is left out."""
    layers: list[Layer] = []
    rest = frame
    decoder: _Decoder = _ethernet
    while len(layers) < _LAYERS_MAX:
        step = decoder(rest)
        if step is None:
            break
        layer, rest, following = step
        layers.append(layer)
        if following is None:
            break
        decoder = following
    return Packet(tuple(layers), rest)


def _mac(data: bytes) -> str:
    return data.hex(":")


def _by_type(ethertype: int) -> "_Decoder | None":
    if ethertype in VLAN_TYPES:
        return lambda data: _vlan(data, ethertype)
    if ethertype in _MPLS:
        return _mpls
    return {_IP4: _ipv4, _IP6: _ipv6}.get(ethertype)


def _ethernet(data: bytes) -> "_Step | None":
    if len(data) < 14:
        return None
    ethertype = int.from_bytes(data[12:14])
    fields: dict[str, Value] = {"dst": _mac(data[:6]), "src": _mac(data[6:12])}
    following = _by_type(ethertype)
    if following is None:
        fields["type"] = ethertype
    return Layer("ethernet", fields), data[14:], following


def _vlan(data: bytes, tpid: int) -> "_Step | None":
    if len(data) < 4:
        return None
    tag, ethertype = int.from_bytes(data[:2]), int.from_bytes(data[2:4])
    fields: dict[str, Value] = {"id": tag & 0xFFF, "priority": tag >> 13, "tpid": tpid}
    following = _by_type(ethertype)
    if following is None:
        fields["type"] = ethertype
    return Layer("vlan", fields), data[4:], following


def _mpls(data: bytes) -> "_Step | None":
    if len(data) < 4:
        return None
    word = int.from_bytes(data[:4])
    fields: dict[str, Value] = {
        "label": word >> 12,
        "traffic_class": word >> 9 & 7,
        "ttl": word & 255,
    }
    rest = data[4:]
    if not word >> 8 & 1:
        return Layer("mpls", fields), rest, _mpls
    version = rest[0] >> 4 if rest else 0
    return Layer("mpls", fields), rest, {4: _ipv4, 6: _ipv6}.get(version)


def _ipv4(data: bytes) -> "_Step | None":
    header = (data[0] & 15) * 4 if data else 0
    if len(data) < 20 or data[0] >> 4 != 4 or not 20 <= header <= len(data):
        return None
    length, fragment = int.from_bytes(data[2:4]), int.from_bytes(data[6:8])
    protocol = data[9]
    fields: dict[str, Value] = {
        "src": str(ipaddress.IPv4Address(data[12:16])),
        "dst": str(ipaddress.IPv4Address(data[16:20])),
        "ttl": data[8],
        "dscp": data[1] >> 2,
        "ecn": data[1] & 3,
        "id": int.from_bytes(data[4:6]),
        "flags": fragment >> 13,
        "offset": fragment & _OFFSET,
        "checksum": "good" if _sum(data[:header]) == 0xFFFF else "bad",
        "length": "good" if header <= length <= len(data) else "bad",
    }
    if header > 20:
        fields["options"] = data[20:header].hex()
    rest = data[header : max(header, length)]
    following = None
    if not fragment & (_MORE_FRAGMENTS | _OFFSET):
        following = _upper(protocol, data[12:20], len(rest))
    if following is None:
        fields["protocol"] = protocol
    return Layer("ipv4", fields), rest, following


def _ipv6(data: bytes) -> "_Step | None":
    if len(data) < 40 or data[0] >> 4 != 6:
        return None
    word, length = int.from_bytes(data[:4]), int.from_bytes(data[4:6])
    fields: dict[str, Value] = {
        "src": str(ipaddress.IPv6Address(data[8:24])),
        "dst": str(ipaddress.IPv6Address(data[24:40])),
        "hop_limit": data[7],
        "traffic_class": word >> 20 & 255,
        "flow_label": word & 0xFFFFF,
        "length": "good" if length <= len(data) - 40 else "bad",
    }
    rest = data[40 : 40 + length]
    following = _upper(data[6], data[8:40], len(rest))
    if following is None:
        fields["next_header"] = data[6]
    return Layer("ipv6", fields), rest, following


def _upper(protocol: int, addresses: bytes, length: int) -> "_Decoder | None":
    """Decoder of what follows an IP header; `addresses` are those of the pseudo-header."""
    pseudo = addresses + length.to_bytes(4) + protocol.to_bytes(4)
    decoders: dict[int, _Decoder] = {
        1: lambda data: _icmp("icmp", data, b""),
        4: _ipv4,
        6: lambda data: _tcp(data, pseudo),
        17: lambda data: _udp(data, pseudo),
        41: _ipv6,
        43: lambda data: _routing(data, addresses),
        47: _gre,
        50: _esp,
        58: lambda data: _icmp("icmpv6", data, pseudo),
        137: _mpls,
    }
    return decoders.get(protocol)


def _udp(data: bytes, pseudo: bytes) -> "_Step | None":
    if len(data) < 8:
        return None
    length, checksum = int.from_bytes(data[4:6]), int.from_bytes(data[6:8])
    good = _sum(pseudo + data) == 0xFFFF
    source, destination = int.from_bytes(data[:2]), int.from_bytes(data[2:4])
    fields: dict[str, Value] = {
        "src": source,
        "dst": destination,
        "length": "good" if length == len(data) else "bad",
        "checksum": "none" if not checksum else "good" if good else "bad",
    }
    following: _Decoder | None = None
    if destination in _VXLAN_PORTS:
        following = _vxlan
    elif destination == _GENEVE_PORT:
        following = _geneve
    return Layer("udp", fields), data[8:], following


def _tcp(data: bytes, pseudo: bytes) -> "_Step | None":
    header = (data[12] >> 4) * 4 if len(data) >= 20 else 0
    if not 20 <= header <= len(data):
        return None
    fields: dict[str, Value] = {
        "src": int.from_bytes(data[:2]),
        "dst": int.from_bytes(data[2:4]),
        "seq": int.from_bytes(data[4:8]),
        "ack": int.from_bytes(data[8:12]),
        "flags": data[13],
        "window": int.from_bytes(data[14:16]),
        "checksum": "good" if _sum(pseudo + data) == 0xFFFF else "bad",
    }
    return Layer("tcp", fields), data[header:], None


def _icmp(name: str, data: bytes, pseudo: bytes) -> "_Step | None":
    if len(data) < 8:
        return None
    fields: dict[str, Value] = {
        "type": data[0],
        "code": data[1],
        "checksum": "good" if _sum(pseudo + data) == 0xFFFF else "bad",
    }
    return Layer(name, fields), data[4:], None


def _routing(data: bytes, addresses: bytes) -> "_Step | None":
    """A routing header; of segments (RFC 8754) with their list, the last segment first."""
    length = 8 * (data[1] + 1) if len(data) >= 8 else 0
    if not 8 <= length <= len(data):
        return None
    fields: dict[str, Value] = {"type": data[2], "segments_left": data[3]}
    if data[2] == 4:
        count = min(data[4] + 1, (length - 8) // 16)
        starts = range(8, 8 + 16 * count, 16)
        fields["segments"] = ",".join(
            str(ipaddress.IPv6Address(data[at : at + 16])) for at in starts
        )
        # The upper header's checksum is over the last destination (RFC 8200, 8.1).
        if count:
            addresses = addresses[:16] + data[8:24]
    rest = data[length:]
    following = _upper(data[0], addresses, len(rest))
    if following is None:
        fields["next_header"] = data[0]
    return Layer("srh", fields), rest, following


def _gre(data: bytes) -> "_Step | None":
    if len(data) < 4:
        return None
    flags, ethertype = int.from_bytes(data[:2]), int.from_bytes(data[2:4])
    at = 4
    fields: dict[str, Value] = {"type": ethertype}
    for bit, name in ((0x8000, ""), (0x2000, "key"), (0x1000, "seq")):
        if flags & bit:
            if name:
                fields[name] = int.from_bytes(data[at : at + 4])
            at += 4
    if len(data) < at:
        return None
    following = _ethernet if ethertype == ETHERNET_BRIDGING else _by_type(ethertype)
    return Layer("gre", fields), data[at:], following


def _vxlan(data: bytes) -> "_Step | None":
    if len(data) < 8:
        return None
    return Layer("vxlan", {"vni": int.from_bytes(data[4:7]), "flags": data[0]}), data[8:], _ethernet


def _geneve(data: bytes) -> "_Step | None":
    length = 8 + (data[0] & 63) * 4 if data else 0
    if not 8 <= length <= len(data):
        return None
    ethertype = int.from_bytes(data[2:4])
    following = _ethernet if ethertype == ETHERNET_BRIDGING else _by_type(ethertype)
    return Layer("geneve", {"vni": int.from_bytes(data[4:7])}), data[length:], following


def _esp(data: bytes) -> "_Step | None":
    if len(data) < 8:
        return None
    fields: dict[str, Value] = {
        "spi": int.from_bytes(data[:4]),
        "seq": int.from_bytes(data[4:8]),
    }
    return Layer("esp", fields), data[8:], None


def _sum(data: bytes) -> int:
    """Ones' complement sum of 16-bit words (RFC 1071): 0xFFFF where a checksum is right."""
    whole = int.from_bytes(data + b"\0" * (len(data) & 1)) % 0xFFFF
    return whole or (0xFFFF if any(data) else 0)
