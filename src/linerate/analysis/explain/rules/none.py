"""No limit: all offered packets were received, and more could have been offered."""

from collections.abc import Iterable

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    NOISE_SHARE,
    all_came_back,
    busiest,
    configured_losses,
    forwarders,
    input_node,
    lost_for_capacity,
    more_than_noise,
    offered_packets,
    pushed_back,
    quotes,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.line import (
    LINE_FULL_PERCENT,
    line,
    tester_fills_the_line,
)
from linerate.analysis.explain.rules.tester import tester
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence, Port, Worker


@rule("none", Stage.WHOLE, reference="the packet ledger: nothing was lost at an exhausted resource")
def none(evidence: Evidence) -> Finding | None:
    """No loss at an exhausted resource at less than the line's rate."""
    given = evidence.conditions
    if given is None or not given.sent_packets or lost_for_capacity(evidence) > 0:
        return None
    if pushed_back(evidence):
        return None
    configured = configured_losses(evidence)
    if not all_came_back(evidence) or line(evidence) or tester(evidence):
        return None
    sentence = (
        f"nothing ran short at {format_pps(given.offered_pps)} of the line's "
        f"{format_pps(given.line.packets_per_second)}"
    )
    if configured:
        places = ", ".join(f"{loss.packets:,} at {loss.place}" for loss in configured[:3])
        sentence += f"; the missing packets were dropped as configured: {places}"
    if evidence.noted:
        few = ", ".join(f"{loss.packets:,} at {loss.place}" for loss in evidence.noted[:3])
        sentence += f"; so few are no limit: {few}"
    return Finding(
        limit="none",
        confidence="high",
        sentence=sentence,
        evidence=(given.quote, *quotes(*configured, *evidence.noted)),
        try_=("offer more",) if not configured else ("look at routes, filters and interfaces",),
    )


#: Polls that found packets, in per cent, up to which a worker has time to spare for sure.
SPARE_FOUND_PERCENT = 50.0
#: Share of a worker's packets by which it may send less: rates are printed with few digits.
SENT_WITHIN = 0.02
#: Words of outputs that show workers, and not what is lost at ports.
OF_WORKERS_ALONE = ("runtime", "PMD threads", "grout graph")
#: Frames of a link's own that a tester may count beside its own.
FEW = 16
#: Share of what ports received by which what they sent may differ: frames of their own, ARP, LLDP.
FORWARDED_WITHIN = 0.01


@rule(
    "none",
    Stage.WHOLE,
    reference="VPP: polls that find nothing, and short vectors, are those of a worker with time",
)
def time_to_spare(evidence: Evidence) -> Finding | None:
    """Workers that have empty polls, and nothing that was lost."""
    worker = busiest(evidence)
    if worker is None or evidence.conditions is not None or _loses(evidence):
        return None
    found, asking = worker.found_percent, input_node(worker)
    spare = worker.idle_percent
    if asking is None or worker.saturated or (found is None and spare is None):
        return None
    if any(map(_sends_less, forwarders(evidence))):
        return None
    if (found or 0.0) > SPARE_FOUND_PERCENT or (spare is not None and spare < SPARE_FOUND_PERCENT):
        return None
    return Finding(
        limit="none",
        # Without a table of losses something may be lost that was not pasted.
        confidence="medium" if _counts_losses(evidence) else "low",
        sentence=f"at this load nothing limits: {worker.name} {_idle(worker)}{_few(evidence)}",
        evidence=(*quotes(worker, asking), *quotes(*evidence.noted)),
        try_=("offer more; if that is not possible, what sends or the links are the limit",),
    )


def _sends_less(worker: Worker) -> bool:
    """Whether a worker says itself that packets which came in did not leave."""
    came = worker.in_pps or 0.0
    few = NOISE_SHARE * came
    dropped = (worker.drop_pps or 0.0) > few
    return dropped or (worker.out_pps is not None and came - worker.out_pps > SENT_WITHIN * came)


def _idle(worker: Worker) -> str:
    if worker.idle_percent is not None:
        return f"has nothing to do for {worker.idle_percent:.3g} % of its time"
    each = _each(worker.graph_vectors_per_call)
    return f"finds packets in {worker.found_percent or 0.0:.3g} % of its polls, {each}"


def _each(vectors: float) -> str:
    return f"{vectors:.0f} at a time" if vectors >= 1.5 else "one at a time"


