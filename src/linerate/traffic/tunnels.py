"""Streams with tunnel headers: frames byte by byte, as the engine has no layers for those.

A header of VXLAN, Geneve, GRE or segment routing, or a second IP or Ethernet header, makes a
stream's layers a template, and its modifiers a program over that.
"""

import ipaddress
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from linerate.base.line_rate import FCS_BYTES
from linerate.traffic.profile import Stream, TrafficError

#: Headers that the engine's own layers lack.
TUNNELS = ("vxlan", "geneve", "gre", "srh")
#: The engine has several of these.
_STACKED = ("vlan", "mpls")
#: Types of what follows an Ethernet header, a tag or a GRE header.
_TYPES = {"ipv4": 0x0800, "ipv6": 0x86DD, "mpls": 0x8847, "vlan": 0x8100, "ethernet": 0x6558}
#: Numbers of what follows an IP header.
_PROTOCOLS = {
    "ipv4": 4, "tcp": 6, "udp": 17, "ipv6": 41, "srh": 43, "gre": 47, "ethernet": 143,
}  # fmt: skip
#: Destination ports of tunnels over UDP.
_UDP_PORTS = {"vxlan": 4789, "geneve": 6081}
_TCP, _UDP = 6, 17
#: Inner Ethernet addresses that are not given.
_INNER_MACS = ("02:00:00:00:10:01", "02:00:00:00:10:02")
_SIGNATURE, _STAMPED = 8, 14
_NO_TYPE = 0xFFFF
#: Where a field lies in its header, and how many bytes a variable writes there.
_FIELDS = {
    "ipv4.src": (12, 4), "ipv4.dst": (16, 4), "ipv6.src": (20, 4), "ipv6.dst": (36, 4),
    "udp.src": (0, 2), "udp.dst": (2, 2), "tcp.src": (0, 2), "tcp.dst": (2, 2),
}  # fmt: skip

Fields = Mapping[str, Any]


class _Header(NamedTuple):
    """A header of a frame, and where it begins."""

    kind: str
    fields: Fields
    offset: int
    bytes_: int


def needs_template(layers: Sequence[Mapping[str, Fields]]) -> bool:
    """Whether the engine has no layers for these headers."""
    kinds = [kind for layer in layers for kind in layer]
    twice = any(kinds.count(kind) > 1 for kind in kinds if kind not in _STACKED)
    return twice or {"ipv4", "ipv6"} <= {*kinds} or any(kind in TUNNELS for kind in kinds)


def templated(stream: Stream) -> Stream:
    """The same stream byte by byte; raises TrafficError."""
    if "flows" in stream:
        raise TrafficError("flows: expected modifiers instead, as there are tunnel headers")
    layers = [(kind, fields or {}) for layer in stream["layers"] for kind, fields in layer.items()]
    if not layers or layers[0][0] != "ethernet":
        layers.insert(0, ("ethernet", {}))
    headers = _placed(layers)
    length = int(stream.get("frame_bytes", 64)) - FCS_BYTES
    payload = length - headers[-1].offset - headers[-1].bytes_
    needed = _STAMPED if stream.get("latency") else _SIGNATURE
    if payload < needed:
        raise TrafficError(
            f"frame_bytes: expected {length - payload + needed + FCS_BYTES} or more with these "
            f"headers, not {length + FCS_BYTES}"
        )
    made = {key: value for key, value in stream.items() if key not in _OF_LAYERS}
    made |= {
        "template": _frame(headers, bytes(payload)).hex(),
        "signature": stream.get("signature", True),
        "timeable": payload >= _STAMPED,
    }
    program = _program(headers, stream.get("modifiers", ()))
    return made | ({"program": program} if program else {})


_OF_LAYERS = ("layers", "frame_bytes", "modifiers")


def _placed(layers: Sequence[tuple[str, Fields]]) -> list[_Header]:
    placed: list[_Header] = []
    offset = 0
    for kind, fields in layers:
        size = len(_HEADERS[kind](fields, "", b"", not placed))
        placed.append(_Header(kind, fields, offset, size))
        offset += size
    return placed


def _frame(headers: Sequence[_Header], payload: bytes) -> bytes:
    """The headers around the payload, whose signature adds nothing to a checksum."""
    made, following = payload, ""
    for number, header in reversed(list(enumerate(headers))):
        own = _HEADERS[header.kind](header.fields, following, made, number == 0)
        made = own + made
        if header.kind in ("ipv4", "ipv6"):
            made = _with_checksum(made, headers[number:])
        following = header.kind
    return made


