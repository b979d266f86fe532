"""Evidence to verdict: which resource limits, and the evidence for it.

Each rule is small and named, reads counters, and says nothing when they don't.
The first that speaks wins; when none does, the limit is `unknown`.
"""

import re
from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from linerate.evidence import Evidence
from linerate.places import HANDOFF_FULL, PACKET_RATE, PCIE, RX_MISSED, TX_FULL, lost_at
from linerate.validity import BUSY_IDLE_PERCENT, busiest_worker, lost_by_absence

Limit = Literal[
    "line",
    "tester",
    "pcie",
    "card-pps",
    "worker-cpu",
    "rx-ring",
    "handoff-ring",
    "tx-ring",
    "none",
    "unknown",
    "invalid",
]

#: Pacing is that exact: from here on the line is full.
LINE_FULL_PERCENT = 99.9
#: A resource that does so much of what it can do is used up.
USED_UP = 0.99
#: A cause must account for this share of the lost packets to be the limit.
MAIN_SHARE = 0.5


class Verdict(BaseModel):
    """Which resource limits, and why we think so."""

    model_config = ConfigDict(frozen=True)

    limit: Limit
    evidence: tuple[str, ...] = ()


Rule = Callable[[Evidence], Verdict | None]
_RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """Register a rule; they are asked in the order in which they stand here."""
    _RULES.append(function)
    return function


def explain(evidence: Evidence, invalid: tuple[str, ...] = ()) -> Verdict:
    """Name the first limit. `invalid` are the reasons why the trial has no result."""
    if invalid:
        return Verdict(limit="invalid", evidence=invalid)
    for one in _RULES:
        verdict = one(evidence)
        if verdict is not None:
            return verdict
    places = [f"{packets:,} at {place}" for place, packets in evidence.packets.losses.items()]
    return Verdict(limit="unknown", evidence=tuple(places))


def mostly_lost_at(evidence: Evidence, place: re.Pattern[str]) -> int:
    """Packets lost at places that match, if they are most of all that were lost."""
    lost = lost_at(evidence.packets, place)
    total = sum(evidence.packets.losses.values())
    return lost if lost and lost >= MAIN_SHARE * total else 0


@rule
def line_is_full(evidence: Evidence) -> Verdict | None:
    """All that the links carry came back, but for what the machine cost (see `doubts`)."""
    could = evidence.rate(evidence.packets.received + lost_by_absence(evidence))
    if could.percent_of(evidence.load.link_bps, evidence.load.directions) < LINE_FULL_PERCENT:
        return None
    said = f"{evidence.percent_of_line:.2f} % of the line came back"
    return Verdict(limit="line", evidence=(said,))


@rule
def all_came_back(evidence: Evidence) -> Verdict | None:
    """Nothing was lost at less than the line's rate: who could offer no more."""
    if evidence.lost > lost_by_absence(evidence):
        return None
    offered = evidence.offered.packets_per_second / 1e6
    line = evidence.load.line.packets_per_second / 1e6
    said = f"no loss of the device's at {offered:.2f} of {line:.2f} Mpps"
    ceiling = evidence.ceiling_pps
    if ceiling is not None and ceiling * USED_UP < evidence.load.line.packets_per_second:
        return Verdict(
            limit="tester",
            evidence=(said, f"the tester's own ceiling is {ceiling / 1e6:.2f} Mpps"),
        )
    if evidence.load.scale_ppm < 1_000_000:
        return Verdict(limit="tester", evidence=(said, "the tester could not offer more"))
    return Verdict(limit="none", evidence=(said,))


@rule
def card_refused_packets(evidence: Evidence) -> Verdict | None:
    """The card's packet engine dropped what came in above its rate."""
    lost = mostly_lost_at(evidence, PACKET_RATE)
    if not lost:
        return None
    said = f"the card refused {lost:,} packets above its packet rate"
    return Verdict(limit="card-pps", evidence=(said,))


