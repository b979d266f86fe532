"""Where the forwarder's cycles went: nodes down, tests across."""

from collections.abc import Callable
from dataclasses import replace

from linerate.model.ledger import (
    PORT_ENTRANCES,
    NodeTime,
    TimeLedger,
    cycles_by_node,
    forwarder_ledgers,
    node_times,
)
from linerate.report.document import NONE, Table, table
from linerate.results.store import Result

TITLE = "The forwarder's cycles: cycles/packet, by node"
ALL = "all nodes"
#: Another node did its work, and has its cycles.
FUSED = "fused"

_SHARES: tuple[tuple[str, Callable[[TimeLedger], float]], ...] = (
    ("idle polls, %", lambda ledger: ledger.idle_percent),
    ("loop overhead, %", lambda ledger: ledger.percent(ledger.overhead_clocks)),
    ("asleep, %", lambda ledger: ledger.percent(ledger.sleep_clocks)),
    ("descheduled, %", lambda ledger: ledger.percent(ledger.away_clocks)),
    ("accounted for, %", lambda ledger: ledger.closed_percent),
)


def cycles_table(results: list[Result]) -> list[Table]:
    """The table; none when no worker forwards."""
    columns = [
        (result.test, ledgers)
        for result in results
        if (ledgers := forwarder_ledgers(result.time_at_load))
    ]
    if not columns:
        return []
    sums = [node_times(ledgers) for _, ledgers in columns]
    rows = [
        *((name, *(clocks(nodes.get(name)) for nodes in sums)) for name in _path_order(sums)),
        (ALL, *(_all_nodes(ledgers) for _, ledgers in columns)),
    ]
    for title, share in _SHARES:
        shares = [[share(ledger) for ledger in ledgers] for _, ledgers in columns]
        if any(value for values in shares for value in values):
            rows.append((title, *(f"{sum(values) / len(values):.1f}" for values in shares)))
    made = table(TITLE, ("node", *(test for test, _ in columns)), rows)
    return [replace(made, block=1, totals=frozenset((ALL,)))]


def _path_order(sums: list[dict[str, NodeTime]]) -> list[str]:
    """Nodes that did something in any test: ports in, what forwards, ports out, drop."""
    ends = {PORT_ENTRANCES[0]: 0, "port-tx": 2, "drop": 3}
    names = sorted(
        dict.fromkeys(name for nodes in sums for name in nodes),
        key=lambda name: next((rank for end, rank in ends.items() if name.startswith(end)), 1),
    )
    return [name for name in names if any(nodes[name].vectors for nodes in sums if name in nodes)]


def clocks(node: NodeTime | None) -> str:
    """Write a node's cycles/packet."""
    if node is not None and node.fused:
        return FUSED
    if node is None or node.clocks_per_packet is None:
        return NONE
    return f"{node.clocks_per_packet:.1f}"


def _all_nodes(ledgers: list[TimeLedger]) -> str:
    """Cycles of all nodes for each packet that entered by a port, or where none has one, at all."""
    spent = sum(cycles_by_node(ledgers).values())
    return f"{spent:.1f}" if spent else NONE
