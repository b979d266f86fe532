"""The worker's time goes into waiting for a lock."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import quotes
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.kernel_cpu import softirq_is_full
from linerate.analysis.explain.rules.worker_cpu import saturated_worker
from linerate.analysis.explain.words import WAITS_FOR_LOCK, lock_wait_percent
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


@rule(
    "lock",
    Stage.RESOURCE,
    refines="worker-cpu",
    reference="Linux: kernel/locking/qspinlock.c, the slow path waits for another CPU",
)
def kernel_waits_for_a_lock(evidence: Evidence) -> Finding | None:
    """A CPU that is full of softirqs, and a profile with a quarter of it in a lock's slow path."""
    full = softirq_is_full(evidence)
    waiting = lock_wait_percent(evidence.symbols)
    if full is None or waiting < WAITING_PERCENT:
        return None
    waits = [one for one in evidence.symbols if WAITS_FOR_LOCK.match(one.name)]
    return Finding(
        limit="lock",
        confidence="medium",
        sentence=f"{waiting:.0f} % of the sampled cycles wait for locks that other CPUs have "
        f"({waits[0].name}); {full.sentence}",
        evidence=(*(one.quote for one in waits[:3]), *full.evidence),
        try_=(
            "who takes it: `perf record -a -g`, then `perf report --no-children -S "
            f"{waits[0].name}`",
            "fewer CPUs that send by one queue: XPS, a queue and a qdisc of its own for each (mq)",
        ),
    )
