"""The rx ring overflows between two polls though the workers have time."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    busiest,
    forwarders,
    input_node,
    main_losses,
    quotes,
    share_lost,
    share_of_losses,
    total,
    without_card,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import FULL_SHARE, FULL_VECTOR, Evidence, Loss, Worker

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
    # Since when it counts is unknown: without load it had time as well.
    window = evidence.conditions is not None or worker.seconds is not None
    why = (
        f"each poll finds {worker.vectors_per_call:.0f} packets, the whole ring"
        if short
        else f"yet {worker.name} {_time_left(worker)}"
    )
    return Finding(
        limit="rx-ring",
        confidence="high" if short or (spare > sure and window) else "medium",
        sentence=f"the rx ring{slots} was full for {total(lost):,} packets; {why}",
        evidence=quotes(*lost, worker, input_node(worker)),
        try_=(
            "more rx descriptors",
            "look for what keeps the worker from polling: interrupts, a control task, its CPU",
        ),
        explains=share_of_losses(evidence, lost),
    )


def _time_left(worker: Worker) -> str:
    """Its idle time, or its calls where that is unknown."""
    if worker.idle_percent is None:
        return f"finds {worker.vectors_per_call:.1f} packets a call, of {worker.burst_packets}"
    since = "" if worker.seconds else " since its counters were cleared"
    return f"had nothing to do for {worker.idle_percent:.1f} % of its time{since}"


#: Commands that tell whether a worker or a CPU had time, by words of the outputs that were pasted:
#: of the system they come from.
_DECIDES = (
    ("testpmd", "testpmd --record-core-cycles, then `show fwd stats all`: its cycles a packet"),
    ("VPP", "`vppctl clear runtime`, a second of load, `vppctl show runtime`: vectors a call"),
    (
        "Open vSwitch",
        "`ovs-appctl dpif-netdev/pmd-stats-clear`, ten seconds of load, `ovs-appctl "
        "dpif-netdev/pmd-stats-show`: idle cycles of each PMD thread",
    ),
    ("grout", "`grcli stats show software`: busy and idle cycles of each CPU"),
    ("DPVS", "`dpip -s link show cpu1`, of each lcore: bursts that are full, of all bursts"),
    ("PF_RING", "`top -H` under load: whether the program that reads the ring has time"),
    ("dpdk", "DPDK's telemetry, `/eal/lcore/usage`: busy and total cycles of each lcore"),
    ("FreeBSD", "`top -HSP` under load: a CPU, or a thread if_io_tqg_N, without idle time"),
    ("RouterOS", "`/tool profile cpu=all`: load of each CPU"),
    ("", "`mpstat -P ALL 1` under load: a CPU at 100 % in %soft"),
)


@rule(
    "rx-ring",
    Stage.LAST,
    reference="DPDK, rte_eth_stats.imissed; Linux, rtnl_link_stats64.rx_missed_errors",
)
def ring_was_full(evidence: Evidence) -> Finding | None:
    """Lost at rx rings, and nothing says whether their reader had time: where, not why."""
    lost = main_losses(evidence, "rx-ring")
    if not lost or _is_known(evidence):
        return None
    share = share_lost(evidence, lost)
    what = f"{total(lost):,} packets"
    part = f", {100 * share:.2g} % of what came" if share is not None else ""
    causes = "the CPU that empties it, or the ring's size"
    more = "" if without_card(evidence) else ", or the card and its PCIe link"
    return Finding(
        limit="rx-ring",
        confidence="low",
        sentence=(
            f"the rx ring was full for {what}{part} ({_places(lost)}); why is open: {causes}{more}"
        ),
        evidence=quotes(*lost),
        try_=(f"this decides: {_deciding(evidence)}", "if it has time: more rx descriptors"),
        explains=share_of_losses(evidence, lost),
    )


def _is_known(evidence: Evidence) -> bool:
    return any(worker.packets and worker.saturated is not None for worker in forwarders(evidence))


def _places(lost: list[Loss]) -> str:
    named = [f"{loss.packets:,} at {loss.place}" for loss in lost[:3]]
    return ", ".join([*named, "…"] if len(lost) > len(named) else named)


def _deciding(evidence: Evidence) -> str:
    outputs = " ".join(evidence.outputs)
    return next(command for word, command in _DECIDES if word.lower() in outputs.lower())