def _few(evidence: Evidence) -> str:
    few = ", ".join(f"{loss.packets:,} at {loss.place}" for loss in evidence.noted[:3])
    return f"; so few lost packets are no limit: {few}" if few else ""


def _loses(evidence: Evidence) -> bool:
    """Whether anything is known to have been lost, but for a few."""
    lost = total(evidence.losses)
    base = offered_packets(evidence)
    many = more_than_noise(evidence, lost) if base else lost > 0
    testers = any(
        (one.sent_packets or 0) > (one.received_packets or 0)
        and more_than_noise(evidence, (one.sent_packets or 0) - (one.received_packets or 0))
        for one in evidence.testers
        if one.received_packets is not None
    )
    return many or testers or bool(evidence.traced_drops)


def _counts_losses(evidence: Evidence) -> bool:
    """Whether an output was read that would show losses."""
    return any(not any(words in name for words in OF_WORKERS_ALONE) for name in evidence.outputs)


@rule("none", Stage.WHOLE, reference="the tester's own counters: sent = received")
def tester_received_all(evidence: Evidence) -> Finding | None:
    """A traffic generator that received what it sent, on a line that is not full."""
    if evidence.conditions is not None or _loses(evidence):
        return None
    for one in evidence.testers:
        sent, received = one.sent_packets or 0, one.received_packets or 0
        if not sent or not received or one.queue_full or tester_fills_the_line(evidence):
            continue
        if received - sent > max(FEW, NOISE_SHARE * sent):
            # Something else sends there, or the two were not counted over the same time.
            continue
        of_line = "" if one.line_percent is None else f", at {one.line_percent:.3g} % of the line"
        return Finding(
            limit="none",
            confidence="high" if one.line_percent is not None else "medium",
            sentence=f"{one.name} sent {sent:,} packets and received {received:,}{of_line}: "
            f"nothing limits at this load{_few(evidence)}",
            evidence=(one.quote, *quotes(*evidence.noted)),
            try_=("offer more",),
        )
    return None


@rule("none", Stage.LAST, reference="DPDK, rte_eth_stats: imissed, ierrors and rx_nombuf are zero")
def ports_forwarded_all(evidence: Evidence) -> Finding | None:
    """A forwarder's ports that sent what they received, and whose counters of losses are zero."""
    ports = [port for port in evidence.ports if port.side == "dut"]
    received, sent = (
        sum((port.rx_packets if way == "rx" else port.tx_packets) or 0 for port in ports)
        for way in ("rx", "tx")
    )
    # A log and settings name ports, too.
    counting = {port.name for port in ports if port.rx_packets or port.tx_packets}
    if (
        evidence.conditions is not None
        or _loses(evidence)
        or not received
        or len(counting) < MIN_PORTS
    ):
        return None
    if abs(received - sent) > FORWARDED_WITHIN * received or not counts_losses(ports):
        return None
    if any(worker.saturated for worker in forwarders(evidence)):
        return None
    full = [port for port in ports if (port.line_percent or 0.0) >= LINE_FULL_PERCENT]
    return Finding(
        limit="line" if full else "none",
        confidence="medium",
        sentence=(
            f"the ports received {received:,} packets and sent {sent:,}, and their counters of "
            f"losses are zero: nothing that reached them was lost{_few(evidence)}{_full(full)}"
        ),
        evidence=quotes(*evidence.noted) or tuple(port.quote for port in ports[:4]),
        try_=("give the tester's counters: what was sent, and how much the line carries",),
    )


#: Ports of a forwarder.
MIN_PORTS = 2


def _full(ports: list[Port]) -> str:
    """`; Ethernet0 uses its link to 102 %`, where a link is as full as it can be."""
    if not ports:
        return ""
    fullest = max(ports, key=lambda port: port.line_percent or 0.0)
    others = f" ({len(ports)} such ports)" if len(ports) > 1 else ""
    return f"; {fullest.name} uses its link to {fullest.line_percent or 0.0:.3g} %{others}"


def counts_losses(ports: Iterable[Port]) -> bool:
    """Whether counters of losses are among those of some ports."""
    return any(_is_loss_counter(name) for port in ports for name in port.counters)


def _is_loss_counter(name: str) -> bool:
    low = name.lower()
    return any(word in low for word in ("miss", "drop", "err", "discard", "nombuf", "overrun"))
