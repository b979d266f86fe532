"""The card's flow table is full, takes rules too slowly, or does not take them."""

from collections.abc import Iterable, Iterator

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import busiest
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import Evidence, FlowOffload

#: Share of refused rules that counts as a limit.
REFUSED_SHARE = 0.01
#: A table that lost entries to others a moment ago is as good as full.
FULL_SHARE = 0.9
#: With this share of packets looked up by the card, the rest is not the limit.
MARKED_ENOUGH_PERCENT = 90.0
#: Rules are made without a pause: flows wait for theirs.
PROGRAMMING_PERCENT = 75.0


@rule(
    "flow-offload",
    Stage.RESOURCE,
    refines="worker-cpu",
    reference="published flow-table measurements on an X710: 11 ms a rule as shipped",
)
def flow_offload(evidence: Evidence) -> Finding | None:
    """Flows stay in software because the card can't take them."""
    worker = busiest(evidence)
    if worker is not None and worker.saturated is False:
        return None
    found = [(table, text) for table in evidence.offload for text in _troubles(table)]
    if not found:
        return None
    tables = tuple(dict.fromkeys(table for table, _ in found))
    first, text = found[0]
    return Finding(
        limit="flow-offload",
        confidence="medium",
        sentence=f"flows stay in software: {text}{_marked(first)}",
        evidence=tuple(table.quote for table in tables),
        try_=tuple(_advice(tables)),
    )


def _troubles(table: FlowOffload) -> Iterator[str]:
    """Problems of the offload, the worst first."""
    if table.marked_percent is not None and table.marked_percent >= MARKED_ENOUGH_PERCENT:
        return
    if not table.on:
        why = "they had no effect" if table.silent else "the card did not take rules"
        yield f"offload was switched off, as {why}"
    elif table.refused > REFUSED_SHARE * (table.entries + table.refused):
        yield f"the card refused {table.refused:,} rules"
    elif _is_full(table):
        yield (f"the card's flow table is full ({table.entries:,} of {table.capacity:,} entries)")
    elif (table.programming_percent or 0.0) >= PROGRAMMING_PERCENT:
        rules = f"{table.rules_per_second:,.0f}" if table.rules_per_second else "too few"
        yield (
            f"the card takes {rules} rules a second, and was programmed "
            f"{table.programming_percent:.0f} % of the time"
        )


def _is_full(table: FlowOffload) -> bool:
    if not table.capacity:
        return False
    share = FULL_SHARE if table.full else 1.0
    return table.entries >= share * table.capacity


def _marked(table: FlowOffload) -> str:
    if table.marked_percent is None:
        return ""
    return f"; {table.marked_percent:.1f} % of the packets came marked"


def _advice(tables: Iterable[FlowOffload]) -> Iterator[str]:
    slow = any((table.programming_percent or 0.0) >= PROGRAMMING_PERCENT for table in tables)
    yield "newer firmware or driver" if slow else "offload fewer flows: those with the most packets"
    yield "a card with a larger flow table" if not slow else "offload flows that last longer"
    yield "another worker and queue"
