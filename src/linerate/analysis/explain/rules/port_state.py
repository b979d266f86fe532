"""Packets were lost at a port that can't carry them: its link is down, or they are too long."""

import re

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    MAIN_SHARE,
    missing,
    more_than_noise,
    quotes,
    total,
    unexplained,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.unexplained import percent
from linerate.model.evidence import Evidence, Loss, PortState

TRY = {
    "link": "bring the link up: `ip link set PORT up`, the cable, the port at its other end",
    "configuration": "frames no longer than the MTU, or a higher MTU: `ip link set PORT mtu BYTES`",
}


@rule(
    "link",
    Stage.MISSING,
    refines="unexplained",
    reference="IEEE 802.3: no frame passes a link that is down",
)
def link_is_down(evidence: Evidence) -> Finding | None:
    """At least half of what is missing was lost at a port whose link is down."""
    return _found(evidence, "link")


@rule(
    "configuration",
    Stage.MISSING,
    refines="unexplained",
    reference="RFC 791, 3.2: no packet is longer than the MTU",
)
def longer_than_the_mtu(evidence: Evidence) -> Finding | None:
    """At least half of what is missing was lost at a port whose MTU is less than its length."""
    return _found(evidence, "configuration")


def _found(evidence: Evidence, limit: str) -> Finding | None:
    states = [one for one in evidence.port_states if one.limit == limit]
    found = [(state, _lost_at(evidence, state)) for state in states]
    # What no counter has can only have been lost there, where something was lost at all.
    nowhere = unexplained(evidence)
    gone = missing(evidence)
    best = max(found, key=lambda one: total(one[1]), default=None)
    if best is None:
        return None
    state, lost = best
    packets = total(lost) + nowhere
    if not more_than_noise(evidence, min(gone, packets)) or packets < MAIN_SHARE * gone:
        return None
    given = evidence.conditions
    share = f"{percent(min(packets, given.sent_packets), given.sent_packets)}" if given else ""
    return Finding(
        limit=state.limit,
        confidence="high" if lost else "medium",
        sentence=f"{share} of the packets sent were lost at {state.port}, {state.text}",
        evidence=(state.quote, *quotes(*lost)),
        try_=(TRY[state.limit],),
        explains=min(1.0, packets / gone),
    )


def _lost_at(evidence: Evidence, state: PortState) -> list[Loss]:
    """Losses whose place names the port."""
    named = re.compile(rf"\b{re.escape(state.port)}\b")
    return [one for one in evidence.losses if named.search(one.place) and one.packets > 0]
