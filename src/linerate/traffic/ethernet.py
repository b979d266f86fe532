"""A frame's tags, and where its network header begins behind them."""

ARP, IPV4, IPV6 = 0x0806, 0x0800, 0x86DD
#: IEEE 802.1Q's and 802.1ad's, and the one that was used before the latter was agreed upon.
VLAN, QINQ, OLD_QINQ = 0x8100, 0x88A8, 0x9100
TAG_TYPES = frozenset((VLAN, QINQ, OLD_QINQ))
MACS_BYTES, TYPE_BYTES, TAG_BYTES = 12, 2, 4


def tags_of(frame: bytes) -> tuple[int, ...]:
    """The types of its VLAN tags, outermost first."""
    found: list[int] = []
    while (kind := _type_at(frame, MACS_BYTES + TAG_BYTES * len(found))) in TAG_TYPES:
        found.append(kind)
    return tuple(found)


def network_of(frame: bytes) -> tuple[int, int]:
    """The EtherType behind its tags, 0 where it is cut off, and the offset of what follows."""
    at = MACS_BYTES + TAG_BYTES * len(tags_of(frame))
    return _type_at(frame, at), at + TYPE_BYTES


def _type_at(frame: bytes, at: int) -> int:
    word = frame[at : at + TYPE_BYTES]
    return int.from_bytes(word, "big") if len(word) == TYPE_BYTES else 0
