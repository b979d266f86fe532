"""The worker's time goes into waiting for a lock."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import quotes
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import saturated_worker
from linerate.model.evidence import Evidence

#: Share of a saturated worker's time.
WAITING_PERCENT = 25.0


@rule(
    "lock",
    Stage.RESOURCE,
    refines="worker-cpu",
    reference="docs/telemetry.md: cycles that a worker waits for locks",
)
def lock(evidence: Evidence) -> Finding | None:
    """A saturated worker that mostly waits for others to let go."""
    worker = saturated_worker(evidence)
    waiting = worker.lock_wait_percent if worker is not None else None
    if worker is None or waiting is None or waiting < WAITING_PERCENT:
        return None
    return Finding(
        limit="lock",
        confidence="high",
        sentence=f"{worker.name} waits for a lock for {waiting:.0f} % of its time",
        evidence=quotes(worker),
        try_=("take the lock once a batch, not once a packet", "a lock-free ring in its place"),
    )
