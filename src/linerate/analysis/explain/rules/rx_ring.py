"""The rx ring overflows between two polls though the workers have time."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    busiest,
    input_node,
    main_losses,
    quotes,
    share_of_losses,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import FULL_SHARE, FULL_VECTOR, Evidence

#: A poll that finds so much of a ring finds it full: a few slots are always being refilled.
RING_FULL_SHARE = 0.75
#: A worker with so much time to spare has it for sure: by its idle polls, or by the cycles that its
#: full calls leave, which its loop takes a part of.
SURE_PERCENT = 10.0
SURE_BY_USE_PERCENT = 30.0


def ring_is_short(evidence: Evidence) -> bool:
    """Whether rings are lost at that hold less than a worker could take in one call."""
    worker, card = busiest(evidence), evidence.card
    if worker is None or card is None or not main_losses(evidence, "rx-ring"):
        return False
    vectors = worker.vectors_per_call
    holds_less = card.rx_ring < FULL_SHARE * FULL_VECTOR
    return holds_less and vectors >= RING_FULL_SHARE * card.rx_ring


@rule(
    "rx-ring",
    Stage.RESOURCE,
    reference="rx missed (imissed) with empty polls: DPDK's rte_eth_stats, docs/telemetry.md",
)
def rx_ring(evidence: Evidence) -> Finding | None:
    """Lost at the rx ring, and the worker that empties it has time, or the ring is short."""
    lost, worker = main_losses(evidence, "rx-ring"), busiest(evidence)
    if not lost or worker is None or worker.saturated is None:
        return None
    short = ring_is_short(evidence)
    if worker.saturated and not short:
        return None
    slots = f" of {evidence.card.rx_ring} slots" if evidence.card else ""
    spare = worker.idle_percent or 0.0
    sure = SURE_PERCENT if worker.used_percent is None else SURE_BY_USE_PERCENT
    why = (
        f"each poll finds {worker.vectors_per_call:.0f} packets, the whole ring"
        if short
        else f"yet {worker.name} had nothing to do for {spare:.1f} % of its time"
    )
    return Finding(
        limit="rx-ring",
        confidence="high" if short or spare > sure else "medium",
        sentence=f"the rx ring{slots} was full for {total(lost):,} packets; {why}",
        evidence=quotes(*lost, worker, input_node(worker)),
        try_=(
            "more rx descriptors",
            "look for what keeps the worker from polling: interrupts, a control task, its CPU",
        ),
        explains=share_of_losses(evidence, lost),
    )
