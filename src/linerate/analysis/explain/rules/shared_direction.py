"""Both directions share one resource: together they are no faster than one alone."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import closed_box, near_line, same, siblings_like
from linerate.analysis.explain.rules import Stage, rule
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence


@rule(
    "shared-direction",
    Stage.SIGN,
    reference="published loadtests of the ConnectX-3: 2.3 Mpps in U2 and in B2 alike",
)
def shared_direction(evidence: Evidence) -> Finding | None:
    """By the tester alone: U and B of the same traffic come to the same rate below the line."""
    given = closed_box(evidence)
    if given is None or near_line(given) or given.received_packets >= given.sent_packets:
        return None
    for sibling in siblings_like(evidence, directions=3 - given.directions):
        other = sibling.conditions
        if same(given.received_pps, other.received_pps, within=0.05):
            rates = sorted((given, other), key=lambda one: one.directions)
            one, both = (format_pps(rate.received_pps) for rate in rates)
            return Finding(
                limit="shared-direction",
                confidence="medium",
                sentence=(
                    f"one direction comes to {one}, both together to {both}: "
                    "they share one resource, a card's packet engine, a bus or a core"
                ),
                evidence=(given.quote, other.quote),
                try_=("two cards, one a direction", "`show runtime` of the device: is it a core?"),
                explains=0.7,
            )
    return None
