"""Names for packets that a box lost without a counter, from samples of what it dropped.

Only what is unexplained gets a place so: no packet that a counter has is counted again.
"""

from collections.abc import Mapping

from linerate.model.box import BoxAnswers
from linerate.model.ledger import Entry, PacketLedger
from linerate.parsers.boxes import Profiled, kinds

#: Less than that of what is missing is other traffic's.
SHARE_MIN = 0.01
#: An estimate that reaches so much of what is missing explains it: samples are no counters.
REACHES = 0.8


def named(ledger: PacketLedger, box: BoxAnswers, seconds: float) -> PacketLedger:
    """The ledger with a place for each sampled reason, up to what was unexplained."""
    missing, kind = ledger.unexplained, kinds().get(box.kind)
    if missing <= 0 or not isinstance(kind, Profiled):
        return ledger
    found = kind.dropped(box, ledger.losses, seconds)
    entries = (
        Entry(place=place, kind="loss", packets=packets)
        for place, packets in _shares(found, missing).items()
        if packets
    )
    return PacketLedger(entries=(*ledger.entries, *entries))


def _shares(found: Mapping[str, int], missing: int) -> dict[str, int]:
    """Packets for each place: all that is missing, or as many as were estimated where less."""
    known = {place: packets for place, packets in found.items() if packets >= SHARE_MIN * missing}
    estimated = sum(known.values())
    if not estimated:
        return {}
    whole = missing if estimated >= REACHES * missing else estimated
    shares = {place: whole * packets // estimated for place, packets in known.items()}
    # The rest of rounding is at the first of them, that with most samples.
    first = next(iter(shares))
    shares[first] += whole - sum(shares.values())
    return shares
