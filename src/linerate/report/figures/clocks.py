"""Cycles a packet, by node: stacked bars over the tests, a panel for each forwarding worker."""

from collections.abc import Iterable
from statistics import median
from typing import Any

from linerate.model.ledger import TimeLedger, entered, forwarder_ledgers
from linerate.report.cycles import FUSED, clocks
from linerate.report.document import NONE, Figure, Style, Table, table
from linerate.report.figures.facets import BAR_WIDTH, axis_suffix, stacked
from linerate.report.figures.picture import path_order, plain
from linerate.results.store import Result

NAME = "clocks"
TITLE = "Cycles a packet"
#: Bars higher than this multiple of the median are cut: they show their composition, not their
#: height.
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
    end = _end([_total(ledger) for ledger in ledgers.values()])
    traces = [
        {
            "panel": panel,
            "name": plain(node),
            "x": tests,
            "y": [_drawn(ledgers.get((worker, test)), node, end) for test in tests],
            "customdata": [_hover(ledgers.get((worker, test)), node) for test in tests],
            "hovertemplate": "%{x}: %{customdata}<extra></extra>",
            "marker": style.bar,
        }
        for panel, worker in enumerate(workers)
        for node, style in styles.items()
        if any(_share(ledgers.get((worker, test)), node) for test in tests)
    ]
    axis = {"title": {"text": "cycles a packet"}, "range": [0, ROOM * end]}
    figure = stacked(workers, traces, axis, tests)
    figure["layout"]["annotations"] += [
        _height(workers.index(worker), test, ledger, end)
        for (worker, test), ledger in ledgers.items()
    ]
    figure["layout"]["shapes"] = [
        _break(workers.index(worker), tests.index(test), end)
        for (worker, test), ledger in ledgers.items()
        if _total(ledger) > end
    ]
    return Figure(
        name=NAME,
        title=TITLE,
        alt=_in_words(ledgers),
        plot=figure,
        note=_note(ledgers, bool(figure["layout"]["shapes"])),
        legend=tuple(styles.items()),
        table=_table(ledgers),
    )


def _end(totals: list[float]) -> float:
    """End of the axis: a test of few packets has many cycles each, and hid the others."""
    return min(max(totals), CUT * median(totals)) or 1.0


def _height(panel: int, test: str, ledger: TimeLedger, end: float) -> dict[str, Any]:
    total = _total(ledger)
    return {
        "text": f"{total:,.0f}",
        "x": test,
        "y": min(total, end),
        "xref": f"x{axis_suffix(panel)}",
        "yref": f"y{axis_suffix(panel)}",
        "yanchor": "bottom",
        "showarrow": False,
    }


def _drawn(ledger: TimeLedger | None, node: str, end: float) -> float | None:
    """Height of a node's part; those of a cut bar are all shortened by the same factor."""
    share = _share(ledger, node)
    if ledger is None or share is None:
        return None
    return share * min(1.0, end / (_total(ledger) or 1.0))


def _break(panel: int, at: int, end: float) -> dict[str, Any]:
    """Two gaps in a bar that is cut."""
    return {
        "type": "break",
        "x0": at - BAR_WIDTH / 2,
        "x1": at + BAR_WIDTH / 2,
        "y0": end,
        "y1": end,
        "xref": f"x{axis_suffix(panel)}",
        "yref": f"y{axis_suffix(panel)}",
    }


def _note(ledgers: dict[tuple[str, str], TimeLedger], cut: bool) -> str:
    text = [
        "Cycles of each node over the packets that came into the worker, while packets were sent; "
        "a bar's height is what a packet costs."
    ]
    if cut:
        text.append("A bar with a break is higher than drawn; its parts have their shares of it.")
    if any(node.fused for ledger in ledgers.values() for node in ledger.nodes.values()):
        text.append("A fused node's cycles are in the node before it.")
    return " ".join(text)


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
