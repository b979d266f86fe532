"""Streams in the words of TRex: a frame, fields that vary in it, a rate.

What TRex's stateless streams can't say is refused in one line.
"""

import ipaddress
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from linerate.base.errors import SetupError
from linerate.base.line_rate import line_rate
from linerate.model.suites import TESTER_PORTS

#: Keys that change nothing here, or are read below.
_KNOWN = {
    "name", "port", "rx_port", "rate", "frame_bytes", "layers", "modifiers", "latency",
    "signature", "count_by", "weight", "burst", "check_payload", "sizes",
}  # fmt: skip
_FCS_BYTES = 4
_OPERATIONS = {"increment": "inc", "decrement": "dec", "random": "random"}
#: Offset within its layer, and bytes.
_FIELDS = {
    "ethernet.dst": (2, 4),
    "ethernet.src": (8, 4),
    "ipv4.src": (12, 4),
    "ipv4.dst": (16, 4),
    "udp.src": (0, 2),
    "udp.dst": (2, 2),
    "tcp.src": (0, 2),
    "tcp.dst": (2, 2),
}
_IP_PROTOCOLS = {"udp": 17, "tcp": 6}


def trex_streams(
    streams: Sequence[Mapping[str, Any]],
    link_bps: int,
    scale: float,
    ports: Sequence[int],
) -> list[dict[str, Any]]:
    """Streams of the engine's configuration at `scale` of their rates, for the server's `ports`.

    Groups are numbered from 1 in their order. Raises SetupError.
    """
    number = dict(zip(TESTER_PORTS, ports, strict=True))
    return [
        _stream(stream, link_bps, scale)
        | {
            "group": group,
            "port": number[stream["port"]],
            "rx_port": number[stream.get("rx_port") or _other(stream["port"])],
        }
        for group, stream in enumerate(streams, 1)
    ]


def _other(port: str) -> str:
    return next(name for name in TESTER_PORTS if name != port)


def _refused(stream: Mapping[str, Any], what: str) -> SetupError:
    return SetupError(
        f"stream {stream.get('name', '?')}: {what}: TRex's streams can't say it; expected frames "
        "of Ethernet, VLAN, IPv4, UDP or TCP whose fields count or are random, or kind: engine"
    )


def _stream(stream: Mapping[str, Any], link_bps: int, scale: float) -> dict[str, Any]:
    if unknown := sorted(key for key in stream.keys() - _KNOWN if stream[key]):
        raise _refused(stream, unknown[0])
    if stream.get("burst"):
        raise _refused(stream, "burst")
    if not isinstance(stream.get("frame_bytes"), int) or stream.get("sizes"):
        raise _refused(stream, "several sizes in one stream")
    size = int(stream["frame_bytes"])
    frame, places = _frame(stream, size - _FCS_BYTES)
    modifiers = stream.get("modifiers") or []
    if "tcp" in places and modifiers:
        raise _refused(stream, "fields of TCP that vary")
    return {
        "frame": frame.hex(),
        "pps": _pps(stream, link_bps, size) * scale,
        "latency": bool(stream.get("latency")),
        "ipv4_offset": places.get("ipv4"),
        "fields": [_field(stream, one, places) for one in modifiers],
    }


def _pps(stream: Mapping[str, Any], link_bps: int, size: int) -> float:
    ((unit, value),) = stream["rate"].items()
    whole = line_rate(link_bps, size).packets_per_second
    by_unit = {
        "pps": float(value),
        "percent": whole * float(value) / 100,
        "l1_bps": whole * float(value) / link_bps,
        "l2_bps": float(value) / (8 * size),
    }
    if unit not in by_unit:
        raise _refused(stream, f"rate {unit}")
    return by_unit[unit]


def _field(
    stream: Mapping[str, Any], modifier: Mapping[str, Any], places: Mapping[str, int]
) -> dict[str, Any]:
    name = str(modifier["field"])
    layer = name.partition(".")[0]
    operation = _OPERATIONS.get(str(modifier.get("op")))
    extra = modifier.keys() - {"field", "op", "min", "max", "step"}
    if name not in _FIELDS or layer not in places or operation is None or extra:
        raise _refused(stream, f"modifier of {name}")
    offset, size = _FIELDS[name]
    low, high = _number(modifier["min"], size), _number(modifier["max"], size)
    return {
        "offset": places[layer] + offset,
        "size": size,
        "min": low,
        "max": high,
        "step": int(modifier.get("step", 1)),
        "op": operation,
    }


def _number(value: object, size: int) -> int:
    """A port, an IPv4 address, or the last bytes of a MAC address."""
    text = str(value)
    if isinstance(value, int):
        return value
    if ":" in text:
        return int(text.replace(":", ""), 16) & ((1 << 8 * size) - 1)
    return int(ipaddress.IPv4Address(text)) if "." in text else int(text)


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def _frame(stream: Mapping[str, Any], length: int) -> tuple[bytes, dict[str, int]]:
    """The first frame, padded to `length`, and the offset of each layer."""
    layers = [next(iter(layer.items())) for layer in stream["layers"]]
    names = [name for name, _ in layers]
    plain = [name for name in names if name != "vlan"]
    expected = (["ethernet", "ipv4", "udp"], ["ethernet", "ipv4", "tcp"])
    if plain not in expected or names[0] != "ethernet" or names[-2] != "ipv4":
        raise _refused(stream, " / ".join(names))
    made, places = b"", dict[str, int]()
    for number, (name, words) in enumerate(layers):
        places.setdefault(name, len(made))
        after = names[number + 1] if number + 1 < len(names) else ""
        made += _LAYERS[name](words, after, length - len(made))
    if len(made) > length:
        raise _refused(stream, f"{length + _FCS_BYTES} bytes for these headers")
    return made.ljust(length, b"\0"), places


def _ethertype(after: str) -> int:
    return 0x8100 if after == "vlan" else 0x0800


def _ethernet(words: Mapping[str, Any], after: str, _left: int) -> bytes:
    return _mac(words["dst"]) + _mac(words["src"]) + struct.pack("!H", _ethertype(after))


def _vlan(words: Mapping[str, Any], after: str, _left: int) -> bytes:
    tag = int(words.get("priority", 0)) << 13 | int(words["id"])
    return struct.pack("!HH", tag, _ethertype(after))


def _ipv4(words: Mapping[str, Any], after: str, left: int) -> bytes:
    ends = (ipaddress.IPv4Address(words[end]).packed for end in ("src", "dst"))
    head = struct.pack(
        "!BBHHHBBH4s4s", 0x45, int(words.get("dscp", 0)) << 2, left, 0, 0,
        int(words.get("ttl", 64)), _IP_PROTOCOLS[after], 0, *ends,
    )  # fmt: skip
    total = sum(struct.unpack("!10H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:]


def _udp(words: Mapping[str, Any], _after: str, left: int) -> bytes:
    # Without a checksum, as IPv4 allows: fields vary.
    return struct.pack("!HHHH", int(words["src"]), int(words["dst"]), left, 0)


def _tcp(words: Mapping[str, Any], _after: str, _left: int) -> bytes:
    ends = int(words["src"]), int(words["dst"])
    return struct.pack("!HHIIBBHHH", *ends, 0, 0, 0x50, int(words.get("flags", 16)), 8192, 0, 0)


_LAYERS = {"ethernet": _ethernet, "vlan": _vlan, "ipv4": _ipv4, "udp": _udp, "tcp": _tcp}
