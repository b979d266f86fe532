"""IP addresses of a frame, changed with every checksum that counts them (RFC 1624)."""

from dataclasses import dataclass

VLAN_TYPES = (0x8100, 0x88A8)
IPV4, IPV6 = 0x0800, 0x86DD
TCP, UDP, ICMPV6 = 6, 17, 58
#: Where a checksum stands in its header.
_CHECKSUM_AT = {TCP: 16, UDP: 6, ICMPV6: 2}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a frame's addresses and checksums are."""

    #: The last four bytes of each address.
    addresses: tuple[int, int]
    #: Of IPv4's own checksum.
    header_checksum: int | None
    #: Of TCP's, UDP's or ICMPv6's, which count the addresses.
    checksum: int | None
    #: A UDP checksum of 0 over IPv4 is none, and a computed 0 is written as all ones.
    udp: bool


def shifted(frame: bytes, by: int, bits: int) -> bytes:
    """The frame with `by` added to the last `bits` of both addresses; others stay as they are.

    What is no IP packet, or is cut off before its headers end, stays as it is.
    """
    place = _place(frame)
    if place is None or not by:
        return frame
    made = bytearray(frame)
    low = (1 << bits) - 1
    for at in place.addresses:
        before = int.from_bytes(made[at : at + 4], "big")
        after = (before & ~low) | ((before + by) & low)
        made[at : at + 4] = after.to_bytes(4, "big")
        for checksum in (place.header_checksum, place.checksum):
            if checksum is not None:
                _update(made, checksum, before, after)
    if place.udp and place.checksum is not None:
        at = place.checksum
        if made[at : at + 2] == b"\0\0":
            made[at : at + 2] = b"\xff\xff"
    return bytes(made)


def _update(frame: bytearray, at: int, before: int, after: int) -> None:
    total = ~int.from_bytes(frame[at : at + 2], "big") & 0xFFFF
    for word in (~before >> 16, ~before, after >> 16, after):
        total += word & 0xFFFF
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    frame[at : at + 2] = (~total & 0xFFFF).to_bytes(2, "big")


def _place(frame: bytes) -> _Place | None:
    at = 12
    while int.from_bytes(frame[at : at + 2], "big") in VLAN_TYPES:
        at += 4
    kind, at = int.from_bytes(frame[at : at + 2], "big"), at + 2
    if kind == IPV4:
        return _ipv4(frame, at)
    return _ipv6(frame, at) if kind == IPV6 else None


def _ipv4(frame: bytes, at: int) -> _Place | None:
    if len(frame) < at + 20 or frame[at] >> 4 != 4:
        return None
    length = (frame[at] & 15) * 4
    first = not int.from_bytes(frame[at + 6 : at + 8], "big") & 0x1FFF
    inner = _inner(frame, at + length, frame[at + 9]) if first and length >= 20 else None
    if inner is not None and frame[at + 9] == UDP and frame[inner : inner + 2] == b"\0\0":
        inner = None
    return _Place((at + 12, at + 16), at + 10, inner, frame[at + 9] == UDP)


def _ipv6(frame: bytes, at: int) -> _Place | None:
    if len(frame) < at + 40 or frame[at] >> 4 != 6:
        return None
    inner = _inner(frame, at + 40, frame[at + 6])
    return _Place((at + 8 + 12, at + 24 + 12), None, inner, frame[at + 6] == UDP)


def _inner(frame: bytes, at: int, protocol: int) -> int | None:
    if protocol not in _CHECKSUM_AT or len(frame) < at + _CHECKSUM_AT[protocol] + 2:
        return None
    return at + _CHECKSUM_AT[protocol]
