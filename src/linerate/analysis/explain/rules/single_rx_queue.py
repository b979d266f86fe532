"""One rx queue feeds one worker, however many there are."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    closed_box,
    forwarders,
    near_line,
    quotes,
    same,
    siblings_like,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import saturated_worker
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence

MORE = ("more rx queues, one a worker", "hand-off between workers, if the card has one queue only")
#: Both directions together are so much faster than one: each port has a queue of its own.
PER_PORT = 1.5


@rule(
    "single-rx-queue",
    Stage.RESOURCE,
    refines="worker-cpu",
    reference="one rx queue a port is polled by one worker (VPP: set interface rx-placement)",
)
def single_rx_queue(evidence: Evidence) -> Finding | None:
    """A saturated worker, others that have nothing, and ports with one queue."""
    worker = saturated_worker(evidence)
    idle = [one for one in forwarders(evidence) if not one.packets]
    handed = any(ring.enqueued for ring in evidence.rings)
    if worker is None or not idle or handed or not _one_queue(evidence):
        return None
    return Finding(
        limit="single-rx-queue",
        confidence="high",
        sentence=(
            f"ports have one rx queue: {worker.name} is saturated while "
            f"{', '.join(one.name for one in idle)} get no packets"
        ),
        evidence=quotes(worker, *worker.sources, *idle),
        try_=MORE,
    )


def _one_queue(evidence: Evidence) -> bool:
    if evidence.card is not None:
        return evidence.card.rx_queues == 1
    queues = [port.rx_queues for port in evidence.ports if port.rx_queues is not None]
    return bool(queues) and max(queues) == 1


@rule(
    "single-rx-queue",
    Stage.SIGN,
    reference="published loadtests of one-queue cards: many flows go no faster than one",
)
def many_flows_as_fast_as_one(evidence: Evidence) -> Finding | None:
    """By the tester alone: many flows = one flow, and two ports do more than one."""
    given = closed_box(evidence)
    if given is None or given.protocol != "ipv4" or near_line(given):
        return None
    other = "one" if given.flows == "many" else "many"
    alike = siblings_like(evidence, flows=other)
    both = siblings_like(evidence, directions=3 - given.directions)
    if not alike or not both:
        return None
    one, two = alike[0].conditions.received_pps, both[0].conditions.received_pps
    low, high = sorted((given.received_pps, two))
    if not same(given.received_pps, one) or high < PER_PORT * low:
        return None
    return Finding(
        limit="single-rx-queue",
        confidence="medium",
        sentence=(
            f"many flows are as fast as one ({format_pps(given.received_pps)} and "
            f"{format_pps(one)}), two ports faster than one ({format_pps(high)})"
        ),
        evidence=(given.quote, alike[0].conditions.quote, both[0].conditions.quote),
        try_=MORE,
        explains=0.5,
    )
