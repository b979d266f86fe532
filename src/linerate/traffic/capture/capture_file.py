"""Ethernet frames of a capture file: pcap (micro- and nanoseconds) and pcapng."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from linerate.base.line_rate import FCS_BYTES, FRAME_BYTES_MAX
from linerate.base.safe_open import read_regular
from linerate.traffic.profile import TrafficError

#: A capture that is longer is none of a template.
BYTES_MAX = 1 << 28
CAPTURED_MAX = FRAME_BYTES_MAX - FCS_BYTES
ETHERNET = 1

_PCAP_MICRO, _PCAP_NANO = 0xA1B2C3D4, 0xA1B23C4D
_SECTION, _INTERFACE, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 3, 6
_BYTE_ORDER = 0x1A2B3C4D
_RESOLUTION = 9


@dataclass(frozen=True, slots=True)
class Frame:
    """Captured data of one frame, without FCS."""

    #: Since whenever: differences count.
    nanoseconds: int
    data: bytes


def read_capture(path: Path) -> tuple[Frame, ...]:
    """All frames, in the file's order; raises TrafficError with the file and what is wrong."""
    try:
        data = read_regular(path, BYTES_MAX)
    except OSError as error:
        raise TrafficError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    try:
        return tuple(_frames(data))
    except TrafficError as error:
        raise TrafficError(f"{path}: {error}") from error
    except struct.error as error:
        raise TrafficError(f"{path}: ends in the middle of a frame") from error


def _frames(data: bytes) -> Iterator[Frame]:
    for order in "<>":
        (magic,) = struct.unpack_from(f"{order}I", data)
        if magic in (_PCAP_MICRO, _PCAP_NANO):
            yield from _pcap(data, order, 1000 if magic == _PCAP_MICRO else 1)
            return
        if magic == _SECTION:
            yield from _pcapng(data)
            return
    raise TrafficError("expected a pcap or pcapng file")


def _whole(number: int, data: bytes, captured: int, length: int) -> bytes:
    if len(data) < captured:
        raise TrafficError(f"frame {number}: the file ends within it")
    if captured < length:
        raise TrafficError(
            f"frame {number}: {captured} of {length} bytes captured; expected whole frames"
        )
    if not 0 < captured <= CAPTURED_MAX:
        raise TrafficError(
            f"frame {number}: {captured} bytes; expected 1 to {CAPTURED_MAX}: "
            "capture without offloads"
        )
    return data


def _check_link(link: int) -> None:
    if link & 0xFFFF != ETHERNET:
        raise TrafficError(f"link type {link & 0xFFFF}; expected Ethernet ({ETHERNET})")


def _pcap(data: bytes, order: str, tick: int) -> Iterator[Frame]:
    _check_link(struct.unpack_from(f"{order}I", data, 20)[0])
    at, number = 24, 0
    while at < len(data):
        seconds, part, captured, length = struct.unpack_from(f"{order}4I", data, at)
        at, number = at + 16, number + 1
        frame = _whole(number, data[at : at + captured], captured, length)
        yield Frame(seconds * 10**9 + part * tick, frame)
        at += captured


def _pcapng(data: bytes) -> Iterator[Frame]:
    at, number, order = 0, 0, "<"
    resolutions: list[int] = []
    while at < len(data):
        if struct.unpack_from("<I", data, at)[0] == _SECTION:
            little = struct.unpack_from("<I", data, at + 8)[0] == _BYTE_ORDER
            order, resolutions = "<" if little else ">", []
        kind, size = struct.unpack_from(f"{order}2I", data, at)
        if size < 12 or size % 4 or at + size > len(data):
            raise TrafficError("a block is broken")
        body = data[at + 8 : at + size - 4]
        at += size
        if kind == _INTERFACE:
            _check_link(struct.unpack_from(f"{order}H", body)[0])
            resolutions.append(_resolution(body[8:], order))
        elif kind == _SIMPLE:
            raise TrafficError("its packets have no times; expected enhanced packet blocks")
        elif kind == _ENHANCED:
            number += 1
            yield _enhanced(body, order, number, resolutions)


def _enhanced(body: bytes, order: str, number: int, resolutions: list[int]) -> Frame:
    interface, high, low, captured, length = struct.unpack_from(f"{order}5I", body)
    if interface >= len(resolutions):
        raise TrafficError(f"frame {number}: of an interface that the file does not describe")
    frame = _whole(number, body[20 : 20 + captured], captured, length)
    return Frame(((high << 32) | low) * 10**9 // resolutions[interface], frame)


def _resolution(options: bytes, order: str) -> int:
    """Units a second of an interface's times, from its options."""
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from(f"{order}2H", options, at)
        if code == 0:
            break
        if code == _RESOLUTION and size == 1 and at + 4 < len(options):
            exponent = options[at + 4]
            base = 2 if exponent & 0x80 else 10
            return int(base ** (exponent & 0x7F))
        at += 4 + (size + 3) // 4 * 4
    return 10**6
