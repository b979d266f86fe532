"""A template of connections from a capture of one: who sends each packet, and when."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linerate.traffic.capture.capture_file import Frame, read_capture
from linerate.traffic.ethernet import IPV4, IPV6, QINQ, VLAN, network_of, tags_of
from linerate.traffic.profile import TrafficError
from linerate.traffic.trex.stateful_frames import Frames

#: The engine's, of connections.
_TAGS, _TAGS_MAX = frozenset((VLAN, QINQ)), 2
_PORTS = (6, 17)
#: Hop-by-hop and destination options: what may stand before a port.
_PASSED = (0, 60)


@dataclass(frozen=True, slots=True)
class Timing:
    """Gaps between packets, in microseconds, as in TRex."""

    #: After a packet of the same side, and of the other.
    ipg: float
    rtt: float
    #: Take the capture's own times; where they are shorter than `least`, `instead`.
    captured: bool = False
    least: float | None = None
    instead: float = 0.0


#: One end of a connection: address, port (0 where the protocol has none).
End = tuple[bytes, int]


def packets_of(path: Path, timing: Timing, sent: Frames) -> list[dict[str, Any]]:
    """Packets in the engine's words; the first one's sender is the client. Raises TrafficError."""
    frames = read_capture(path)
    if not frames:
        raise TrafficError(f"{path}: no frames")
    client, server = _ends(path, 1, frames[0])
    packets: list[dict[str, Any]] = []
    before: tuple[str, int] | None = None
    for number, frame in enumerate(frames, 1):
        source, destination = _ends(path, number, frame)
        if (source, destination) not in ((client, server), (server, client)):
            raise TrafficError(
                f"{path}: frame {number} is of another connection than the first; "
                "expected one connection a file"
            )
        side = "client" if (source, destination) == (client, server) else "server"
        packets.append(
            {
                "from": side,
                "after_us": 0 if before is None else _gap(timing, before, side, frame),
                "frame": sent.made(path, number, side, frame.data).hex(),
            }
        )
        before = (side, frame.nanoseconds)
    return packets


def _gap(timing: Timing, before: tuple[str, int], side: str, frame: Frame) -> float:
    earlier, nanoseconds = before
    if not timing.captured:
        return timing.ipg if side == earlier else timing.rtt
    gap = max(0.0, (frame.nanoseconds - nanoseconds) / 1000)
    return timing.instead if timing.least is not None and gap < timing.least else gap


def _ends(path: Path, number: int, frame: Frame) -> tuple[End, End]:
    """Source and destination of a frame."""
    tags = tags_of(frame.data)
    if len(tags) > _TAGS_MAX or not _TAGS.issuperset(tags):
        text = ", ".join(f"0x{tag:04x}" for tag in tags)
        raise TrafficError(
            f"{path}: frame {number} has tags {text}; expected at most {_TAGS_MAX}, "
            "of 0x8100 or 0x88a8"
        )
    kind, at = network_of(frame.data)
    ip = frame.data[at:]
    if kind == IPV6 and len(ip) >= 40:
        return _ends6(path, number, ip)
    if kind != IPV4 or len(ip) < 20:
        raise TrafficError(
            f"{path}: frame {number} is neither IPv4 nor IPv6; templates of others are not had"
        )
    header = (ip[0] & 15) * 4
    ports = (0, 0)
    if int.from_bytes(ip[6:8]) & 0x3FFF:
        raise TrafficError(f"{path}: frame {number} is a fragment; expected whole packets")
    if ip[9] in _PORTS and len(ip) >= header + 4:
        ports = struct.unpack_from(">2H", ip, header)
    return (ip[12:16], ports[0]), (ip[16:20], ports[1])


def _ends6(path: Path, number: int, ip: bytes) -> tuple[End, End]:
    protocol, header = ip[6], 40
    while protocol in _PASSED and len(ip) >= header + 8:
        protocol, header = ip[header], header + (ip[header + 1] + 1) * 8
    if protocol not in _PORTS or len(ip) < header + 4:
        raise TrafficError(f"{path}: frame {number} is neither UDP nor TCP, alone had over IPv6")
    ports = struct.unpack_from(">2H", ip, header)
    return (ip[8:24], ports[0]), (ip[24:40], ports[1])
