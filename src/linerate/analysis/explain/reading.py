"""Readings of the evidence that several rules share; pure functions without judgement."""

import re
from collections.abc import Iterable

from linerate.model.evidence import Cause, Conditions, Evidence, Loss, Node, Quote, Sibling, Worker

#: Nodes that make packets, or take them back, in the process under test (VPP's names, ours).
GENERATORS = ("pg-input", "pg0", "packet-generator", "generator-", "tester-")
#: Exhausted resources; other causes are configuration, damage, or the tester's.
CAPACITY: frozenset[Cause] = frozenset(
    (
        "tx-ring",
        "rx-ring",
        "handoff-ring",
        "card-pps",
        "pcie",
        "buffers",
        "flow-table",
        "shaper",
        "other",
    )
)
#: VPP's nodes whose drops are messages of its own, about packets that it dropped before.
OWN_MESSAGES = ("ip4-icmp-error", "ip6-icmp-error")
#: Losses at rings, which a descheduled worker causes too.
AT_RINGS: frozenset[Cause] = frozenset(("tx-ring", "rx-ring", "handoff-ring"))
#: A cause must account for this share of the lost packets to be the limit.
MAIN_SHARE = 0.5
#: Share of the sent packets that may be missing without a reason: the precision of pacing. A device
#: sends frames of its own, and a few of ours are in its queues, or meet cold caches, at either end.
NOISE_SHARE = 0.001
#: Rates are the same within this: the spread of a quiet machine.
SAME_WITHIN = 0.03
#: A rate so near to the line is limited by it.
NEAR_LINE_PERCENT = 97.0
#: Share of the intended load from which on it counts as offered.
REACHED_SHARE = 0.98
#: A device that takes less than is sent by this share makes the sender wait.
BEHIND = 0.02
#: Nodes of our engine: the tester's that send, any port's that receive.
TESTER_TX, PORT_RX = "tester-tx-", "port-rx-"


def forwarders(evidence: Evidence) -> list[Worker]:
    """Workers of the device under test that may carry packets."""
    return [worker for worker in evidence.workers if worker.role == "worker"]


def busiest(evidence: Evidence) -> Worker | None:
    """The forwarder's worker with the least time to spare, or with the fullest vectors."""
    carrying = [worker for worker in forwarders(evidence) if worker.packets]
    return max(carrying, key=_business, default=None)


def _business(worker: Worker) -> tuple[float, float]:
    spare = 100.0 if worker.idle_percent is None else worker.idle_percent
    return (-spare, max(worker.vectors_per_call, worker.graph_vectors_per_call))


def capacity_losses(evidence: Evidence) -> list[Loss]:
    """Losses at exhausted resources, worst first."""
    lost = [loss for loss in evidence.losses if loss.cause in CAPACITY and loss.packets > 0]
    return sorted(lost, key=lambda loss: -loss.packets)


def lost_for_capacity(evidence: Evidence) -> int:
    """Packets lost at an exhausted resource, without those lost while workers were descheduled."""
    lost = total(capacity_losses(evidence))
    return lost - min(_while_descheduled(evidence), _lost_at_rings(evidence))


def _while_descheduled(evidence: Evidence) -> int:
    return evidence.conditions.descheduled_packets if evidence.conditions else 0


def _lost_at_rings(evidence: Evidence) -> int:
    return total(loss for loss in evidence.losses if loss.cause in AT_RINGS)


def configured_losses(evidence: Evidence) -> list[Loss]:
    """Losses that somebody asked for, or that the packets deserve.

    Messages of the device's own about them are the same packets once more.
    """
    return [
        loss
        for loss in evidence.losses
        if loss.cause in ("configuration", "damaged") and not loss.place.startswith(OWN_MESSAGES)
    ]


def offered_packets(evidence: Evidence) -> int | None:
    """Packets that came, as far as it is known: by ports and testers, or where they were lost."""
    known = counted_packets(evidence)
    if known is not None or evidence.conditions is not None:
        return known
    return max((loss.offered or 0 for loss in evidence.losses), default=0) or None


def counted_packets(evidence: Evidence) -> int | None:
    """Packets that a tester sent, or that the device took in."""
    if evidence.conditions is not None:
        return evidence.conditions.sent_packets or None
    sent = max((one.sent_packets or 0 for one in evidence.testers), default=0)
    device = [port for port in evidence.ports if port.side == "dut"]
    missed = sum(loss.packets for loss in evidence.losses if loss.cause == "rx-ring")
    received = sum(port.rx_packets or 0 for port in device)
    walked = sum(worker.packets for worker in forwarders(evidence))
    return sent or (max(received, walked) + missed if received or walked else None)


def few_of_their_own(losses: Iterable[Loss]) -> list[Loss]:
    """Losses that are too few of the packets which came to their place."""
    return [one for one in losses if one.packets <= NOISE_SHARE * (one.offered or 0)]


#: Fewer packets say nothing of a limit, whatever share they are.
HANDFUL = 20


