"""A picture: data and layout of a plot, its main figures in words, and a table of the rest."""

import html
from collections.abc import Iterable
from typing import Any

from linerate.model.ledger import ENTRANCES, forwarder_ledgers
from linerate.report.document import Style
from linerate.results.store import Result

Plot = dict[str, Any]

#: Okabe and Ito's colours, which all readers can distinguish (https://jfly.uni-koeln.de/color/);
#: vermillion is kept for losses.
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#999999"
PALETTE = (BLUE, ORANGE, PURPLE, GREEN, SKY, GREY, YELLOW)
#: Patterns of the next round once the colours are used up.
PATTERNS = ("", "/", ".", "x", "-")

#: Nodes by which packets leave a worker (docs/telemetry.md).
EXITS = ("port-tx", "tester-tx")
DROP = "drop"


#: By what limits: the line; the tester; the CPU; queues; the card and its slot; what was set up.
LIMIT_COLOURS = {
    "line": GREEN,
    "none": GREEN,
    "tester": SKY,
    **dict.fromkeys(("worker-cpu", "cache-contention", "syscall", "lock"), ORANGE),
    **dict.fromkeys(
        ("rx-ring", "tx-ring", "handoff-ring", "single-rx-queue", "rss-mpls", "rss-imbalance"), BLUE
    ),
    **dict.fromkeys(
        ("pcie", "card-pps", "flow-offload", "link", "shaper", "shared-direction"), PURPLE
    ),
    **dict.fromkeys(("descheduled", "configuration"), YELLOW),
    **dict.fromkeys(("unexplained", "unknown", "invalid"), VERMILLION),
}
#: Bars of suspect results.
SUSPECT_PATTERN = "/"

#: Nodes that took no cycles of their own.
OTHER = Style(GREY)


def plain(text: str) -> str:
    """Text for a plot, which reads tags in it."""
    return html.escape(text)


def node_styles(results: Iterable[Result]) -> dict[str, Style]:
    """One look for each node that took a forwarder's cycles, in path order."""
    names: dict[str, None] = {}
    for result in results:
        for ledger in forwarder_ledgers(result.time_at_load):
            names |= dict.fromkeys(
                name for name, node in ledger.nodes.items() if node.clocks and node.vectors
            )
    styles = {
        name: Style(PALETTE[index % len(PALETTE)], PATTERNS[index // len(PALETTE) % len(PATTERNS)])
        for index, name in enumerate(_ports_first(names))
    }
    looks = styles | {DROP: Style(VERMILLION)}
    return {name: looks[name] for name in path_order(names)}


def _ports_first(names: Iterable[str]) -> list[str]:
    """Ports have lines too, which take the colours that stand out most."""
    ports = (*ENTRANCES, *EXITS)
    return sorted(
        (name for name in path_order(names) if name != DROP),
        key=lambda name: not name.startswith(ports),
    )


def path_order(names: Iterable[str]) -> list[str]:
    """Ports in, what forwards, ports out, drop."""

    def rank(name: str) -> int:
        if name.startswith(ENTRANCES):
            return 0
        if name.startswith(EXITS):
            return 2
        return 3 if name == DROP else 1

    return sorted(names, key=rank)


def layout(height: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (what a layout takes)
    """Common layout of all figures; colours of text and lines are the page's (page.css)."""
    return {
        "height": height,
        "autosize": True,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 13},
        "margin": {"l": 56, "r": 12, "t": 28, "b": 40},
        "hoverlabel": {"align": "left", "namelength": -1},
        "showlegend": False,
    } | more


def percent(part: float, whole: float) -> str:
    """A share, with digits enough to tell little from nothing."""
    if not whole:
        return "–"
    share = 100 * part / whole
    if share and abs(share) < 0.01:
        return "<0.01 %"
    return f"{share:.2f} %"