@rule
def pcie_refused_packets(evidence: Evidence) -> Verdict | None:
    """The PCIe link could not carry what came in."""
    lost = mostly_lost_at(evidence, PCIE)
    if not lost:
        return None
    said = f"{lost:,} packets did not fit through PCIe"
    return Verdict(limit="pcie", evidence=(said, _pcie_use(evidence)))


@rule
def worker_is_busy(evidence: Evidence) -> Verdict | None:
    """The rx ring overflowed and a worker that empties it never polled in vain."""
    lost = mostly_lost_at(evidence, RX_MISSED)
    busy = busiest_worker(evidence)
    if not lost or busy is None or busy.spare_percent >= BUSY_IDLE_PERCENT:
        return None
    return Verdict(
        limit="worker-cpu",
        evidence=(
            f"rx ring full for {lost:,}",
            f"{busy.worker} idle {busy.spare_percent:.1f} %",
        ),
    )


@rule
def rx_ring_overflowed(evidence: Evidence) -> Verdict | None:
    """The rx ring overflowed though its workers had time: it is short for the bursts."""
    lost = mostly_lost_at(evidence, RX_MISSED)
    busy = busiest_worker(evidence)
    if not lost or busy is None:
        return None
    return Verdict(
        limit="rx-ring",
        evidence=(
            f"rx ring full for {lost:,}",
            f"yet {busy.worker} idle {busy.spare_percent:.1f} %",
        ),
    )


@rule
def handoff_ring_overflowed(evidence: Evidence) -> Verdict | None:
    """One worker takes packets in faster than another works on those that it is handed."""
    lost = mostly_lost_at(evidence, HANDOFF_FULL)
    busy = busiest_worker(evidence)
    if not lost or busy is None:
        return None
    return Verdict(
        limit="handoff-ring",
        evidence=(
            f"handoff ring full for {lost:,}",
            f"{busy.worker} idle {busy.spare_percent:.1f} %",
        ),
    )


@rule
def card_sends_no_faster(evidence: Evidence) -> Verdict | None:
    """The tx ring was full and the card sends all the packets that it can."""
    lost = mostly_lost_at(evidence, TX_FULL)
    ceiling = evidence.card.pps_ceiling if evidence.card else 0
    sent = evidence.received.packets_per_second
    if not lost or not ceiling or sent < USED_UP * ceiling:
        return None
    return Verdict(
        limit="card-pps",
        evidence=(
            f"tx ring full for {lost:,}",
            f"the card sent {sent / 1e6:.2f} of {ceiling / 1e6:.2f} Mpps",
        ),
    )


@rule
def pcie_sends_no_faster(evidence: Evidence) -> Verdict | None:
    """The tx ring was full and so was the PCIe link."""
    lost = mostly_lost_at(evidence, TX_FULL)
    if not lost or pcie_use(evidence) < USED_UP:
        return None
    said = f"tx ring full for {lost:,}"
    return Verdict(limit="pcie", evidence=(said, _pcie_use(evidence)))


@rule
def tx_ring_overflowed(evidence: Evidence) -> Verdict | None:
    """The tx ring was full though card and PCIe could do more: it is short for the bursts."""
    lost = mostly_lost_at(evidence, TX_FULL)
    if not lost or evidence.card is None:
        return None
    said = f"tx ring ({evidence.card.tx_ring} slots) full for {lost:,}"
    return Verdict(limit="tx-ring", evidence=(said, "link, card and PCIe could do more"))


def pcie_use(evidence: Evidence) -> float:
    """Share of the PCIe link's rate that the sent packets took, from the card's formula."""
    if evidence.card is None or evidence.card.pcie is None:
        return 0.0
    usable = evidence.card.pcie.link.usable(evidence.load.frame_bytes)
    return evidence.received.packets_per_second / usable.packets_per_second


def _pcie_use(evidence: Evidence) -> str:
    return f"PCIe is {100 * pcie_use(evidence):.1f} % full"
