"""VPP's workers over a window within the load: two answers to `show runtime`, subtracted.

Calls and vectors are exact. Clocks are printed with three digits, so that a long history hides a
short window: how much is computed, and beyond a limit they are unknown. The stats segment has them
exact, as of its last update, where its per-node counters are on.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from linerate.model.evidence import FULL_SHARE, FULL_VECTOR, Node, Worker

#: Cycles that may be wrong by more than this share of a worker's whole time say nothing.
CLOCKS_WITHIN = 0.05
#: `show runtime` prints its time in tenths of a second; the lab's clock is finer where both agree.
TIME_WITHIN_S = 0.2


#: Added where the counters are on.
NOT_GROWN = ", which was updated too seldom within the load (`update-interval`)"
#: Calls of an input node hold as many packets in both sources, within this share: of one load.
ALIKE_SHARE = 0.1


class Exact(NamedTuple):
    """Counters of a node between two updates of the stats segment."""

    calls: int
    vectors: int
    clocks: float


#: By worker, then by node.
ExactNodes = Mapping[str, Mapping[str, Exact]]


class Window(NamedTuple):
    """Workers in a window, and why their clocks are unknown, in one line each."""

    workers: tuple[Worker, ...]
    doubts: tuple[str, ...] = ()


def exact_between(first: tuple[Worker, ...], last: tuple[Worker, ...]) -> ExactNodes:
    """Counters of nodes that grew from one reading of the stats segment to the next."""
    before = {worker.name: {node.name: node for node in worker.nodes} for worker in first}
    return {
        worker.name: {
            node.name: _grown(before.get(worker.name, {}).get(node.name), node)
            for node in worker.nodes
            if node.clocks_per_packet is not None
        }
        for worker in last
    }


def _grown(before: Node | None, after: Node) -> Exact:
    earlier = Exact(0, 0, 0.0) if before is None else _exact(before)
    later = _exact(after)
    return Exact(
        max(0, later.calls - earlier.calls),
        max(0, later.vectors - earlier.vectors),
        max(0.0, later.clocks - earlier.clocks),
    )


def _exact(node: Node) -> Exact:
    by = node.vectors or node.calls or node.suspends
    return Exact(node.calls, node.vectors, (node.clocks_per_packet or 0.0) * by)


def window(
    first: tuple[Worker, ...],
    last: tuple[Worker, ...],
    between_s: float,
    tsc_hz: float | None,
    exact: ExactNodes = MappingProxyType({}),
) -> Window:
    """Each worker between two answers, which came `between_s` after each other."""
    before = {worker.name: worker for worker in first}
    workers, doubts = [], []
    for worker in last:
        nodes = exact.get(worker.name, {})
        found = _between(before.get(worker.name), worker, between_s, tsc_hz, nodes)
        workers.append(found.worker)
        if found.doubt:
            doubts.append(found.doubt)
    return Window(tuple(workers), tuple(doubts))


class _Found(NamedTuple):
    worker: Worker
    doubt: str = ""


def _between(
    before: Worker | None,
    after: Worker,
    between_s: float,
    tsc_hz: float | None,
    exact: Mapping[str, Exact],
) -> _Found:
    """One worker; what it counted since somebody cleared it, where its time went back."""
    began = before.seconds if before is not None and before.seconds else 0.0
    ended = after.seconds or 0.0
    if before is None or ended < began:
        before, began = None, 0.0
    seconds = ended - began
    if before is not None and abs(seconds - between_s) <= TIME_WITHIN_S:
        seconds = between_s
    spans = _spans(before, after, exact)
    whole = seconds * (tsc_hz or 0.0) or sum(span.clocks for span in spans.values())
    unsure = sum(span.error for span in spans.values())
    worker = _worker(after, spans, seconds, tsc_hz)
    if not worker.packets or (whole and unsure <= CLOCKS_WITHIN * whole):
        return _Found(worker)
    return _Found(
        _without_clocks(worker),
        f"{after.name}: its `show runtime` counts for {ended:.0f} s, and three digits of that do "
        f"not give the clocks of {seconds:.1f} s: `clear runtime`, `clear: true` of `dut`, or "
        f"`per-node-counters on` of the stats segment{NOT_GROWN if exact else ''}",
    )


class _Span(NamedTuple):
    """Counters of a node in the window."""

    calls: int
    vectors: int
    suspends: int
    clocks: float
    #: By which the clocks may be wrong.
    error: float


def _spans(before: Worker | None, after: Worker, exact: Mapping[str, Exact]) -> dict[str, _Span]:
    earlier = {node.name: node for node in before.nodes} if before is not None else {}
    return {
        node.name: _exactly(_span(earlier.get(node.name), node), exact.get(node.name))
        for node in after.nodes
    }


def _exactly(span: _Span, exact: Exact | None) -> _Span:
    """The same with the cycles a packet that the stats segment has.

    Its updates are at other moments than the window's ends, and a node that polls does so before a
    load as well.
    """
    if exact is None or not (exact.vectors and exact.calls and span.vectors and span.calls):
        return span
    here, there = span.vectors / span.calls, exact.vectors / exact.calls
    if abs(here - there) > ALIKE_SHARE * here:
        return span
    return span._replace(clocks=exact.clocks / exact.vectors * span.vectors, error=0.0)


def _span(before: Node | None, after: Node) -> _Span:
    clocks, error = _clocks(after)
    if before is None:
        return _Span(after.calls, after.vectors, after.suspends, clocks, error)
    clocks_before, error_before = _clocks(before)
    return _Span(
        max(0, after.calls - before.calls),
        max(0, after.vectors - before.vectors),
        max(0, after.suspends - before.suspends),
        max(0.0, clocks - clocks_before),
        error + error_before,
    )


def _clocks(node: Node) -> tuple[float, float]:
    """Cycles of all its history, and half a unit of the last digit that is printed of them.

    They are printed for each vector, or each call or suspension where it has no vectors.
    """
    by = node.vectors or node.calls or node.suspends
    each = node.clocks_per_packet or 0.0
    digit = 10.0 ** (math.floor(math.log10(each)) - 2) if each > 0 else 0.0
    return each * by, digit / 2 * by


def _without_clocks(worker: Worker) -> Worker:
    nodes = tuple(node.model_copy(update={"clocks_per_packet": None}) for node in worker.nodes)
    return worker.model_copy(update={"nodes": nodes, "used_percent": None})


def _worker(
    after: Worker, spans: Mapping[str, _Span], seconds: float, tsc_hz: float | None
) -> Worker:
    nodes = tuple(_node(node, spans[node.name]) for node in after.nodes)
    worker = after.model_copy(
        update={
            "nodes": nodes,
            "seconds": seconds or None,
            "tsc_hz": tsc_hz,
            "out_pps": None,
            "drop_pps": None,
        }
    )
    used = sum(spans[node.name].clocks for node in nodes if not _polls_empty(node))
    whole = seconds * (tsc_hz or 0.0)
    return worker.model_copy(
        update={
            "in_pps": worker.packets / seconds if seconds else None,
            "used_percent": min(100.0, 100.0 * used / whole) if whole else None,
        }
    )


def _node(node: Node, span: _Span) -> Node:
    by = span.vectors or span.calls or span.suspends
    return node.model_copy(
        update={
            "calls": span.calls,
            "vectors": span.vectors,
            "suspends": span.suspends,
            "clocks_per_packet": span.clocks / by if by else None,
            "vectors_per_call": span.vectors / span.calls if span.calls else 0.0,
        }
    )


def _polls_empty(node: Node) -> bool:
    """Whether clocks of empty polls are in it: an input node that is not full."""
    return node.polling and node.vectors_per_call < FULL_SHARE * FULL_VECTOR
