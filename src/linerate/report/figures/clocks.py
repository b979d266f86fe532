"""Cycles a packet, by node: stacked bars over the tests, a panel for each forwarding worker."""

from collections.abc import Iterable
from statistics import median
from typing import Any

from linerate.model.ledger import TimeLedger, forwarder_ledgers
from linerate.report.cycles import FUSED, clocks
from linerate.report.document import NONE, Figure, Style, Table, table
from linerate.report.figures.facets import axis_suffix, stacked
from linerate.report.figures.picture import entered, path_order, plain
from linerate.results.store import Result

NAME = "clocks"
TITLE = "Cycles a packet"
#: Bars higher than this multiple of the median are cut off.
CUT = 2.5
#: For the figure above a bar.
ROOM = 1.12


def picture(results: list[Result], styles: dict[str, Style]) -> Figure:
    """Valid results only: others mean nothing."""
    ledgers = {
        (ledger.worker, result.test): ledger
        for result in results
        for ledger in forwarder_ledgers(result.time_at_load)
        if entered(ledger.nodes)
    }
    if not ledgers:
        return Figure(NAME, TITLE, "", None, "No forwarder of ours ran: its cycles are not known.")
    workers = list(dict.fromkeys(worker for worker, _ in ledgers))
    tests = [result.test for result in results]
    traces = [
        {
            "panel": panel,
            "name": plain(node),
            "x": tests,
            "y": [_share(ledgers.get((worker, test)), node) for test in tests],
            "customdata": [_hover(ledgers.get((worker, test)), node) for test in tests],
            "hovertemplate": "%{x}: %{customdata}<extra></extra>",
            "marker": style.bar,
        }
        for panel, worker in enumerate(workers)
        for node, style in styles.items()
        if any(_share(ledgers.get((worker, test)), node) for test in tests)
    ]
    end = _end([_total(ledger) for ledger in ledgers.values()])
    axis = {"title": {"text": "cycles a packet"}, "range": [0, ROOM * end]}
    figure = stacked(workers, traces, axis, tests)
    figure["layout"]["annotations"] += [
        _height(workers.index(worker), test, ledger, end)
        for (worker, test), ledger in ledgers.items()
    ]
    return Figure(
        name=NAME,
        title=TITLE,
        alt=_in_words(ledgers),
        plot=figure,
        note=(
            "Cycles of each node over the packets that came into the worker, while packets were "
            "sent; a bar's height is what a packet costs, and those with an arrow go on. "
            "A fused node's cycles are in the node before it."
        ),
        legend=tuple(styles.items()),
        table=_table(ledgers),
    )


def _end(totals: list[float]) -> float:
    """End of the axis: a test of few packets has many cycles each, and hid the others."""
    return min(max(totals), CUT * median(totals)) or 1.0


def _height(panel: int, test: str, ledger: TimeLedger, end: float) -> dict[str, Any]:
    total = _total(ledger)
    return {
        "text": f"{total:.0f}" + " ↑" * (total > end),
        "x": test,
        "y": total if total <= end else ROOM * end,
        "xref": f"x{axis_suffix(panel)}",
        "yref": f"y{axis_suffix(panel)}",
        "yanchor": "bottom",
        "showarrow": False,
    }


def _share(ledger: TimeLedger | None, node: str) -> float | None:
    if ledger is None or node not in ledger.nodes:
        return None
    return ledger.nodes[node].clocks / entered(ledger.nodes)


def _hover(ledger: TimeLedger | None, node: str) -> str:
    if ledger is None or node not in ledger.nodes:
        return ""
    spent = ledger.nodes[node]
    own = clocks(spent)
    return (
        f"{plain(node)}<br>{spent.clocks / entered(ledger.nodes):.1f} cycles of each packet's"
        f"<br>{own} for each of its own {spent.vectors:,} packets"
        f"<br>{spent.vectors_per_call or 0:.1f} packets a call"
    )


def _total(ledger: TimeLedger) -> float:
    return ledger.node_clocks / entered(ledger.nodes)


def _in_words(ledgers: dict[tuple[str, str], TimeLedger]) -> str:
    parts = [
        f"{test} on {worker} {_total(ledger):.1f}" for (worker, test), ledger in ledgers.items()
    ]
    return "Cycles a packet of all nodes: " + ", ".join(parts) + "."


def _table(ledgers: dict[tuple[str, str], TimeLedger]) -> Table:
    workers = list(dict.fromkeys(worker for worker, _ in ledgers))
    tests = list(dict.fromkeys(test for _, test in ledgers))
    rows = []
    for worker in workers:
        mine = [ledgers.get((worker, test)) for test in tests]
        rows += [
            (worker, node, *(_cell(ledger, node) for ledger in mine))
            for node in _worked(ledger for ledger in mine if ledger is not None)
        ]
        totals = (f"{_total(ledger):.1f}" if ledger else NONE for ledger in mine)
        rows.append((worker, "all nodes", *totals))
    caption = "Cycles of each node over the packets that came in"
    return table(caption, ("worker", "node", *tests), tuple(rows), frozenset({0, 1}))


def _worked(ledgers: Iterable[TimeLedger]) -> list[str]:
    """Nodes that did something, fused ones too."""
    return path_order(
        dict.fromkeys(
            name for ledger in ledgers for name, node in ledger.nodes.items() if node.vectors
        )
    )


def _cell(ledger: TimeLedger | None, node: str) -> str:
    spent = ledger.nodes.get(node) if ledger else None
    if ledger is None or spent is None or not spent.vectors:
        return NONE
    return FUSED if spent.fused else f"{spent.clocks / entered(ledger.nodes):.1f}"
