"""A worker was ready to run, and its CPU ran something else."""

from collections.abc import Callable

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    AT_RINGS,
    capacity_losses,
    forwarders,
    pushed_back,
    quotes,
    share_lost,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import saturated_worker
from linerate.model.box_path import SOCKET_RX
from linerate.model.evidence import CpuTime, Evidence, Worker

#: Time away from its CPU from which a worker's losses are put down to it.
AWAY_PERCENT = 10.0
#: A thread that waits for so much of the time loses no more than that many times as much.
AT_MOST = 2.0
TRY = (
    "keep other programs off that CPU: isolcpus or cpusets, and interrupts elsewhere",
    "on a virtual machine: dedicated CPUs, `steal` in `mpstat -P ALL 1` shows what it costs",
)


@rule(
    "descheduled",
    Stage.RESOURCE,
    reference="Linux: sched-stats(5), time runnable without a CPU; proc(5), steal",
    refines="rx-ring",
)
def descheduled(evidence: Evidence) -> Finding | None:
    """Packets were lost while the hypervisor, or another program, had the CPU.

    In trials of the lab's the slices in which that happened are left out, or make it invalid: its
    own workers' slices. A box on a link that pushes back takes less, and loses nothing.
    """
    for find, share in _OF_A_BOX:
        if (worker := find(evidence)) is not None:
            return _finding(evidence, worker.name, share(worker) or 0.0, worker)
    lost = [loss for loss in capacity_losses(evidence) if loss.cause in AT_RINGS]
    if not lost or evidence.conditions is not None:
        return None
    away = _away(evidence)
    stolen = max(evidence.cpu_times, key=lambda one: one.steal_percent or 0.0, default=None)
    if away is not None:
        return _finding(evidence, away.name, away.away_percent or 0.0, away)
    if stolen is not None and (stolen.steal_percent or 0.0) >= AWAY_PERCENT:
        name = "all CPUs" if stolen.cpu is None else f"CPU {stolen.cpu}"
        return _finding(evidence, name, stolen.steal_percent or 0.0, stolen)
    return None


def _waiting(evidence: Evidence) -> Worker | None:
    """A box's worker that waited longer than it had time to spare, where the link took no more.

    What a node takes by the TSC holds the time that its thread was away.
    """
    worker = _away(evidence)
    if worker is None or not worker.idle_in_clocks or not pushed_back(evidence):
        return None
    spare = 100.0 - (worker.used_percent or 0.0)
    return worker if (worker.away_percent or 0.0) > spare else None


def _stolen_from(evidence: Evidence) -> Worker | None:
    """A box's CPU that its hypervisor had for long, where packets had no room.

    The kernel's packets go before its threads: what these had is no reason.
    """
    rings = [loss for loss in capacity_losses(evidence) if loss.cause in AT_RINGS]
    if not pushed_back(evidence) and not rings:
        return None
    worker = max(forwarders(evidence), key=_stolen, default=None)
    return worker if worker is not None and _stolen(worker) >= AWAY_PERCENT else None


def _mostly_stolen(evidence: Evidence) -> Worker | None:
    """The same, where that is longer than it was idle, and packets did not have all the rest."""
    worker = _stolen_from(evidence) if saturated_worker(evidence) is None else None
    idle = 0.0 if worker is None else worker.spare_percent or 0.0
    return worker if worker is not None and _stolen(worker) > idle else None


def _stolen(worker: Worker) -> float:
    return worker.stolen_percent or 0.0


@rule("descheduled", Stage.LAST, reference="Linux: proc(5), steal, and time without a tick")
def host_has_no_time(evidence: Evidence) -> Finding | None:
    """A guest with time to spare, whose host had its CPU: what delivers its packets waits, too."""
    worker = _stolen_from(evidence)
    if worker is None or evidence.conditions is None:
        return None
    return Finding(
        limit="descheduled",
        confidence="low",
        sentence=(
            f"{worker.name} was taken away by its hypervisor for {_stolen(worker):.0f} % of the "
            f"time, and idle for {worker.spare_percent or 0.0:.0f} %: a virtual NIC is work of the "
            "same host"
        ),
        evidence=(worker.quote,),
        try_=TRY[1:],
    )


def _waited(evidence: Evidence) -> Worker | None:
    """A thread of a box's that polls and had no CPU, where rings were full or the link took less.

    Its scheduler says so. Where it had time to spare all the same, a link that pushes back was not
    slower for it.
    """
    worker = max(forwarders(evidence), key=lambda one: one.waited_percent or 0.0, default=None)
    if worker is None or (worker.waited_percent or 0.0) < AWAY_PERCENT:
        return None
    waited = worker.waited_percent or 0.0
    lost = [loss for loss in capacity_losses(evidence) if loss.cause in AT_RINGS]
    share = share_lost(evidence, lost)
    if lost:
        # Packets that are lost while it waits, and those that the ring is then behind with.
        return worker if share is not None and 100.0 * share <= AT_MOST * waited else None
    behind = _pushed_back(evidence) and waited > (worker.idle_percent or 0.0)
    return worker if behind else None


def _pushed_back(evidence: Evidence) -> bool:
    """Whether the device took less: the kernel takes all from a wire, and drops at a socket."""
    sockets = any(SOCKET_RX in port.counters for port in evidence.ports)
    return pushed_back(evidence) and not sockets


#: Ways to find a box's worker without its CPU, and its share of the time.
_OF_A_BOX: tuple[
    tuple[Callable[[Evidence], Worker | None], Callable[[Worker], float | None]], ...
] = (
    (_waiting, lambda worker: worker.away_percent),
    (_mostly_stolen, lambda worker: worker.stolen_percent),
    (_waited, lambda worker: worker.waited_percent),
)


def _away(evidence: Evidence) -> Worker | None:
    """The worker that was away for longest, if for long."""
    worker = max(forwarders(evidence), key=lambda one: one.away_percent or 0.0, default=None)
    enough = worker is not None and (worker.away_percent or 0.0) >= AWAY_PERCENT
    return worker if enough else None


def _finding(evidence: Evidence, name: str, percent: float, source: Worker | CpuTime) -> Finding:
    lost = capacity_losses(evidence)
    rings = f"; {total(lost):,} packets were lost at rings" if lost else ""
    return Finding(
        limit="descheduled",
        confidence="medium",
        sentence=(f"{name} was ready to run and did not for {percent:.0f} % of the time{rings}"),
        evidence=(source.quote, *quotes(*lost)),
        try_=TRY,
    )
