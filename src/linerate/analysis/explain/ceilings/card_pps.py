"""Packet rate of the card's own engine."""

from collections.abc import Iterator

from linerate.analysis.explain.ceilings import ceiling
from linerate.analysis.explain.model import Ceiling
from linerate.model.evidence import Evidence


@ceiling
def card_pps(evidence: Evidence) -> Iterator[Ceiling]:
    """As set for the virtual card; both ports share it."""
    if evidence.card is not None and evidence.card.pps_ceiling:
        yield Ceiling(
            name="card packet rate",
            limit="card-pps",
            mpps=evidence.card.pps_ceiling / 1e6,
            derivation="the card's packet rate as configured, both ports together",
        )
