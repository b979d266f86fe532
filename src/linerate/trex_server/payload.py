"""Where a frame's payload begins that no header gives a meaning to, and its transport checksum."""

from dataclasses import dataclass
from typing import Literal

from linerate.traffic.ethernet import IPV4, IPV6, network_of
from linerate.traffic.trex.profile_process import Checksum

UDP, TCP = 17, 6
#: Headers' lengths, the shortest.
IPV4_BYTES, IPV6_BYTES, UDP_BYTES, TCP_BYTES = 20, 40, 8, 20
#: Protocols whose data no host reads: none, any host's, reserved, experiments.
OPAQUE = frozenset((0, 59, 61, 63, 253, 254, 255))


@dataclass(frozen=True, slots=True)
class Payload:
    """Its offset, None where there is none; transport checksums that count it."""

    offset: int | None = None
    checksums: tuple[Checksum, ...] = ()


def payload_of(frame: bytes) -> Payload:
    """By the frame's headers."""
    kind, l3 = network_of(frame)
    if kind == IPV4 and len(frame) >= l3 + IPV4_BYTES:
        fragment = int.from_bytes(frame[l3 + 6 : l3 + 8], "big") & 0x3FFF
        l4 = l3 + (frame[l3] & 15) * 4
        if fragment or l4 < l3 + IPV4_BYTES:
            return Payload()
        return _transport(frame, frame[l3 + 9], l3, l4)
    if kind == IPV6 and len(frame) >= l3 + IPV6_BYTES:
        protocol = frame[l3 + 6]
        # In IPv6, 0 is a header of options.
        return Payload() if protocol == 0 else _transport(frame, protocol, l3, l3 + IPV6_BYTES)
    return Payload()


def _transport(frame: bytes, protocol: int, l3: int, l4: int) -> Payload:
    if protocol == UDP and len(frame) >= l4 + UDP_BYTES:
        return Payload(l4 + UDP_BYTES, _checksums(frame, "udp", l3, l4, l4 + 6))
    if protocol == TCP and len(frame) >= l4 + TCP_BYTES:
        header = (frame[l4 + 12] >> 4) * 4
        if header < TCP_BYTES:
            return Payload()
        return Payload(l4 + header, _checksums(frame, "tcp", l3, l4, l4 + 16))
    return Payload(l4) if protocol in OPAQUE else Payload()


def _checksums(
    frame: bytes, name: Literal["udp", "tcp"], l3: int, l4: int, at: int
) -> tuple[Checksum, ...]:
    """The checksum, unless it is left out."""
    if frame[at : at + 2] in (b"", b"\0\0"):
        return ()
    return (Checksum(l3_offset=l3, l3_bytes=l4 - l3, protocol=name),)
