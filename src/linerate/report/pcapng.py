"""Captures as files: pcapng (draft-ietf-opsawg-pcapng), read by Wireshark, tshark and tcpdump."""

import struct
from typing import IO

from linerate.model.captured_frame import CaptureCounters, CapturedFrame

_SECTION, _INTERFACE, _STATISTICS, _ENHANCED = 0x0A0D0D0A, 1, 5, 6
_BYTE_ORDER = 0x1A2B3C4D
_ETHERNET = 1
_END = struct.pack("<HH", 0, 0)
#: Options: of a section, an interface, a frame, statistics.
_APPLICATION = 4
_NAME, _RESOLUTION, _FILTER = 2, 9, 11
_FLAGS, _INBOUND, _OUTBOUND = 2, 1, 2
_RECEIVED, _DROPPED = 4, 5
#: Timestamps count 10^-9 s.
_NANOSECONDS = b"\x09"


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _time(time_ns: int) -> bytes:
    return struct.pack("<II", time_ns >> 32, time_ns & 0xFFFFFFFF)


class CaptureWriter:
    """One section with one interface, written frame by frame."""

    def __init__(self, file: IO[bytes], port: str, filter_text: str, snap_bytes: int) -> None:
        """Write the file's header; `snap_bytes` 0: frames are whole."""
        self._file = file
        self._last_ns = 0
        header = struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1)
        self._file.write(_block(_SECTION, header + _option(_APPLICATION, b"linerate") + _END))
        options = _option(_NAME, port.encode()) + _option(_RESOLUTION, _NANOSECONDS)
        if filter_text:
            # 0: the filter is text.
            options += _option(_FILTER, b"\0" + filter_text.encode())
        interface = struct.pack("<HHI", _ETHERNET, 0, snap_bytes)
        self._file.write(_block(_INTERFACE, interface + options + _END))

    def write(self, frame: CapturedFrame) -> None:
        """Add a frame."""
        self._last_ns = frame.time_ns
        head = struct.pack("<I", 0) + _time(frame.time_ns)
        lengths = struct.pack("<II", len(frame.data), frame.length_bytes)
        flags = struct.pack("<I", _OUTBOUND if frame.is_sent else _INBOUND)
        body = head + lengths + _padded(frame.data) + _option(_FLAGS, flags) + _END
        self._file.write(_block(_ENHANCED, body))

    def flush(self) -> None:
        """Let readers have what was written."""
        self._file.flush()

    def end(self, counters: CaptureCounters) -> None:
        """Add how many frames matched, and how many of them were missed."""
        options = _option(_RECEIVED, struct.pack("<Q", counters.matched))
        options += _option(_DROPPED, struct.pack("<Q", counters.missed))
        body = struct.pack("<I", 0) + _time(self._last_ns) + options + _END
        self._file.write(_block(_STATISTICS, body))
        self._file.flush()
