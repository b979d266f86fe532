"""Ceilings of the link and of PCIe."""

from collections.abc import Iterator

from linerate.analysis.explain.ceilings import ceiling
from linerate.analysis.explain.model import Ceiling
from linerate.base import line_rate
from linerate.base.line_rate import WIRE_OVERHEAD_BYTES, format_bps
from linerate.model.evidence import Evidence, PcieLink


@ceiling
def link(evidence: Evidence) -> Iterator[Ceiling]:
    """Directions × link rate ÷ bits of a frame on the wire (IEEE 802.3)."""
    given = evidence.conditions
    if given is None or not given.link_bps:
        return
    yield Ceiling(
        name="link",
        limit="line",
        mpps=given.line.packets_per_second / 1e6,
        derivation=(
            f"{given.directions} × {format_bps(given.link_bps)} ÷ "
            f"(({given.frame_bytes:g} + {WIRE_OVERHEAD_BYTES}) × 8 bit)"
        ),
    )


#: Sizes where none is known: the smallest, and the largest of the published tables.
SIZES = (line_rate.FRAME_BYTES_MIN, 1514)


@ceiling
def virtual_card(evidence: Evidence) -> Iterator[Ceiling]:
    """The virtual card's own link, which both of its ports share."""
    given, card = evidence.conditions, evidence.card
    if given is None or card is None or card.pcie is None:
        return
    yield Ceiling(
        name="pcie",
        limit="pcie",
        mpps=card.pcie.link.usable(given.frame_bytes).packets_per_second / 1e6,
        derivation=card.pcie.link.derivation(given.frame_bytes),
    )


@ceiling
def real_card(evidence: Evidence) -> Iterator[Ceiling]:
    """A real card's link as the kernel or lspci reports it."""
    sizes = (evidence.conditions.frame_bytes,) if evidence.conditions else SIZES
    for found in evidence.pcie:
        link = wire_link(found)
        if link is None:
            continue
        for frame_bytes in sizes:
            yield Ceiling(
                name=f"pcie {found.device}, {frame_bytes:g} B",
                limit="pcie",
                mpps=link.usable(frame_bytes).packets_per_second / 1e6,
                derivation=link.derivation(frame_bytes),
            )


def wire_link(found: PcieLink) -> line_rate.PcieLink | None:
    """The same link, for arithmetic; None when speed or width is unknown.

    Without a known maximum payload 128 bytes are assumed, which every device must support (PCI
    Express Base Specification, 7.5.3.4) and most small boxes use.
    """
    if not found.gigatransfers or not found.lanes:
        return None
    return line_rate.PcieLink(found.gigatransfers, found.lanes, found.max_payload_bytes or 128)
