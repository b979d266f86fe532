"""The tx ring is full though what is behind it could do more."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    forwarders,
    main_losses,
    quotes,
    share_lost,
    share_of_losses,
    total,
    without_card,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import clock_is_used_up, kernel_saturated
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence, Loss, Node, Worker

#: So little is lost in bursts.
BURSTS_SHARE = 0.01
#: A tx node that sends so much less than it was given refused the rest.
SENT_SHARE = 0.99

MORE = ("more tx descriptors, or several tx queues on the port",)
DRIVER = ("another driver for the card (VPP: dpdk in place of rdma, or the other way)",)
#: Advice for a port without a card, whose ring another program empties.
READER = ("look at who takes packets out on the other side: does it have its CPU, and time?",)


@rule("tx-ring", Stage.RESOURCE, reference="VPP: '…-tx: no free tx slots' (vnet/devices)")
def tx_ring(evidence: Evidence) -> Finding | None:
    """Packets found no free slot, and neither link, card nor PCIe is full (their own rules)."""
    if kernel_saturated(evidence) or clock_is_used_up(evidence):
        return None
    lost = main_losses(evidence, "tx-ring")
    refusing = _refusing(evidence)
    if not lost and not refusing:
        return None
    if _in_bursts(evidence, lost) and not refusing:
        return None
    return Finding(
        limit="tx-ring",
        confidence="high" if lost and (refusing or evidence.card) else "medium",
        sentence="; ".join(_message(evidence, lost, refusing)),
        evidence=quotes(
            *lost, *(thing for worker, output, tx in refusing for thing in (output, tx, worker))
        ),
        try_=(*MORE, *(READER if without_card(evidence) else DRIVER)),
        explains=share_of_losses(evidence, lost) if lost else 1.0,
    )


def _in_bursts(evidence: Evidence, lost: list[Loss]) -> bool:
    """Whether so few of what was pasted found the ring full that bursts alone may explain them."""
    share = share_lost(evidence, lost)
    return evidence.conditions is None and share is not None and share < BURSTS_SHARE


def _refusing(evidence: Evidence) -> list[tuple[Worker, Node, Node]]:
    """Ports whose …-tx node passes fewer packets than …-output gave it."""
    found = []
    for worker in forwarders(evidence):
        nodes = {node.name: node for node in worker.nodes}
        for name, output in nodes.items():
            port, is_output, _ = name.partition("-output")
            tx = nodes.get(f"{port}-tx") if is_output else None
            if tx is not None and output.vectors and tx.vectors < SENT_SHARE * output.vectors:
                found.append((worker, output, tx))
    return found


def _message(
    evidence: Evidence, lost: list[Loss], refusing: list[tuple[Worker, Node, Node]]
) -> list[str]:
    text = []
    for worker, output, tx in refusing:
        percent = 100 * (1 - tx.vectors / output.vectors)
        text.append(
            f"{tx.name} sends {tx.vectors_per_call:.0f} of {output.vectors_per_call:.0f} packets "
            f"a call: {percent:.0f} % lost there"
        )
        if worker.in_pps and worker.out_pps:
            text.append(f"{format_pps(worker.in_pps)} in, {format_pps(worker.out_pps)} out")
    if lost:
        slots = f" of {evidence.card.tx_ring} slots" if evidence.card else ""
        text.append(f"the tx ring{slots} was full for {total(lost):,} packets")
    if evidence.card:
        text.append("link, card and PCIe could do more")
    return text
