"""Rate that the tester reaches by itself."""

from collections.abc import Iterator

from linerate.analysis.explain.ceilings import ceiling
from linerate.analysis.explain.model import Ceiling
from linerate.model.evidence import Evidence


@ceiling
def tester(evidence: Evidence) -> Iterator[Ceiling]:
    """As measured over the bare wire with the same traffic."""
    if evidence.tester_ceiling_pps:
        yield Ceiling(
            name="tester",
            limit="tester",
            mpps=evidence.tester_ceiling_pps / 1e6,
            derivation="measured over the bare wire, same traffic, no device between",
        )
