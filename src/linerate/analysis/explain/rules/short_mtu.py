"""Packets were lost at a port whose MTU is less than they have bytes."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    MAIN_SHARE,
    lost_at_ports,
    missing,
    more_than_noise,
    quotes,
    total,
    unexplained,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.unexplained import percent
from linerate.model.evidence import Evidence

TRY = ("frames no longer than the MTU, or a higher MTU: `ip link set PORT mtu BYTES`",)


@rule(
    "configuration",
    Stage.MISSING,
    refines="unexplained",
    reference="RFC 791, 3.2: no packet is longer than the MTU of its link",
)
def short_mtu(evidence: Evidence) -> Finding | None:
    """At least half of what is missing was lost at such a port, or without a counter."""
    given, lost = evidence.conditions, lost_at_ports(evidence, evidence.short_mtus)
    packets = total(lost) + unexplained(evidence)
    if given is None or not evidence.short_mtus:
        return None
    if not more_than_noise(evidence, packets) or packets < MAIN_SHARE * missing(evidence):
        return None
    ports = "; ".join(quote.text for quote in evidence.short_mtus)
    return Finding(
        limit="configuration",
        confidence="high" if lost else "medium",
        sentence=(
            f"{percent(min(packets, given.sent_packets), given.sent_packets)} of the packets sent "
            f"were lost at a port that takes none so long: {ports}"
        ),
        evidence=(given.quote, *quotes(*lost), *evidence.short_mtus),
        try_=TRY,
        explains=min(1.0, packets / max(1, missing(evidence))),
    )
