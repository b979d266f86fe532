"""The card cannot hash MPLS: all labelled packets go to one queue."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import closed_box, forwarders, quotes, same, siblings_like
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import saturated_worker
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence

#: Many flows are so much faster than one: the hash spreads them.
SPREADS = 1.2

MORE = (
    "a card that hashes the inner header (ConnectX, E810 with a DDP package)",
    "hand-off between workers by software",
)
SOURCE = "Intel 82599 datasheet, 7.1.2.8: RSS hashes IP only; published loadtests U3, U4"


@rule("rss-mpls", Stage.RESOURCE, refines="rss-imbalance", reference=SOURCE)
def card_hashes_no_mpls(evidence: Evidence) -> Finding | None:
    """Many labelled flows on one worker, by a card that is known to hash no MPLS."""
    worker, given, card = saturated_worker(evidence), evidence.conditions, evidence.card
    if worker is None or given is None or given.protocol != "mpls" or given.flows == "one":
        return None
    idle = [one for one in forwarders(evidence) if not one.packets]
    if not idle or card is None or card.rss.mpls_inner or card.rx_queues == 1:
        return None
    return Finding(
        limit="rss-mpls",
        confidence="high",
        sentence=(
            f"the card cannot hash MPLS: all labelled packets go to {worker.name}, while "
            f"{', '.join(one.name for one in idle)} get none"
        ),
        evidence=quotes(worker, *worker.sources, *idle),
        try_=MORE,
    )


@rule("rss-mpls", Stage.SIGN, reference=SOURCE)
def mpls_as_slow_as_one_flow(evidence: Evidence) -> Finding | None:
    """By the tester alone: MPLS = one flow, many flows are faster."""
    given = closed_box(evidence)
    if given is None or given.protocol != "mpls":
        return None
    one = siblings_like(evidence, protocol="ipv4", flows="one")
    many = siblings_like(evidence, protocol="ipv4", flows="many")
    if not one or not many:
        return None
    slow, fast = one[0].conditions.received_pps, many[0].conditions.received_pps
    if not same(given.received_pps, slow, within=0.15) or fast < SPREADS * slow:
        return None
    return Finding(
        limit="rss-mpls",
        confidence="medium",
        sentence=(
            f"MPLS is as slow as one flow ({format_pps(given.received_pps)} and "
            f"{format_pps(slow)}), many flows go {format_pps(fast)}: labelled packets are not "
            "spread"
        ),
        evidence=(given.quote, one[0].conditions.quote, many[0].conditions.quote),
        try_=MORE,
        explains=0.6,
    )
