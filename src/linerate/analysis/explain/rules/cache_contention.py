"""A packet costs each worker more when more workers run: they fight for shared cache lines."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import forwarders, quotes, siblings_like
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import saturated_worker
from linerate.model.evidence import Evidence

#: Cycles a packet rise by so much: more than where the hypervisor puts a CPU makes them.
RISEN = 1.2


@rule(
    "cache-contention",
    Stage.RESOURCE,
    refines="worker-cpu",
    reference="published loadtests: per-worker cycles rise with workers; docs/workers.md",
)
def cache_contention(evidence: Evidence) -> Finding | None:
    """Saturated workers that spend more on a packet than fewer of them did."""
    worker, given = saturated_worker(evidence), evidence.conditions
    if worker is None or given is None or given.workers is None:
        return None
    spent = worker.clocks_per_packet
    fewer = [
        (sibling.clocks_per_packet, sibling.conditions)
        for workers in range(1, given.workers)
        for sibling in siblings_like(evidence, workers=workers)
        if sibling.clocks_per_packet
    ]
    if not spent or not fewer or spent < RISEN * fewer[0][0]:
        return None
    before, conditions = fewer[0]
    return Finding(
        limit="cache-contention",
        confidence="medium",
        sentence=(
            f"a packet costs {spent:,.0f} cycles with {len(forwarders(evidence))} workers and "
            f"{before:,.0f} with {conditions.workers}: they share what they write"
        ),
        evidence=(*quotes(worker), conditions.quote),
        try_=(
            "perf c2c: which cache lines move between the workers",
            "per-worker counters and tables, each on their own cache lines",
        ),
    )
