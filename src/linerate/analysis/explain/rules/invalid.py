"""The trial has no result: whatever it shows is the tester's or the host's."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import Evidence


@rule("invalid", Stage.VALIDITY, reference="RFC 2544, 26.1: the offered load must be known")
def invalid(evidence: Evidence) -> Finding | None:
    """The lab's validity checks found something."""
    if not evidence.invalid:
        return None
    reasons = "; ".join(quote.text for quote in evidence.invalid)
    return Finding(
        limit="invalid",
        confidence="high",
        sentence=f"the trial has no result: {reasons}",
        evidence=evidence.invalid,
        try_=("repeat it with nothing else running on the machine",),
    )
