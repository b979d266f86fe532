"""IP addresses of a frame, changed with every checksum that counts them (RFC 1624)."""

from dataclasses import dataclass

from linerate.traffic.ethernet import IPV4, IPV6, network_of

TCP, UDP, ICMPV6 = 6, 17, 58
HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION = 0, 43, 44, 60
_EXTENSIONS = frozenset((HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION))
_NO_NEXT = 59
#: Behind IPv6, what counts no addresses: IPv4, IPv6, GRE, ESP, nothing, SCTP.
_NO_ADDRESSES = frozenset((4, 41, 47, 50, _NO_NEXT, 132))
#: Where a checksum stands in its header.
_CHECKSUM_AT = {TCP: 16, UDP: 6, ICMPV6: 2}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a frame's addresses and checksums are."""

    #: The last four bytes of each address.
    addresses: tuple[int, int]
    #: IPv4's own checksum.
    header_checksum: int | None
    #: Checksum of TCP, UDP or ICMPv6, which covers the addresses.
    checksum: int | None
    #: A UDP checksum of 0 over IPv4 is none, and a computed 0 is written as all ones.
    udp: bool


def shifted(frame: bytes, by: int, bits: int) -> bytes:
    """The frame with `by` added to the last `bits` of both addresses; others stay as they are.

    What is no IP packet, or is cut off before its headers end, stays as it is, and so does IPv6
    with a protocol whose checksum may count addresses in a way that is not known here.
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
    kind, at = network_of(frame)
    if kind == IPV4:
        return _ipv4(frame, at)
    return _ipv6(frame, at) if kind == IPV6 else None


def _ipv4(frame: bytes, at: int) -> _Place | None:
    if len(frame) < at + 20 or frame[at] >> 4 != 4:
        return None
    length = (frame[at] & 15) * 4
    first = not int.from_bytes(frame[at + 6 : at + 8], "big") & 0x1FFF
    inner = _inner(frame, at + length, frame[at + 9]) if first and length >= 20 else None
    return _Place((at + 12, at + 16), at + 10, inner, frame[at + 9] == UDP)


def _ipv6(frame: bytes, at: int) -> _Place | None:
    if len(frame) < at + 40 or frame[at] >> 4 != 6:
        return None
    end = behind_extensions(frame, at + 40, frame[at + 6])
    if end is None:
        return None
    protocol, behind = end
    inner = _inner(frame, behind, protocol)
    return _Place((at + 8 + 12, at + 24 + 12), None, inner, protocol == UDP)


def behind_extensions(frame: bytes, at: int, protocol: int) -> tuple[int, int] | None:
    """The protocol behind IPv6's extension headers, and where; None where that can't be known."""
    while protocol in _EXTENSIONS:
        header = frame[at : at + 8]
        if len(header) < 8:
            return None
        if protocol == ROUTING and header[3]:
            # Checksums count the last of its addresses, not the header's (RFC 8200, 8.1).
            return None
        if protocol == FRAGMENT:
            if int.from_bytes(header[2:4], "big") >> 3:
                return _NO_NEXT, at + 8
            length = 8
        else:
            length = (header[1] + 1) * 8
        protocol, at = header[0], at + length
    known = protocol in _NO_ADDRESSES or (
        protocol in _CHECKSUM_AT and len(frame) >= at + _CHECKSUM_AT[protocol] + 2
    )
    return (protocol, at) if known else None


def _inner(frame: bytes, at: int, protocol: int) -> int | None:
    """Where the checksum stands that counts addresses, if there is one."""
    if protocol not in _CHECKSUM_AT or len(frame) < at + _CHECKSUM_AT[protocol] + 2:
        return None
    place = at + _CHECKSUM_AT[protocol]
    # Over IPv6 too, that of tunnels (RFC 6935).
    none = protocol == UDP and frame[place : place + 2] == b"\0\0"
    return None if none else place
