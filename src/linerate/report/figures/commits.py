"""A figure over commits: points, groups, changes and other machines; and its nodes beneath."""

from collections.abc import Sequence
from statistics import median

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALETTE,
    VERMILLION,
    Plot,
    layout,
    path_order,
    plain,
)
from linerate.results.trend.changes import Change, Trend
from linerate.results.trend.inside import node_cycles, node_names
from linerate.results.trend.series import CYCLES

TITLES = {CYCLES: "Cycles a packet over commits", "received_pps": "Packets a second over commits"}
UNITS = {CYCLES: "cycles a packet", "received_pps": "packets a second"}
#: Names of commits along the axis, at most.
NAMES_MAX = 10
#: Nodes with less than this share of the cycles at their most have no line.
NODE_SHARE = 0.02
#: Lines of nodes, at most.
NODES_MAX = len(PALETTE)


def picture(number: int, trend: Trend) -> Figure:
    """The medians of the commits' trials, from the least to the most of them."""
    series = trend.series
    values = series.values
    trials = [one.values(series.figure) for one in series.points]
    names = [one.called for one in series.points]
    template = f"%{{customdata}}<br>%{{y:.5g}} {UNITS[series.figure]}<extra></extra>"
    points = {
        "type": "scatter",
        "mode": "markers",
        "name": "commit",
        "x": list(range(len(values))),
        "y": list(values),
        "customdata": [plain(name) for name in names],
        "hovertemplate": template,
        "marker": {"color": BLUE, "size": 7},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [max(one) - value for one, value in zip(trials, values, strict=True)],
            "arrayminus": [value - min(one) for one, value in zip(trials, values, strict=True)],
            "color": BLUE,
        },
    }
    changes = [_change(one) for one in trend.changes]
    machines = [_rule(one.at, GREY, "dot") for one in trend.machines]
    notes = [_label(one) for one in trend.changes]
    others = [
        {**_above(one.at, "; ".join(one.stamps)), "y": 0, "yanchor": "bottom"}
        for one in trend.machines
    ]
    return Figure(
        name=f"trend-{number}",
        title=TITLES[series.figure],
        alt=_in_words(trend),
        plot={
            "data": [points, _groups(trend)],
            "layout": layout(
                320,
                margin={"l": 60, "r": 16, "t": 34, "b": 56},
                xaxis=axis(names),
                yaxis={
                    "title": {"text": UNITS[series.figure]},
                    "exponentformat": "SI",
                    "automargin": True,
                },
                shapes=[*changes, *machines],
                annotations=[*notes, *others],
            ),
        },
        note="Medians of each commit's trials; thin lines reach from the least to the most of "
        "them." + " Dotted: another machine from there on." * bool(trend.machines),
        legend=(
            ("median of a commit", Style(BLUE)),
            ("median of a group", Style(ORANGE)),
            *((("slower", Style(VERMILLION)),) if any(one.slower for one in trend.changes) else ()),
            *((("faster", Style(GREEN)),) if any(not one.slower for one in trend.changes) else ()),
        ),
    )


def nodes(number: int, trend: Trend) -> list[Figure]:
    """A line for each node that takes its share; none where nodes are not known."""
    points = trend.series.points
    if trend.series.figure != CYCLES or not node_names(points):
        return []
    lines = {
        node: [median(values) if (values := node_cycles(one, node)) else None for one in points]
        for node in path_order(node_names(points))
    }
    least = NODE_SHARE * median(trend.series.values)
    tops = {node: max(value for value in line if value is not None) for node, line in lines.items()}
    changed = {part.name for one in trend.changes for part in one.inside.nodes[:1]}
    ranked = sorted(tops, key=lambda node: (node not in changed, -tops[node]))
    kept = [one for one in ranked if tops[one] >= least][:NODES_MAX]
    shown = [node for node in lines if node in kept]
    names = [one.called for one in points]
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(node),
            "x": list(range(len(points))),
            "y": lines[node],
            "customdata": [plain(name) for name in names],
            "hovertemplate": f"{plain(node)}<br>%{{customdata}}: %{{y:.4g}} cycles<extra></extra>",
            "line": {"color": PALETTE[at], "width": 3 if node in changed else 1.5},
            "marker": {"size": 4, "color": PALETTE[at]},
        }
        for at, node in enumerate(shown)
    ]
    return [
        Figure(
            name=f"trend-nodes-{number}",
            title="The same by node",
            alt="; ".join(f"{node} up to {tops[node]:.1f} cycles a packet" for node in shown),
            plot={
                "data": data,
                "layout": layout(
                    260,
                    margin={"l": 60, "r": 16, "t": 12, "b": 56},
                    xaxis=axis(names),
                    yaxis={
                        "title": {"text": "cycles a packet"},
                        "rangemode": "tozero",
                        "automargin": True,
                    },
                    shapes=[_change(one) for one in trend.changes],
                ),
            },
            legend=tuple((node, Style(PALETTE[at])) for at, node in enumerate(shown)),
        )
    ]


def axis(names: Sequence[str]) -> Plot:
    """Commits at whole numbers, with the names of some."""
    step = 1 + (len(names) - 1) // NAMES_MAX
    at = list(range(0, len(names), step))
    return {
        "range": [-0.5, len(names) - 0.5],
        "tickvals": at,
        "ticktext": [plain(names[one]) for one in at],
        "showgrid": False,
        "title": {"text": "commits, the newest last"},
    }


def _groups(trend: Trend) -> Plot:
    x: list[float | None] = []
    y: list[float | None] = []
    for one in trend.groups:
        x += [one.start - 0.4, one.end - 0.6, None]
        y += [one.middle, one.middle, None]
    template = "median of a group: %{y:.5g}<extra></extra>"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "group",
        "x": x,
        "y": y,
        "hovertemplate": template,
        "line": {"color": ORANGE, "width": 3},
    }


def _rule(at: int, colour: str, dash: str) -> Plot:
    """A line between two commits."""
    place = {"x0": at - 0.5, "x1": at - 0.5, "y0": 0, "y1": 1}
    look = {"color": colour, "width": 1.5, "dash": dash}
    return {"type": "line", "xref": "x", "yref": "paper", **place, "line": look}


def _change(one: Change) -> Plot:
    return _rule(one.at, VERMILLION if one.slower else GREEN, "dash")


def _label(one: Change) -> Plot:
    return _above(one.at, f"<b>{one.percent:+.1f} %</b>")


def _above(at: int, words: str) -> Plot:
    place = {"x": at - 0.5, "y": 1, "yref": "paper", "yanchor": "bottom"}
    return {"text": words, **place, "showarrow": False}


def _in_words(trend: Trend) -> str:
    values = trend.series.values
    ends = f"from {values[0]:.5g} to {values[-1]:.5g} {UNITS[trend.series.figure]}"
    changes = ", ".join(f"{one.percent:+.1f} % from {one.after.called} on" for one in trend.changes)
    return f"{len(values)} commits, {ends}; {changes or 'no change'}."
