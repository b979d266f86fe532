"""A worker has all the packets that it can work on."""

from collections.abc import Iterable

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    POLLS_ALL,
    busiest,
    capacity_losses,
    fell_behind,
    forwarders,
    input_node,
    is_generator,
    main_losses,
    pushed_back,
    quotes,
    sends_itself,
    share_of_losses,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.rx_ring import ring_is_short
from linerate.analysis.explain.words import behind_text, capacity_text, node_shares, saturation_text
from linerate.model.evidence import FULL_SHARE, Evidence, Loss, Node, Quote, Worker

#: A CPU that the kernel forwards on.
KERNEL = "kernel-"
#: Factor by which such a CPU's capacity may exceed its rate.
AGREES_WITHIN = 1.2
#: So little is lost in bursts at rings behind a worker that takes all the packets it can.
HARDLY = 0.01
#: A node that takes so much of a packet's cycles is named first.
MOST = 0.5
VECTORS = "VPP documentation: vectors a call near 256 and no empty polls mean saturation"


def saturated_worker(evidence: Evidence) -> Worker | None:
    """The busiest worker, if it is saturated and packets were lost for that, or none at all."""
    worker = busiest(evidence)
    if worker is None or not worker.saturated or not _fills_its_cpu(worker):
        return None
    if not capacity_losses(evidence) or _lost_hardly_any(evidence, worker):
        # A kernel behind a link that pushes back takes what its CPU has time for.
        kernel = worker.name.startswith(KERNEL) and pushed_back(evidence)
        alone = kernel or fell_behind(evidence) or sends_itself(evidence)
        # Pasted text may lack the counter of a loss.
        pasted = evidence.conditions is None
        return worker if worker.idle_in_clocks or alone or pasted else None
    return worker if lost_for_workers(evidence) else None


def _lost_hardly_any(evidence: Evidence, worker: Worker) -> bool:
    """Whether it is known to have no time left, and full rings cost no more than bursts do.

    On a link that pushes back a slow device costs rate, not packets.
    """
    known = worker.used_percent is not None or by_its_clocks(worker)
    if not known or total(capacity_losses(evidence)) > HARDLY * worker.packets:
        return False
    return not main_losses(evidence, "rx-ring") and not main_losses(evidence, "handoff-ring")


def by_its_clocks(worker: Worker) -> bool:
    """Whether the clocks of its graph tell that it is saturated, not its source's vectors."""
    full = FULL_SHARE * worker.burst_packets
    return worker.vectors_per_call < full <= worker.graph_vectors_per_call and bool(
        worker.saturated
    )


def _fills_its_cpu(worker: Worker) -> bool:
    """Whether its cycles for packets explain the rate, where they are known.

    Of a CPU that the kernel forwards on, all that is not idle is not the device's.
    """
    if not worker.name.startswith(KERNEL):
        return True
    clocks, available = worker.clocks_per_packet, (worker.seconds or 0.0) * (worker.tsc_hz or 0.0)
    if not clocks or not available:
        return False
    return clocks * worker.packets * AGREES_WITHIN >= available


def clock_is_used_up(evidence: Evidence) -> bool:
    """Whether a worker is the limit that is known to use its whole clock on full vectors."""
    worker = saturated_worker(evidence)
    return worker is not None and (worker.used_percent is not None or by_its_clocks(worker))


def lost_for_workers(evidence: Evidence) -> list[Loss]:
    """Packets lost before busy workers: at rx rings, or at rings between them."""
    if ring_is_short(evidence):
        return []
    if kernel_saturated(evidence):
        # One interface's tx is the next one's rx on the same CPU: there it found no room.
        return main_losses(evidence, "tx-ring") or main_losses(evidence, "rx-ring")
    return main_losses(evidence, "rx-ring") or main_losses(evidence, "handoff-ring")


def kernel_saturated(evidence: Evidence) -> bool:
    """Whether the kernel forwards, on a CPU that has no time left."""
    worker = busiest(evidence)
    return (
        worker is not None
        and worker.name.startswith(KERNEL)
        and bool(worker.saturated)
        and _fills_its_cpu(worker)
    )


