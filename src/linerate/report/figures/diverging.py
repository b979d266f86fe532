"""Differences of two devices as bars to both sides: cycles by node, losses by place."""

from collections.abc import Callable, Sequence

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import GREEN, VERMILLION, layout, plain
from linerate.results.compare import Change, Pair

#: Bars of one picture, the largest differences of each test first; the tables have more.
BARS_MAX = 16
ROW_HEIGHT = 26


def of_costs(number: int, pair: Pair) -> Figure:
    """Cycles a packet, by node."""
    return _bars(
        f"more-cycles-{number}",
        "More and fewer cycles, by node",
        "cycles a packet",
        pair,
        pair.clocks,
    )


def of_losses(number: int, pair: Pair) -> Figure:
    """Packets lost, by place."""
    unit = "per cent of the packets sent"
    return _bars(
        f"more-losses-{number}", "More and fewer losses, by place", unit, pair, pair.losses
    )


def _bars(name: str, title: str, unit: str, pair: Pair, changes: Sequence[Change]) -> Figure:
    chosen = sorted(changes, key=lambda one: -abs(one.by))[:BARS_MAX]
    if not chosen:
        return Figure(name, title, "", None)
    # In the order of the tests, as the tables have them.
    rows = [one for one in changes if one in chosen]
    kinds: dict[str, tuple[str, Callable[[Change], bool]]] = {
        f"{pair.other.called} has more": (VERMILLION, lambda one: one.by > 0),
        f"{pair.other.called} has less": (GREEN, lambda one: one.by < 0),
    }
    shown = {kind: look for kind, look in kinds.items() if any(map(look[1], rows))}
    most = max(abs(one.by) for one in rows)
    return Figure(
        name=name,
        title=title,
        alt="; ".join(f"{one.test} {one.name} {one.by:+.2f}" for one in rows) + f" {unit}.",
        plot={
            "data": [
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": plain(kind),
                    "y": [_label(one) for one in rows],
                    "x": [one.by if holds(one) else None for one in rows],
                    "text": [f"{one.by:+.2f}" if holds(one) else "" for one in rows],
                    "customdata": [f"{one.base:.2f} → {one.other:.2f}" for one in rows],
                    "hovertemplate": "%{y}: %{customdata}<extra></extra>",
                    "marker": Style(colour).bar,
                }
                for kind, (colour, holds) in shown.items()
            ],
            "layout": layout(
                70 + ROW_HEIGHT * len(rows),
                barmode="stack",
                bargap=0.3,
                margin={"l": 8, "r": 12, "t": 8, "b": 44},
                xaxis={"title": {"text": unit}, "range": [-1.1 * most, 1.1 * most]},
                yaxis={"type": "category", "autorange": "reversed", "automargin": True},
            ),
        },
        note=f"The {BARS_MAX} largest of {len(changes)}." if len(changes) > BARS_MAX else "",
        legend=tuple((kind, Style(colour)) for kind, (colour, _) in shown.items()),
    )


def _label(one: Change) -> str:
    return f"<b>{plain(one.test)}</b> {plain(one.name)}"
