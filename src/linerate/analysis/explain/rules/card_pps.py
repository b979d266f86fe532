"""The card takes or makes no more packets a second, whatever their size."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    busiest,
    forwarders,
    input_node,
    is_generator,
    main_losses,
    quotes,
    rate_pps,
    share_of_losses,
    total,
    without_card,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.words import clocks_text
from linerate.base.line_rate import format_pps
from linerate.model.evidence import FULL_SHARE, FULL_VECTOR, Evidence, Worker

#: Reached, but for the last packets of the trial.
USED_UP = 0.99
#: Calls so much emptier than full ones say that no packets wait in the rx ring.
WAITING_SHARE = 0.75
#: A worker that finds packets in this share of its polls has no time to spare.
BUSY_PERCENT = 90.0

MORE = (
    "more rx queues and ports on other cards: the workers have time",
    "newer firmware, CQE compression or another driver (mlx5, rdma), if the card has them",
)
OWN = "the virtual card's own counters (docs/telemetry.md)"


@rule("card-pps", Stage.RESOURCE, reference=OWN)
def card_refused(evidence: Evidence) -> Finding | None:
    """The card's packet engine dropped what came in above its rate."""
    lost = main_losses(evidence, "card-pps")
    if not lost:
        return None
    return Finding(
        limit="card-pps",
        confidence="high",
        sentence=f"the card refused {total(lost):,} packets above its packet rate",
        evidence=quotes(*lost),
        try_=MORE,
        explains=share_of_losses(evidence, lost),
    )


@rule("card-pps", Stage.RESOURCE, reference=OWN)
def card_sends_no_faster(evidence: Evidence) -> Finding | None:
    """The tx ring was full and the card sends all the packets that it can."""
    lost, given = main_losses(evidence, "tx-ring"), evidence.conditions
    ceiling = evidence.card.pps_ceiling if evidence.card else 0
    if not lost or given is None or not ceiling or given.received_pps < USED_UP * ceiling:
        return None
    return Finding(
        limit="card-pps",
        confidence="high",
        sentence=(
            f"the card sent {format_pps(given.received_pps)} of {format_pps(ceiling)}, so "
            f"{total(lost):,} packets found its tx ring full"
        ),
        evidence=quotes(*lost),
        try_=MORE,
        explains=share_of_losses(evidence, lost),
    )


@rule(
    "card-pps",
    Stage.SIGN,
    reference="VPP: a saturated worker's polls return full vectors of 256; these don't",
)
def workers_wait_for_the_card(evidence: Evidence) -> Finding | None:
    """No packets wait for a worker that finds some in each poll: the card hands out no more.

    One with empty polls tells nothing: so little may have been offered.
    """
    worker = busiest(evidence)
    if worker is None or not worker.idle_in_clocks or evidence.losses or without_card(evidence):
        return None
    asking, found = input_node(worker), worker.found_percent
    if asking is None or is_generator(asking) or found is None or found < BUSY_PERCENT:
        return None
    # Full vectors behind the input: packets do wait, and its empty polls are others'.
    if worker.graph_vectors_per_call >= FULL_SHARE * FULL_VECTOR:
        return None
    if asking.vectors_per_call >= WAITING_SHARE * FULL_VECTOR:
        return None
    return Finding(
        limit="card-pps",
        confidence="medium",
        sentence=(
            f"{worker.name} waits for the card, if more than that was offered: {asking.name} finds "
            f"{asking.vectors_per_call:.0f} packets a call of {FULL_VECTOR}, {_queues(evidence)}; "
            f"{clocks_text(worker)}, so the graph is not saturated"
        ),
        evidence=quotes(worker, asking),
        try_=("give what was offered: at less than the card's rate nothing limits", MORE[0]),
        explains=0.5,
    )


def _queues(evidence: Evidence) -> str:
    carrying: list[Worker] = [one for one in forwarders(evidence) if rate_pps(one)]
    queues = [port.rx_queues for port in evidence.ports if port.rx_queues]
    number = max(queues, default=len(carrying))
    return "one rx queue" if number == 1 else f"{number} rx queues"
