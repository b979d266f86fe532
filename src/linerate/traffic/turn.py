"""The other direction of a template: the bytes of sources and destinations change places.

So do those that a program writes. Checksums are sums, and stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linerate.traffic.addresses import TCP, UDP, behind_extensions
from linerate.traffic.ethernet import IPV4, IPV6, network_of
from linerate.traffic.profile import Stream, TrafficError

_MAC_BYTES, _PORT_BYTES = 6, 2
_IP6_BYTES = 40
_TUPLE_BYTES = {"ip": 4, "port": 2}


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two fields of one size, a source and a destination."""

    first: int
    second: int
    bytes: int


def turned(stream: Stream) -> dict[str, Any]:
    """Its `template`, and its `program` if it has one; raises TrafficError."""
    frame = bytearray.fromhex(str(stream["template"]))
    pairs = tuple(_pairs(stream, bytes(frame)))
    for pair in pairs:
        first, second = (slice(at, at + pair.bytes) for at in (pair.first, pair.second))
        frame[first], frame[second] = frame[second], frame[first]
    made: dict[str, Any] = {"template": frame.hex()}
    if "program" in stream:
        program = stream["program"]
        sizes = _sizes(program)
        steps = [_step(stream, step, sizes, pairs) for step in program.get("steps", ())]
        made["program"] = {**program, "steps": steps}
    return made


def _refusal(stream: Stream, why: str) -> TrafficError:
    return TrafficError(
        f"directions: stream {stream.get('name', '')}: {why}; expected --directions 1"
    )


def _pairs(stream: Stream, frame: bytes) -> Iterator[_Pair]:
    yield _Pair(0, _MAC_BYTES, _MAC_BYTES)
    kind, at = network_of(frame)
    if kind == IPV4 and len(frame) >= at + 20:
        yield _Pair(at + 12, at + 16, 4)
        whole = not int.from_bytes(frame[at + 6 : at + 8], "big") & 0x1FFF
        protocol, behind = (frame[at + 9] if whole else -1), at + (frame[at] & 15) * 4
    elif kind == IPV6 and (end := _behind_ipv6(frame, at)) is not None:
        yield _Pair(at + 8, at + 24, 16)
        protocol, behind = end
    else:
        raise _refusal(stream, "neither IPv4 nor IPv6 of headers that are known")
    if protocol in (TCP, UDP) and len(frame) >= behind + 2 * _PORT_BYTES:
        yield _Pair(behind, behind + _PORT_BYTES, _PORT_BYTES)


def _behind_ipv6(frame: bytes, at: int) -> tuple[int, int] | None:
    if len(frame) < at + _IP6_BYTES:
        return None
    return behind_extensions(frame, at + _IP6_BYTES, frame[at + 6])


def _sizes(program: Mapping[str, Any]) -> dict[str, int]:
    """Bytes of each variable, and of both of a tuple."""
    sizes = {one["name"]: int(one["bytes"]) for one in program.get("variables", ())}
    for one in program.get("tuples", ()):
        sizes |= {f"{one['name']}.{part}": size for part, size in _TUPLE_BYTES.items()}
    return sizes


def _step(
    stream: Stream, step: Mapping[str, Any], sizes: Mapping[str, int], pairs: Sequence[_Pair]
) -> Mapping[str, Any]:
    if "write" not in step:
        return step
    write = step["write"]
    at = int(write["offset"])
    size = int(write.get("bytes", sizes[write["variable"]]))
    for pair in pairs:
        for here, there in ((pair.first, pair.second), (pair.second, pair.first)):
            if here <= at and at + size <= here + pair.bytes:
                return {"write": {**write, "offset": at + there - here}}
            if at < here + pair.bytes and here < at + size:
                raise _refusal(
                    stream, f"its program writes bytes {at} to {at + size - 1}, more than one field"
                )
    return step
