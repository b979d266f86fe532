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


def lost_at(ledger: PacketLedger, place: re.Pattern[str]) -> int:
    """Packets lost at places that match."""
    return sum(packets for name, packets in ledger.losses.items() if place.search(name))


def lost_in_tester(ledger: PacketLedger) -> int:
    """Packets lost before they left the tester or after they were received by it."""
    return sum(packets for name, packets in ledger.losses.items() if TESTER.match(name))
