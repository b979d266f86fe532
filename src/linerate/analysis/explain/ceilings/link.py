"""Link capacity: L1, preamble and gap counted."""

from collections.abc import Iterator

from linerate.analysis.explain.ceilings import ceiling
from linerate.analysis.explain.model import Ceiling
from linerate.base.line_rate import WIRE_OVERHEAD_BYTES, format_bps
from linerate.model.evidence import Evidence


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
