"""Rings between workers overflow: one takes packets in faster than another takes them over."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    forwarders,
    main_losses,
    quotes,
    share_of_losses,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import FULL_SHARE, FULL_VECTOR, Evidence, Ring, Worker

#: Priorities as RIOT prints them.
PRIORITIES = {"Nor": "normal-priority", "Med": "medium-priority", "Hi": "high-priority"}
#: Threads that take packets out of another CPU's queue: one that never slept has no time.
THREAD = "cpumap"


@rule("handoff-ring", Stage.RESOURCE, reference="Juniper vMX: show riot ring-stats")
def handoff_ring(evidence: Evidence) -> Finding | None:
    """Lost between workers, and the one that takes out has time, or the ring is short."""
    lost = main_losses(evidence, "handoff-ring")
    if not lost:
        return None
    dropping = sorted(
        (ring for ring in evidence.rings if ring.dropped), key=lambda ring: -ring.dropped
    )
    if dropping and _readers_saturated(evidence, dropping):
        return None
    shares = ", ".join(
        f"{ring.source} → {ring.destination}{' ' * bool(ring.priority)}{ring.priority} "
        f"{ring.loss_percent:.1f} %"
        for ring in dropping
    )
    known = any(worker.sources for worker in forwarders(evidence))
    return Finding(
        limit="handoff-ring",
        confidence="high" if known else "medium",
        sentence=(
            f"{_rings_text(evidence, dropping)} were full for {total(lost):,} packets"
            + (f"; lost of what was to go in: {shares}" if shares else "")
        ),
        evidence=(*(ring.quote for ring in dropping), *quotes(*lost)),
        try_=(
            "longer rings, if the workers that take out have time",
            "more workers behind the rings, or fewer I/O cores, if they have none",
        ),
        explains=share_of_losses(evidence, lost),
    )


def _rings_text(evidence: Evidence, dropping: list[Ring]) -> str:
    """`the Nor rings from io0, io1 to wk0, wk1 (none of Hi, Med)`."""
    if not dropping:
        return "rings between workers"
    sources = ", ".join(sorted({ring.source for ring in dropping}))
    destinations = ", ".join(sorted({ring.destination for ring in dropping}))
    priorities = {ring.priority for ring in dropping if ring.priority}
    spared = {ring.priority for ring in evidence.rings if ring.priority} - priorities
    which = f"{', '.join(PRIORITIES.get(name, name) for name in sorted(priorities))} "
    others = f" (none of priority {', '.join(sorted(spared))})" if spared else ""
    return f"the {which.lstrip()}rings from {sources} to {destinations}{others}"


def _readers_saturated(evidence: Evidence, dropping: list[Ring]) -> bool:
    """Whether those who take out have no time, and their rings hold enough for a full call."""
    busy = {f"CPU {one.cpu}" for one in evidence.cpu_times if one.name.startswith(THREAD)}
    if all(ring.destination in busy for ring in dropping):
        return True
    by_name = {worker.name: worker for worker in forwarders(evidence)}
    readers = [by_name[ring.destination] for ring in dropping if ring.destination in by_name]
    long = all((ring.size or 0) > FULL_VECTOR for ring in dropping)
    return bool(readers) and long and all(_is_full(reader) for reader in readers)


def _is_full(reader: Worker) -> bool:
    handed = [node for node in reader.sources if node.name.startswith("handoff-rx")]
    full = any(node.vectors_per_call >= FULL_SHARE * FULL_VECTOR for node in handed)
    return bool(reader.saturated) and full