@rule("worker-cpu", Stage.RESOURCE, reference=VECTORS)
def worker_cpu(evidence: Evidence) -> Finding | None:
    """A worker has no idle polls, and packets wait or are lost before it."""
    worker = saturated_worker(evidence)
    if worker is None:
        return None
    lost = lost_for_workers(evidence)
    arithmetic = capacity_text(worker)
    clocks = f": {arithmetic}" if arithmetic else ""
    before = f"; {total(lost):,} packets lost before it" if lost else ""
    main = ", ".join(one.name for one in evidence.workers if one.role == "main")
    aside = f"; not the main thread {main}, which carries no packets" if main else ""
    sentence = (
        f"{worker.name} is saturated ({saturation_text(worker)}){clocks}{before}"
        f"{behind_text(evidence)}{aside}{_cycles_text(worker)}"
    )
    return Finding(
        limit="worker-cpu",
        # Without a backlog in the rings it is at the edge, not beyond it.
        confidence="high" if _fullest(worker) >= FULL_SHARE * worker.burst_packets else "medium",
        sentence=sentence,
        evidence=(*quotes(worker, input_node(worker), *lost), *_dearest(worker)),
        try_=tuple(_advice(evidence, worker)),
        explains=share_of_losses(evidence, lost) if lost else 1.0,
    )


def _fullest(worker: Worker) -> float:
    """Packets of its fullest calls; where empty polls are calls, those behind its sources."""
    if worker.used_percent is None and not by_its_clocks(worker):
        return worker.vectors_per_call
    return max(worker.vectors_per_call, worker.graph_vectors_per_call)


def _cycles_text(worker: Worker) -> str:
    """Where its cycles go; nothing of one that counts all of them together."""
    if all(node.name in POLLS_ALL for node in worker.nodes):
        return ""
    return f"{_dearest_text(worker)}; its cycles: {node_shares(worker)}"


def _dearest_text(worker: Worker) -> str:
    """`; most of them in acl-plugin-in-ip4-fa: 4,870 of 5,187`, where one node takes most."""
    spent = [node for node in _by_clocks(worker.nodes) if not is_generator(node)]
    whole = worker.clocks_per_packet
    if not spent or not whole:
        return ""
    each = (spent[0].clocks_per_packet or 0.0) * spent[0].vectors / worker.packets
    if each < MOST * whole:
        return ""
    return f"; most of its cycles in {spent[0].name}: {each:,.0f} of {whole:,.0f}"


def _dearest(worker: Worker) -> tuple[Quote, ...]:
    return quotes(*_by_clocks(worker.nodes)[:3])


def _by_clocks(nodes: Iterable[Node]) -> list[Node]:
    """Nodes that processed packets, by cycles."""
    spent = [(node, (node.clocks_per_packet or 0.0) * node.vectors) for node in nodes]
    return [node for node, clocks in sorted(spent, key=lambda pair: -pair[1]) if clocks]


def _advice(evidence: Evidence, worker: Worker) -> list[str]:
    idle = [one for one in forwarders(evidence) if not one.packets]
    one_flow = evidence.conditions is not None and evidence.conditions.flows == "one"
    if one_flow:
        return ["one flow can use one worker: a faster core, or fewer cycles a packet"]
    more = "spread the load over the workers that have none" if idle else "another worker and queue"
    dearest = _by_clocks(
        node for node in worker.nodes if not is_generator(node) and node.name not in POLLS_ALL
    )
    cheaper = [f"make {node.name} cheaper: it takes the most cycles" for node in dearest[:1]]
    return [more, *cheaper]


@rule("worker-cpu", Stage.SIGN, reference=VECTORS)
def saturated_beside(evidence: Evidence) -> Finding | None:
    """A worker with full vectors, though packets are lost elsewhere."""
    worker = busiest(evidence)
    if worker is None or not worker.saturated or not worker.idle_in_clocks:
        return None
    if not capacity_losses(evidence) or saturated_worker(evidence):
        return None
    return Finding(
        limit="worker-cpu",
        confidence="medium",
        sentence=f"{worker.name} is saturated as well: {saturation_text(worker)}",
        evidence=quotes(worker, input_node(worker)),
        explains=0.0,
    )
