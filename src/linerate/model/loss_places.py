"""Places where packets are lost, as the engine's ledger names them (docs/telemetry.md)."""

import re

from linerate.model.ledger import PacketLedger

#: The card's own limits, on the way in.
PACKET_RATE = re.compile(r"card packet rate$")
PCIE = re.compile(r"PCIe$")
#: Rings that the device under test did not empty, or the card did not, in time.
RX_MISSED = re.compile(r"rx.missed")
TX_FULL = re.compile(r"no free tx slots|tx.full")
#: Rings between workers that the receiving worker did not empty in time.
HANDOFF_FULL = re.compile(r"handoff ring full")
#: The tester itself, or one of its ports.
TESTER = re.compile(r"(tester|t[0-3])\b")
#: So ends a place within one of several crossings of a box.
_PASS = re.compile(r" \(pass \d+\)$")


def lost_at(ledger: PacketLedger, place: re.Pattern[str]) -> int:
    """Packets lost at places that match."""
    return sum(packets for name, packets in ledger.losses.items() if place.search(name))


def lost_in_tester(ledger: PacketLedger) -> int:
    """Packets lost before they left the tester or after they were received by it."""
    return sum(packets for name, packets in ledger.losses.items() if TESTER.match(name))


def in_pass(place: str, number: int) -> str:
    """The place in one of several crossings of a box."""
    return f"{place} (pass {number})"


def of_all_passes(place: str) -> str:
    """The place without its pass."""
    return _PASS.sub("", place)