def _ethernet(fields: Fields, following: str, _inner: bytes, outermost: bool) -> bytes:
    # All zeros are the tester's and the device's (traffic/profile.py).
    src, dst = ("00:" * 5 + "00",) * 2 if outermost else _INNER_MACS
    macs = bytes.fromhex(
        fields.get("dst", dst).replace(":", "") + fields.get("src", src).replace(":", "")
    )
    return macs + struct.pack("!H", fields.get("type", _TYPES.get(following, _NO_TYPE)))


def _vlan(fields: Fields, following: str, _inner: bytes, _outermost: bool) -> bytes:
    tag = fields.get("priority", 0) << 13 | fields.get("id", 1)
    return struct.pack("!HH", tag, _TYPES.get(following, _NO_TYPE))


def _mpls(fields: Fields, following: str, _inner: bytes, _outermost: bool) -> bytes:
    label = fields.get("label", 16) << 12 | fields.get("traffic_class", 0) << 9
    bottom = 0 if following == "mpls" else 1 << 8
    return struct.pack("!I", label | bottom | fields.get("ttl", 64))


def _ipv4(fields: Fields, following: str, inner: bytes, _outermost: bool) -> bytes:
    header = struct.pack(
        "!BBHHHBBH4s4s",
        0x45,
        fields.get("dscp", 0) << 2,
        20 + len(inner),
        fields.get("id", 0),
        0,
        fields.get("ttl", 64),
        fields.get("protocol", _PROTOCOLS.get(following, 255)),
        0,
        ipaddress.IPv4Address(fields.get("src", "16.0.0.1")).packed,
        ipaddress.IPv4Address(fields.get("dst", "48.0.0.1")).packed,
    )
    return header[:10] + struct.pack("!H", _checksum(header)) + header[12:]


def _ipv6(fields: Fields, following: str, inner: bytes, _outermost: bool) -> bytes:
    first = 6 << 28 | fields.get("traffic_class", 0) << 20 | fields.get("flow_label", 0)
    return struct.pack(
        "!IHBB16s16s",
        first,
        len(inner),
        fields.get("next_header", _PROTOCOLS.get(following, 59)),
        fields.get("hop_limit", 64),
        ipaddress.IPv6Address(fields.get("src", "fd00:16::1")).packed,
        ipaddress.IPv6Address(fields.get("dst", "fd00:48::1")).packed,
    )


def _udp(fields: Fields, following: str, inner: bytes, _outermost: bool) -> bytes:
    port = fields.get("dst", _UDP_PORTS.get(following, 12))
    return struct.pack("!HHHH", fields.get("src", 1025), port, 8 + len(inner), 0)


def _tcp(fields: Fields, _following: str, _inner: bytes, _outermost: bool) -> bytes:
    return struct.pack(
        "!HHIIBBHHH",
        fields.get("src", 1025),
        fields.get("dst", 80),
        fields.get("seq", 0),
        fields.get("ack", 0),
        5 << 4,
        fields.get("flags", 16),
        fields.get("window", 8192),
        0,
        0,
    )


def _vxlan(fields: Fields, _following: str, _inner: bytes, _outermost: bool) -> bytes:
    return struct.pack("!II", 1 << 27, fields.get("vni", 1) << 8)


def _geneve(fields: Fields, following: str, _inner: bytes, _outermost: bool) -> bytes:
    return struct.pack("!HHI", 0, _TYPES.get(following, _NO_TYPE), fields.get("vni", 1) << 8)


def _gre(fields: Fields, following: str, _inner: bytes, _outermost: bool) -> bytes:
    kind = _TYPES.get(following, _NO_TYPE)
    if "key" not in fields:
        return struct.pack("!HH", 0, kind)
    return struct.pack("!HHI", 1 << 13, kind, fields["key"])


def _srh(fields: Fields, following: str, _inner: bytes, _outermost: bool) -> bytes:
    """RFC 8754: the list is kept backwards, so that the last segment comes first."""
    segments = [ipaddress.IPv6Address(one).packed for one in fields.get("segments", ())]
    last = max(0, len(segments) - 1)
    return struct.pack(
        "!BBBBBBH",
        _PROTOCOLS.get(following, 59),
        2 * len(segments),
        4,
        fields.get("segments_left", last),
        last,
        0,
        0,
    ) + b"".join(reversed(segments))


_HEADERS = {
    "ethernet": _ethernet, "vlan": _vlan, "mpls": _mpls, "ipv4": _ipv4, "ipv6": _ipv6,
    "udp": _udp, "tcp": _tcp, "vxlan": _vxlan, "geneve": _geneve, "gre": _gre, "srh": _srh,
}  # fmt: skip
#: Where a transport header has its checksum.
_CHECKSUM_AT = {_TCP: 16, _UDP: 6}


