"""RSS gives one worker more than the others: it is full while they have time."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import POLLS_ALL, forwarders, main_losses, quotes
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import saturated_worker
from linerate.model.evidence import Evidence

#: The fullest worker has so much more than an even share.
UNEVEN = 1.25
#: Others have so much time left.
OTHERS_SPARE_PERCENT = 10.0


@rule(
    "rss-imbalance",
    Stage.RESOURCE,
    refines="worker-cpu",
    reference="Toeplitz RSS spreads flows, not packets (Microsoft: RSS hashing functions)",
)
def rss_imbalance(evidence: Evidence) -> Finding | None:
    """A saturated worker that has much more than its share, and another with time."""
    worker, given = saturated_worker(evidence), evidence.conditions
    everyone = forwarders(evidence)
    if worker is None or len(everyone) < 2 or (given is not None and given.flows == "one"):
        return None
    # It is unknown what spread the packets: RSS over a port's queues, or ports that differ.
    if all(node.name in POLLS_ALL for node in worker.sources):
        return None
    if evidence.card is not None and evidence.card.rx_queues == 1:
        return None
    # Packets lost between workers were spread by software, not by the card.
    if main_losses(evidence, "handoff-ring"):
        return None
    share = worker.packets / sum(one.packets for one in everyone)
    idler = max(everyone, key=lambda one: one.idle_percent or 0.0)
    spare = idler.idle_percent or 0.0
    if share * len(everyone) < UNEVEN or spare < OTHERS_SPARE_PERCENT:
        return None
    return Finding(
        limit="rss-imbalance",
        confidence="high",
        sentence=(
            f"{worker.name} gets {100 * share:.0f} % of the packets, {share * len(everyone):.1f} × "
            f"its share, and is saturated; {idler.name} has nothing to do for {spare:.0f} %"
        ),
        evidence=quotes(worker, idler, *worker.sources),
        try_=(
            "another RSS key or more queues, if it is chance that several flows meet",
            "hand-off by flow in software, if single flows are that large",
        ),
    )
