"""Parts of sentences that several rules say."""

import re
from collections.abc import Sequence

from linerate.analysis.explain.reading import (
    capacity_losses,
    capacity_pps,
    fell_behind,
    hertz,
    is_generator,
    rate_pps,
    taken_share,
)
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Evidence, Symbol, Worker

#: Nodes with less of a packet's cycles are put together, from this number of cycles on.
NAMED_SHARE = 0.01
#: Parts of a kernel that are named of a profile.
PARTS_NAMED = 5
#: Those with less of the cycles, in per cent, are not.
PART_MIN = 0.5
#: Functions in which a CPU waits for a lock that another one has.
WAITS_FOR_LOCK = re.compile(
    r"(?:native_|pv_|__pv_)?queued_(?:spin|read|write)_lock_slowpath|osq_lock|mutex_spin_on_owner"
    r"|rwsem_(?:spin_on_owner|optimistic_spin|down_\w+_slowpath)|__ticket_spin_lock|ticket_spin_lock"
)
#: Such functions are named from this share of a profile on, in per cent.
WAITING_PERCENT = 5.0
REST_MIN = 0.1


def clocks_text(worker: Worker) -> str:
    """Use of a polling worker's cycles: graph + polling, times its rate.

    `594 cycles of graph + 128 of polling a packet × 3.28 Mpps = 2.37 GHz, empty polls in it`.
    """
    packets = worker.packets
    if not packets:
        return "it took no packets"
    polling = sum((node.clocks_per_packet or 0) * node.vectors for node in worker.sources) / packets
    graph = (worker.clocks_per_packet or 0) - polling
    rate = rate_pps(worker)
    text = f"{graph:.0f} cycles of graph + {polling:.0f} of polling a packet"
    if not rate:
        return text
    used = (graph + polling) * rate / 1e9
    polls = ", empty polls in it" if worker.idle_in_clocks else ""
    return f"{text} × {format_pps(rate)} = {used:.2f} GHz{polls}"


def node_shares(worker: Worker) -> str:
    """Each node's cycles and share, most expensive first, the load generator listed separately.

    `ip4-rewrite 9.5 (24 %), …; the generator pg-input 49.6 beside them`.
    """
    packets = worker.packets
    spent = {
        node: (node.clocks_per_packet or 0) * node.vectors / packets
        for node in worker.nodes
        if node.vectors and node.clocks_per_packet and packets
    }
    own = {node: clocks for node, clocks in spent.items() if not is_generator(node)}
    total = sum(own.values())
    ranked = sorted(own.items(), key=lambda item: -item[1])
    named = [(node, clocks) for node, clocks in ranked if clocks >= NAMED_SHARE * total]
    rest = total - sum(clocks for _, clocks in named)
    text = ", ".join(
        f"{node.name} {clocks:.1f} ({100 * clocks / total:.0f} %)" for node, clocks in named
    )
    if rest >= REST_MIN:
        text += f", others {rest:.1f}"
    made = ", ".join(
        f"{node.name} {clocks:.1f}" for node, clocks in spent.items() if is_generator(node)
    )
    return f"{text}; the generator's own part, {made}, listed separately" if made else text


def behind_text(evidence: Evidence) -> str:
    """Packets that wait before the device, where none are lost yet."""
    share = taken_share(evidence)
    if share is None or not fell_behind(evidence) or capacity_losses(evidence):
        return ""
    return f"; it takes {100 * share:.0f} % of what is sent, the rest waits before it"


def saturation_text(worker: Worker) -> str:
    """Evidence that a worker has no idle polls."""
    if not worker.vectors_per_call and worker.spare_percent is not None:
        return f"{worker.spare_percent:.1f} % of its time with nothing to do"
    if worker.used_percent is not None:
        fullest = max(worker.vectors_per_call, worker.graph_vectors_per_call)
        return (
            f"{worker.used_percent:.0f} % of its clock in calls with {fullest:.0f} of "
            f"{worker.burst_packets} packets"
        )
    if worker.vectors_per_call < worker.graph_vectors_per_call and worker.booked_percent:
        return (
            f"{worker.booked_percent:.0f} % of its counted cycles in calls with "
            f"{worker.graph_vectors_per_call:.0f} of {worker.burst_packets} packets"
        )
    fullness = f"{worker.vectors_per_call:.0f} of {worker.burst_packets} packets a call"
    if worker.spare_percent is None:
        return f"every poll returns {fullness}"
    return f"{worker.spare_percent:.1f} % of its time with nothing to do, {fullness}"


def capacity_text(worker: Worker) -> str:
    """`2.60 GHz ÷ 1,234.0 cycles/packet = 2.11 Mpps`."""
    alone = capacity_pps(worker)
    if alone is None:
        return ""
    return (
        f"{(hertz(worker) or 0) / 1e9:.2f} GHz ÷ {worker.clocks_per_packet:,.1f} cycles a packet = "
        f"{format_pps(alone)}"
    )


def symbols_text(symbols: Sequence[Symbol]) -> str:
    """`; its cycles: conntrack 31 %, driver 22 %`, by the kernel's part where it is known."""
    parts: dict[str, float] = {}
    for one in symbols:
        name = one.group or one.name
        parts[name] = parts.get(name, 0.0) + one.percent
    ranked = sorted(parts.items(), key=lambda item: -item[1])[:PARTS_NAMED]
    text = ", ".join(f"{name} {percent:.0f} %" for name, percent in ranked if percent >= PART_MIN)
    waiting = lock_wait_percent(symbols)
    locks = (
        f"; {waiting:.0f} % waiting for locks that other CPUs have"
        if waiting >= WAITING_PERCENT
        else ""
    )
    return f"; its cycles: {text}{locks}" if text else ""


def lock_wait_percent(symbols: Sequence[Symbol]) -> float:
    """Share of a profile in functions that wait for a lock of another CPU's."""
    return sum(one.percent for one in symbols if WAITS_FOR_LOCK.match(one.name))
