"""Whether a packet without room for a signature can be counted by its IP header."""

from collections.abc import Iterable

ETHERTYPE_AT, TAG_BYTES, LABEL_BYTES = 12, 4, 4
VLAN_TYPES = (0x8100, 0x88A8)
MPLS_TYPE = 0x8847
#: By the version: bytes of the header, and what its frames are counted by, all of them the same:
#: version, identification and fragment offset (or flow label), protocol.
HEADER_BYTES = {4: 20, 6: 40}
FIXED = {4: (range(1), range(4, 8), range(9, 10)), 6: (range(4), range(6, 7))}
IP_TYPES = {0x0800: (4,), 0x86DD: (6,), MPLS_TYPE: (4, 6)}


def why_not_counted(packet: bytes, written: Iterable[range]) -> str | None:
    """The reason against it, by the bytes that a program writes; None: there is none."""
    at, kind = _network(packet)
    version = packet[at] >> 4 if at < len(packet) else 0
    if version not in IP_TYPES.get(kind, ()) or at + HEADER_BYTES[version] > len(packet):
        return "it has no IP header to be counted by either"
    fixed = [range(at + one.start, at + one.stop) for one in FIXED[version]]
    if any(_overlap(one, other) for one in fixed for other in written):
        return "its program writes the part of the IP header that it could be counted by"
    return None


def _network(packet: bytes) -> tuple[int, int]:
    """Where the network header stands, behind tags and labels, and the last type before it."""
    at = ETHERTYPE_AT
    while (kind := _word(packet, at)) in VLAN_TYPES:
        at += TAG_BYTES
    at += 2
    if kind == MPLS_TYPE:
        while at + LABEL_BYTES <= len(packet) and not packet[at + 2] & 1:
            at += LABEL_BYTES
        at += LABEL_BYTES
    return at, kind


def _word(packet: bytes, at: int) -> int:
    return int.from_bytes(packet[at : at + 2], "big")


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop
