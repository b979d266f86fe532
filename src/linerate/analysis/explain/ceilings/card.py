"""Ceilings of the card: packet rate, rings, flow table."""

from collections.abc import Iterator

from linerate.analysis.explain.ceilings import ceiling
from linerate.analysis.explain.model import Ceiling
from linerate.analysis.explain.reading import forwarders
from linerate.model.evidence import Evidence


@ceiling
def card_pps(evidence: Evidence) -> Iterator[Ceiling]:
    """As set for the virtual card; both ports share it."""
    if evidence.card is not None and evidence.card.pps_ceiling:
        yield Ceiling(
            name="card packet rate",
            limit="card-pps",
            mpps=evidence.card.pps_ceiling / 1e6,
            derivation="the card's packet rate as configured, both ports together",
        )


@ceiling
def tx_ring(evidence: Evidence) -> Iterator[Ceiling]:
    """Slots × visits: each call of a port's tx node can fill the ring once."""
    if evidence.card is None:
        return
    slots = evidence.card.tx_ring
    visits = sum(
        node.calls / worker.seconds
        for worker in forwarders(evidence)
        for node in worker.nodes
        if node.name.startswith("port-tx-") and worker.seconds
    )
    if visits:
        yield Ceiling(
            name="tx ring",
            limit="tx-ring",
            mpps=slots * visits / 1e6,
            derivation=f"{slots} slots × {visits:,.0f} calls of port-tx a second",
        )


@ceiling
def rx_ring(evidence: Evidence) -> Iterator[Ceiling]:
    """Slots × polls: what comes between two polls must fit into the ring."""
    if evidence.card is None:
        return
    slots = evidence.card.rx_ring
    polls = sum(
        worker.loops_per_second
        for worker in forwarders(evidence)
        for node in worker.sources
        if node.name.startswith("port-rx-") and worker.loops_per_second
    )
    if polls:
        yield Ceiling(
            name="rx ring",
            limit="rx-ring",
            mpps=slots * polls / 1e6,
            derivation=f"{slots} slots × {polls:,.0f} polls a second, if they come evenly",
        )


@ceiling
def handoff_ring(evidence: Evidence) -> Iterator[Ceiling]:
    """Slots × visits of the worker that takes out."""
    loops = {worker.name: worker.loops_per_second for worker in forwarders(evidence)}
    passed = [
        ring.size * visits
        for ring in evidence.rings
        if ring.size and ring.enqueued and (visits := loops.get(ring.destination))
    ]
    if passed:
        yield Ceiling(
            name="hand-off rings",
            limit="handoff-ring",
            mpps=sum(passed) / 1e6,
            derivation=f"slots of {len(passed)} rings × visits of their readers a second",
        )


@ceiling
def flow_offload(evidence: Evidence) -> Iterator[Ceiling]:
    """Rules a second: new flows above that stay in software."""
    for table in evidence.offload:
        if table.rules_per_second:
            yield Ceiling(
                name="flow table programming",
                limit="flow-offload",
                mpps=table.rules_per_second / 1e6,
                derivation=f"{table.rules_per_second:,.0f} rules a second, one per new flow",
            )
