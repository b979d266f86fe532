"""Most of what is missing was lost between two ports that both count: on the cable."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import MAIN_SHARE, missing, more_than_noise, quotes, total
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.unexplained import percent
from linerate.model.evidence import Evidence

TRY = (
    "look at both ends of that cable: `ethtool PORT` for the negotiated speed and duplex, `ethtool "
    "-S PORT` for CRC errors and pause frames, the cable and its modules",
    "check that the testbed file names the ports that the cable joins: `linerate testbed check`",
)


@rule(
    "link",
    Stage.MISSING,
    reference="the packet ledger: what one port sent, the port that it is cabled to received",
)
def link(evidence: Evidence) -> Finding | None:
    """At least half of what is missing left one port, and never arrived at the next."""
    given = evidence.conditions
    lost = [one for one in evidence.losses if one.cause == "link" and one.packets > 0]
    gone = missing(evidence)
    if given is None or not more_than_noise(evidence, min(gone, total(lost))):
        return None
    if total(lost) < MAIN_SHARE * gone:
        return None
    worst = max(lost, key=lambda one: one.packets)
    return Finding(
        limit="link",
        confidence="high",
        sentence=(
            f"{percent(total(lost), given.sent_packets)} of the packets sent were lost "
            f"{worst.place.partition(':')[0]}: sent by one port, not received by the other"
        ),
        evidence=(given.quote, *quotes(*lost)),
        try_=TRY,
        explains=min(1.0, total(lost) / gone),
    )
