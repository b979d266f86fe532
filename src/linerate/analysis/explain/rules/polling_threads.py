"""Polling threads with known time and unknown packets: lcores, Open vSwitch's PMD threads."""

from linerate.analysis.explain.model import Confidence, Finding
from linerate.analysis.explain.reading import (
    main_losses,
    offered_packets,
    quotes,
    share_of_losses,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.none import counts_losses
from linerate.model.evidence import CpuTime, Evidence

#: So the parsers name them: of the last minute, and of the time since the program was started.
PMD, LCORE = "pmd-c", "lcore-"
#: Shares are printed without a fraction.
FULL_PERCENT = 95.0
#: Below that a thread has time for sure, and above it may have none for a while.
TIME_PERCENT = 90.0
SPARE_PERCENT = 50.0
REFERENCE = (
    "Open vSwitch: pmd usage over the last 60 seconds; DPDK: busy and total cycles of "
    "rte_lcore_register_usage_cb()"
)
#: Advice by the name of a thread.
TRY = {
    PMD: (
        "another PMD thread and queue (`other_config:pmd-cpu-mask`, `options:n_rxq`), or another "
        "placement: `ovs-appctl dpif-netdev/pmd-rxq-rebalance`",
        "`ovs-appctl dpif-netdev/pmd-perf-show`: cycles of a packet, and of those without a flow",
    ),
    LCORE: (
        "another lcore and rx queue",
        "look at where its cycles go: `perf top -C CPU`",
    ),
}


@rule("worker-cpu", Stage.RESOURCE, reference=REFERENCE)
def thread_is_full(evidence: Evidence) -> Finding | None:
    """A thread without time, and nothing that was lost elsewhere."""
    threads = _threads(evidence)
    if not threads or threads[0].busy_percent < FULL_PERCENT:
        return None
    lost = main_losses(evidence, "rx-ring")
    if evidence.losses and not lost:
        return None
    first, others = threads[0], [one for one in threads if one.busy_percent <= SPARE_PERCENT]
    spare = f", while {len(others)} of the others are half idle or more" if others else ""
    return Finding(
        limit="worker-cpu",
        confidence="high" if lost and _of_a_minute(first) else "medium",
        sentence=f"{first.name} works on packets for {first.busy_percent:.3g} % of its time{spare}",
        evidence=(first.quote, *quotes(*lost)),
        try_=TRY[PMD if _of_a_minute(first) else LCORE],
        explains=share_of_losses(evidence, lost) if lost else 1.0,
    )


@rule("rx-ring", Stage.RESOURCE, reference=REFERENCE)
def threads_had_time(evidence: Evidence) -> Finding | None:
    """Packets lost at rx rings, though all threads have idle time."""
    threads, lost = _threads(evidence), main_losses(evidence, "rx-ring")
    if not threads or not lost or threads[0].busy_percent > TIME_PERCENT:
        return None
    busiest = threads[0]
    minute = _of_a_minute(busiest)
    confidence: Confidence = "medium" if minute else "low"
    since = "of the last minute" if minute else "of the time since it counts"
    return Finding(
        limit="rx-ring",
        confidence=confidence,
        sentence=(
            f"the rx ring was full for {total(lost):,} packets; yet {busiest.name}, the busiest of "
            f"{len(threads)} threads, worked on packets for {busiest.busy_percent:.3g} % {since}"
        ),
        evidence=(*quotes(*lost), busiest.quote),
        try_=(
            "give two readings under load: idle time before it is in these",
            "more rx descriptors",
            "look for what keeps the thread from polling: a control task, its CPU",
        ),
        explains=share_of_losses(evidence, lost),
    )


@rule("none", Stage.LAST, reference=REFERENCE)
def threads_have_time(evidence: Evidence) -> Finding | None:
    """All threads are half idle or more, and the ports' counters of losses are zero."""
    threads = _threads(evidence)
    if not threads or evidence.losses or threads[0].busy_percent > SPARE_PERCENT:
        return None
    # Without them another thread, cut off, may have no time.
    if not counts_losses(evidence.ports) or not offered_packets(evidence):
        return None
    busiest = threads[0]
    return Finding(
        limit="none",
        confidence="low",
        sentence=(
            f"at this load nothing limits: {busiest.name}, the busiest of {len(threads)} threads, "
            f"works on packets for {busiest.busy_percent:.3g} % of its time"
        ),
        evidence=(busiest.quote,),
        try_=("offer more",),
    )


def _threads(evidence: Evidence) -> list[CpuTime]:
    """Threads in pasted text; a trial of the lab's has its workers' own cycles."""
    if evidence.conditions is not None:
        return []
    found = [one for one in evidence.cpu_times if one.name.startswith((PMD, LCORE))]
    return sorted(found, key=lambda one: -one.busy_percent)


def _of_a_minute(thread: CpuTime) -> bool:
    return thread.name.startswith(PMD)
