"""A poll-mode thread of Open vSwitch, as pmd-rxq-show has its last minute: no packets, its time."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import main_losses, quotes
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import CpuTime, Evidence

#: So the parser names them.
PREFIX = "pmd-c"
#: Shares are printed without a fraction.
FULL_PERCENT = 95.0
SPARE_PERCENT = 50.0
REFERENCE = "Open vSwitch: PMD threads, pmd usage over the last 60 seconds"
TRY = (
    "another PMD thread and queue (`other_config:pmd-cpu-mask`, `options:n_rxq`), or another "
    "placement: `ovs-appctl dpif-netdev/pmd-rxq-rebalance`",
    "`ovs-appctl dpif-netdev/pmd-perf-show`: cycles of a packet, and of those without a flow",
)


@rule("worker-cpu", Stage.RESOURCE, reference=REFERENCE)
def pmd_is_full(evidence: Evidence) -> Finding | None:
    """A thread without time, and nothing that was lost elsewhere."""
    threads = _threads(evidence)
    if not threads or threads[0].busy_percent < FULL_PERCENT:
        return None
    lost = main_losses(evidence, "rx-ring")
    if evidence.losses and not lost:
        return None
    first, others = threads[0], [one for one in threads if one.busy_percent <= SPARE_PERCENT]
    spare = f", while {len(others)} other PMD threads are half idle or more" if others else ""
    return Finding(
        limit="worker-cpu",
        confidence="high" if lost else "medium",
        sentence=f"{first.name} works on packets for {first.busy_percent:.0f} % of its time{spare}",
        evidence=(first.quote, *quotes(*lost)),
        try_=TRY,
    )


@rule("none", Stage.LAST, reference=REFERENCE)
def pmd_has_time(evidence: Evidence) -> Finding | None:
    """All threads are half idle or more, and nothing is known to be lost."""
    threads = _threads(evidence)
    if not threads or evidence.losses or threads[0].busy_percent > SPARE_PERCENT:
        return None
    busiest = threads[0]
    return Finding(
        limit="none",
        confidence="low",
        sentence=(
            f"at this load nothing limits: {busiest.name}, the busiest of {len(threads)} PMD "
            f"threads, works on packets for {busiest.busy_percent:.0f} % of its time"
        ),
        evidence=(busiest.quote,),
        try_=("give the ports' counters as well: `ovs-vsctl list interface`",),
    )


def _threads(evidence: Evidence) -> list[CpuTime]:
    found = [one for one in evidence.cpu_times if one.name.startswith(PREFIX)]
    return sorted(found, key=lambda one: -one.busy_percent)