def _transport(headers: Sequence[_Header]) -> tuple[_Header, int] | None:
    """The transport header behind the first of some headers, and its protocol.

    There is none within a tunnel, and one over UDP and IPv4 has no checksum (RFC 7348, 8926).
    """
    for header, following in zip(headers[1:], [*headers[2:], None], strict=True):
        if header.kind == "srh":
            continue
        if header.kind not in ("udp", "tcp"):
            return None
        tunnel = following is not None and following.kind in _UDP_PORTS
        if tunnel and headers[0].kind == "ipv4":
            return None
        return header, _TCP if header.kind == "tcp" else _UDP
    return None


def _with_checksum(packet: bytes, headers: Sequence[_Header]) -> bytes:
    """An IP packet with the checksum of its transport header."""
    found = _transport(headers)
    if found is None:
        return packet
    header, protocol = found
    start = header.offset - headers[0].offset
    body = packet[start:]
    if headers[0].kind == "ipv4":
        pseudo = packet[12:20] + struct.pack("!HH", protocol, len(body))
    else:
        pseudo = (
            packet[8:24]
            + _last_destination(packet, headers)
            + struct.pack("!II", len(body), protocol)
        )
    at = start + _CHECKSUM_AT[protocol]
    # 0 would mean that there is none (RFC 768).
    found_sum = _checksum(pseudo + body) or 0xFFFF
    return packet[:at] + struct.pack("!H", found_sum) + packet[at + 2 :]


def _last_destination(packet: bytes, headers: Sequence[_Header]) -> bytes:
    """Where a packet goes in the end (RFC 8200, 8.1): the first segment, as they are kept."""
    routed = next((one for one in headers if one.kind == "srh"), None)
    if routed is None or not routed.fields.get("segments"):
        return packet[24:40]
    at = routed.offset - headers[0].offset + 8
    return packet[at : at + 16]


def _checksum(data: bytes) -> int:
    padded = data + bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _program(headers: Sequence[_Header], modifiers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Variables, the steps that write them, and the checksums over them."""
    variables: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    fixed: list[dict[str, Any]] = []
    for number, modifier in enumerate(modifiers):
        at = _found(headers, modifier["field"])
        header = headers[at]
        offset, size = _FIELDS[_plain(modifier["field"])]
        name = f"v{number}"
        least, most = (_number(modifier[key]) for key in ("min", "max"))
        variables.append(
            {"name": name, "bytes": size, "op": modifier.get("op", "increment"), "min": least,
             "max": most} | ({"step": modifier["step"]} if "step" in modifier else {})
        )  # fmt: skip
        steps.append({"write": {"variable": name, "offset": header.offset + offset}})
        fixed += [one for one in _fixes(headers, at) if one not in fixed]
    return {"variables": variables, "steps": [*steps, *fixed]} if steps else {}


def _fixes(headers: Sequence[_Header], at: int) -> list[dict[str, Any]]:
    """Steps for the checksums that a field of a header counts in."""
    ip = at if headers[at].kind.startswith("ip") else at - 1
    fixes: list[dict[str, Any]] = []
    if headers[at].kind == "ipv4":
        fixes.append({"fix_ipv4_checksum": {"offset": headers[at].offset}})
    transport = _transport(headers[ip:])
    if transport is not None:
        header, protocol = transport
        start = headers[ip].offset
        if any(one.kind == "srh" for one in headers[ip + 1 : headers.index(header)]):
            # The engine takes the destination from the IPv6 header.
            raise TrafficError("modifiers: expected none of a packet whose checksum is behind srh")
        fixes.append(
            {"fix_l4_checksum": {"l3_offset": start, "l3_bytes": header.offset - start,
                                 "protocol": "tcp" if protocol == _TCP else "udp"}}
        )  # fmt: skip
    return fixes


def _plain(field: str) -> str:
    layer, _, name = field.partition(".")
    return f"{layer.partition('#')[0]}.{name}"


def _found(headers: Sequence[_Header], field: str) -> int:
    """The header that a field is of: `ipv4.src` of the outermost, `ipv4#2.src` of the next one."""
    layer = field.partition(".")[0]
    kind, _, count = layer.partition("#")
    places = [number for number, header in enumerate(headers) if header.kind == kind]
    nth = int(count or 1)
    if _plain(field) not in _FIELDS or nth > len(places):
        raise TrafficError(f"modifiers: {field}: no such header among the layers, or it can't vary")
    return places[nth - 1]


def _number(value: int | str) -> int:
    """A value of a variable; of an IPv6 address the last 32 bits."""
    if isinstance(value, int):
        return value
    if value.isdecimal():
        return int(value)
    try:
        return int(ipaddress.ip_address(value)) & 0xFFFFFFFF
    except ValueError as error:
        raise TrafficError(f"modifiers: expected an address or a number, not '{value}'") from error
