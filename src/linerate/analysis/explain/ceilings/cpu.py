"""Ceilings of the workers and of the tester."""

from collections.abc import Iterator

from linerate.analysis.explain.ceilings import ceiling
from linerate.analysis.explain.model import Ceiling
from linerate.analysis.explain.reading import capacity_pps, forwarders, hertz, tester_fell_short
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence, Worker


@ceiling
def workers(evidence: Evidence) -> Iterator[Ceiling]:
    """Each worker: TSC Hz ÷ cycles/packet, over its share of the packets."""
    busy = [worker for worker in forwarders(evidence) if worker.packets]
    total = sum(worker.packets for worker in busy)
    for worker in busy:
        alone = capacity_pps(worker)
        if alone is None:
            continue
        share = worker.packets / total
        derivation = (
            f"{(hertz(worker) or 0) / 1e9:.2f} GHz ÷ {worker.clocks_per_packet:.1f} cycles "
            f"a packet ({_fullest(worker):.0f} packets a call)"
        )
        if len(busy) > 1:
            derivation += f" ÷ its share of {100 * share:.0f} %"
        yield Ceiling(
            name=f"worker {worker.name}",
            limit="worker-cpu",
            mpps=alone / share / 1e6,
            derivation=derivation,
        )


def _fullest(worker: Worker) -> float:
    """Packets of its fullest calls: its source's, or behind one with empty polls."""
    return max(worker.vectors_per_call, worker.graph_vectors_per_call)


@ceiling
def queue_spread(evidence: Evidence) -> Iterator[Ceiling]:
    """Rate of all workers if the fullest queue had no more than its share."""
    all_workers = forwarders(evidence)
    total = sum(worker.packets for worker in all_workers)
    capacities = [pps for worker in all_workers if (pps := capacity_pps(worker)) is not None]
    if len(all_workers) < 2 or not total or not capacities:
        return
    fullest = max(worker.packets for worker in all_workers) / total
    alone = min(capacities)
    yield Ceiling(
        name="queue spread",
        limit="rss-imbalance",
        mpps=alone / fullest / 1e6,
        derivation=(
            f"{format_pps(alone)} a worker ÷ {100 * fullest:.0f} % in the fullest; spread "
            f"evenly, {len(all_workers)} workers carry {format_pps(alone * len(all_workers))}"
        ),
    )


@ceiling
def tester(evidence: Evidence) -> Iterator[Ceiling]:
    """As measured over the bare link with the same traffic, or what it fell short with."""
    bare_link_pps, given = evidence.tester_ceiling_pps, evidence.conditions
    if not bare_link_pps:
        return
    derivation = "measured over the bare link, same traffic, no device between"
    if given is not None and tester_fell_short(given) and given.offered_pps < bare_link_pps:
        yield Ceiling(
            name="tester",
            limit="tester",
            mpps=given.offered_pps / 1e6,
            derivation="offered beside the device though asked for more; over the bare link "
            f"{format_pps(bare_link_pps)}",
        )
        return
    yield Ceiling(name="tester", limit="tester", mpps=bare_link_pps / 1e6, derivation=derivation)