def few_left_out(evidence: Evidence) -> Evidence:
    """The same without losses at exhausted resources that are too few to limit anything: noted.

    Of pasted text alone: a trial of the lab's has an exact ledger, and its own rule for boxes.
    """
    if evidence.conditions is not None:
        return evidence
    lost = capacity_losses(evidence)
    few = few_of_their_own(lost)
    offered = offered_packets(evidence)
    many = [one for one in lost if one not in few]
    handful = total(lost) < HANDFUL and not evidence.testers
    if not handful and (not offered or total(many) > NOISE_SHARE * offered):
        lost = few
    if not lost:
        return evidence
    return evidence.model_copy(
        update={
            "losses": tuple(loss for loss in evidence.losses if loss not in lost),
            "noted": (*evidence.noted, *lost),
        }
    )


def share_lost(evidence: Evidence, losses: Iterable[Loss]) -> float | None:
    """Share of these in all packets that came; None where that number is unknown."""
    offered = offered_packets(evidence)
    return min(1.0, total(losses) / offered) if offered else None


def missing(evidence: Evidence) -> int:
    """Packets sent that did not come through, but for what the host cost."""
    given = evidence.conditions
    if given is None or not given.sent_packets:
        return 0
    return max(0, given.sent_packets - given.received_packets - given.descheduled_packets)


def unexplained(evidence: Evidence) -> int:
    """Packets sent that neither came through nor were lost at any known place."""
    given = evidence.conditions
    if given is None or not given.sent_packets:
        return 0
    through = given.received_packets + given.held_packets
    known = total(evidence.losses) + total(evidence.noted)
    return max(0, given.sent_packets - through - known)


def more_than_noise(evidence: Evidence, packets: int) -> bool:
    """Whether this many of those sent are too many to be missing without a reason."""
    offered = offered_packets(evidence)
    return offered is not None and packets > NOISE_SHARE * offered


def all_came_back(evidence: Evidence) -> bool:
    """Whether what was sent was received, but for noise and what the host cost."""
    return not more_than_noise(evidence, missing(evidence))


def all_is_explained(evidence: Evidence) -> bool:
    """Whether each packet that was not received was lost at a known place, except for noise."""
    return not more_than_noise(evidence, unexplained(evidence))


def lost_at_ports(evidence: Evidence, ports: Iterable[Quote]) -> list[Loss]:
    """Losses whose place names one of the ports that the quotes begin with: `e1 (eth2): …`."""
    names = {quote.text.partition(" ")[0] for quote in ports}
    named = [loss for loss in evidence.losses if names & set(re.findall(r"\be\d+\b", loss.place))]
    return [loss for loss in named if loss.packets > 0]


def total(losses: Iterable[Loss]) -> int:
    """Packets of all."""
    return sum(loss.packets for loss in losses)


def main_losses(evidence: Evidence, cause: Cause) -> list[Loss]:
    """Losses of that cause if they are most of all that were lost for capacity, else none.

    Packets lost while workers were descheduled show no limit.
    """
    everything = lost_for_capacity(evidence)
    found = [loss for loss in capacity_losses(evidence) if loss.cause == cause]
    if cause in AT_RINGS and _while_descheduled(evidence) >= _lost_at_rings(evidence):
        return []
    return found if everything and total(found) >= MAIN_SHARE * everything else []


def share_of_losses(evidence: Evidence, losses: Iterable[Loss]) -> float:
    """Share of these in all packets lost at exhausted resources, 0 to 1."""
    everything = lost_for_capacity(evidence)
    return min(1.0, total(losses) / everything) if everything else 0.0


def quotes(*things: Loss | Node | Worker | None) -> tuple[Quote, ...]:
    """The lines of some things, in that order."""
    return tuple(thing.quote for thing in things if thing is not None)


def is_generator(node: Node) -> bool:
    """Whether a node makes the load rather than works on it."""
    return node.name.startswith(GENERATORS)


def input_node(worker: Worker) -> Node | None:
    """The fullest node that asks for packets."""
    return max(worker.sources, key=lambda node: node.vectors_per_call, default=None)


def rate_pps(worker: Worker) -> float | None:
    """Packets a second that it takes in; what it prints itself counts first."""
    if worker.in_pps:
        return worker.in_pps
    return worker.packets / worker.seconds if worker.seconds else None


def hertz(worker: Worker) -> float | None:
    """Clock rate: as reported, or else the sum of all nodes' cycles.

    A polling VPP worker never rests and counts idle polls as cycles of the polling node. Between
    its nodes it spends cycles that no node counts: of a saturated one the sum is nearly the TSC, of
    another 70 to 85 % of it (measured with VPP 26.10).
    """
    if worker.tsc_hz:
        return worker.tsc_hz
    clocks, rate = worker.clocks_per_packet, rate_pps(worker)
    return clocks * rate if worker.idle_in_clocks and clocks and rate else None


def capacity_pps(worker: Worker) -> float | None:
    """Clocks of a second ÷ clocks of a packet: what it alone carries.

    Unknown of a worker that is not saturated and has its empty polls in the clocks.
    """
    if (worker.idle_in_clocks or worker.used_percent is not None) and not worker.saturated:
        return None
    clocks, clock_hz = worker.clocks_per_packet, hertz(worker)
    return clock_hz / clocks if clocks and clock_hz else None


