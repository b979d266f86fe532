"""The worker's time goes into system calls."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import quotes, total
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import lost_for_workers, saturated_worker
from linerate.analysis.explain.words import behind_text
from linerate.model.evidence import Evidence

#: Share of a saturated worker's time. The kernel counts whole ticks, few in a short trial.
KERNEL_PERCENT = 40.0


@rule(
    "syscall",
    Stage.RESOURCE,
    refines="worker-cpu",
    reference="proc(5): stime of a thread, against its whole time",
)
def syscall(evidence: Evidence) -> Finding | None:
    """A saturated worker that is mostly in the kernel."""
    worker = saturated_worker(evidence)
    if worker is None or worker.kernel_percent is None or worker.kernel_percent < KERNEL_PERCENT:
        return None
    calls = worker.syscalls_per_packet
    each = f", {calls:.2f} system calls a packet" if calls is not None else ""
    lost = lost_for_workers(evidence)
    before = f"; {total(lost):,} packets lost before it" if lost else ""
    return Finding(
        limit="syscall",
        confidence="high" if calls else "medium",
        sentence=(
            f"{worker.name} is saturated and spends {worker.kernel_percent:.0f} % of its time in "
            f"the kernel{each}{before}{behind_text(evidence)}"
        ),
        evidence=quotes(worker, *lost),
        try_=("more packets a call: recvmmsg, PACKET_MMAP, io_uring", "AF_XDP or a DPDK driver"),
    )
