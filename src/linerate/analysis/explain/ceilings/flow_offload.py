"""Rate at which flows can be programmed into the card's flow table."""

from collections.abc import Iterator

from linerate.analysis.explain.ceilings import ceiling
from linerate.analysis.explain.model import Ceiling
from linerate.model.evidence import Evidence


@ceiling
def flow_offload(evidence: Evidence) -> Iterator[Ceiling]:
    """Rules a second: new flows above that stay in software."""
    for table in evidence.offload:
        if table.rules_per_second:
            yield Ceiling(
                name="flow table programming",
                limit="flow-offload",
                mpps=table.rules_per_second / 1e6,
                derivation=f"{table.rules_per_second:,.0f} rules a second, so many new flows",
            )