def received_pps(evidence: Evidence) -> float | None:
    """Rate received by the tester, or counted by the workers."""
    if evidence.conditions is not None:
        return evidence.conditions.received_pps
    sent = [worker.out_pps for worker in forwarders(evidence) if worker.out_pps]
    return sum(sent) if sent else None


def closed_box(evidence: Evidence) -> Conditions | None:
    """The trial's conditions, where the tester alone speaks of it: no worker of the device's.

    Not on a wire that pushes back, where what is offered is no figure of the tester's own.
    """
    given = evidence.conditions
    return None if forwarders(evidence) or (given and given.pushes_back) else given


def near_line(given: Conditions) -> bool:
    """Whether the line itself limits, or nearly so."""
    return given.line_percent > NEAR_LINE_PERCENT


#: A tester that offers less than this of what it was asked for can't offer more.
OFFERED_SHARE = 0.995


def tester_fell_short(given: Conditions) -> bool:
    """Whether it offered less than it was asked for, and not since the wire took no more."""
    return not given.pushes_back and given.offered_pps < OFFERED_SHARE * given.asked_pps


def pushed_back(evidence: Evidence) -> bool:
    """Whether the wire, or the device behind it, took less than the tester was asked to send."""
    given = evidence.conditions
    return bool(
        given is not None
        and given.pushes_back
        and given.offered_pps < REACHED_SHARE * given.asked_pps
    )


def paused_ports(evidence: Evidence) -> tuple[Quote, ...]:
    """Ports that were asked by PAUSE frames to stop sending for a while."""
    return tuple(port.quote for port in evidence.ports if port.counters.get("rx_pause"))


def sends_itself(evidence: Evidence) -> bool:
    """Whether nothing was offered: the device makes what the tester counts."""
    given = evidence.conditions
    return given is not None and not given.sent_packets and given.received_packets > 0


def sender(evidence: Evidence) -> Worker | None:
    """The tester's worker, where it sent: what it spent on that is known."""
    return next((one for one in evidence.workers if one.role == "tester" and sent_by(one)), None)


def sent_by(worker: Worker) -> int:
    """Packets sent by its tx nodes while cycles were read."""
    return sum(node.vectors for node in _sending(worker))


def sending_clocks(worker: Worker) -> float:
    """Clocks of its tx nodes."""
    return sum((node.clocks_per_packet or 0.0) * node.vectors for node in _sending(worker))


def _sending(worker: Worker) -> list[Node]:
    return [node for node in worker.nodes if node.name.startswith(TESTER_TX)]


def taken_share(evidence: Evidence) -> float | None:
    """Share of the sent packets that the device took under load; None when unknown.

    By the counters of its own ports, or by what the tester received where those are unknown.
    """
    tester = sender(evidence)
    if tester is None or not tester.seconds:
        return None
    sent_pps = sent_by(tester) / tester.seconds
    takers = [one for one in forwarders(evidence) if _received_by(one) and one.seconds]
    taken_pps = sum(_received_by(one) / (one.seconds or 1.0) for one in takers or [tester])
    return taken_pps / sent_pps if taken_pps else None


def _received_by(worker: Worker) -> int:
    return sum(node.vectors for node in worker.nodes if node.name.startswith(PORT_RX))


def fell_behind(evidence: Evidence) -> bool:
    """Whether packets that were sent waited before the device, ever more of them."""
    share = taken_share(evidence)
    return share is not None and share < 1 - BEHIND


def same(one: float, other: float, within: float = SAME_WITHIN) -> bool:
    """Whether two rates are the same but for the error."""
    return abs(one - other) <= within * max(one, other)


def siblings_like(evidence: Evidence, **changes: object) -> list[Sibling]:
    """Other trials with the same conditions but for these."""
    given = evidence.conditions
    if given is None:
        return []
    alike = ("frame_bytes", "directions", "link_bps", "flows", "protocol", "workers")
    wanted = {name: getattr(given, name) for name in alike} | changes
    return [
        sibling
        for sibling in evidence.siblings
        if all(getattr(sibling.conditions, name) == value for name, value in wanted.items())
    ]


#: Inputs and ports without a card behind them: another process, or the kernel, sends.
_NO_CARD = re.compile(
    r"memif|af-packet|af_packet|virtio-input|vhost|tap|tun\b|veth|null-|ring|pg-input|pg\d|lo\b|host-"
)


#: Sources that are a thread's polls of all its queues, whatever they are of.
POLLS_ALL = ("pmd", "testpmd", "lcore")


def without_card(evidence: Evidence) -> bool:
    """Whether all ports that are known are of software: nothing of a card's can be tried."""
    sources = [
        node.name
        for worker in forwarders(evidence)
        for node in worker.sources
        if node.name not in POLLS_ALL
    ]
    ports = [f"{port.name} {port.driver}" for port in evidence.ports if port.side == "dut"]
    names = sources or ports
    return bool(names) and all(_NO_CARD.search(name) for name in names)
