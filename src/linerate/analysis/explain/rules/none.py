"""No limit: all offered packets were received, and more could have been offered."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    all_came_back,
    configured_losses,
    lost_for_capacity,
    pushed_back,
    quotes,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.line import line
from linerate.analysis.explain.rules.tester import tester
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence


@rule("none", Stage.WHOLE, reference="the packet ledger: nothing was lost at an exhausted resource")
def none(evidence: Evidence) -> Finding | None:
    """No loss at an exhausted resource at less than the line's rate."""
    given = evidence.conditions
    if given is None or not given.sent_packets or lost_for_capacity(evidence) > 0:
        return None
    if pushed_back(evidence):
        return None
    configured = configured_losses(evidence)
    if not all_came_back(evidence) or line(evidence) or tester(evidence):
        return None
    sentence = (
        f"nothing ran short at {format_pps(given.offered_pps)} of the line's "
        f"{format_pps(given.line.packets_per_second)}"
    )
    if configured:
        places = ", ".join(f"{loss.packets:,} at {loss.place}" for loss in configured[:3])
        sentence += f"; the missing packets were dropped as configured: {places}"
    if evidence.noted:
        few = ", ".join(f"{loss.packets:,} at {loss.place}" for loss in evidence.noted[:3])
        sentence += f"; so few are no limit: {few}"
    return Finding(
        limit="none",
        confidence="high",
        sentence=sentence,
        evidence=(given.quote, *quotes(*configured, *evidence.noted)),
        try_=("offer more",) if not configured else ("look at routes, filters and interfaces",),
    )
