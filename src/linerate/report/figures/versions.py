"""Versions of a device in one test: a bar each, from the least to the most of its trials."""

from collections.abc import Sequence

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import BLUE, GREEN, GREY, PALETTE, VERMILLION, layout, plain
from linerate.results.trend.series import CYCLES, RATE, FigureName
from linerate.results.versions import Judgement, Test

UNITS = {RATE: "Mpps", CYCLES: "cycles a packet"}
SCALES = {RATE: 1e6, CYCLES: 1.0}
COLOURS: dict[Judgement | None, str] = {
    None: GREY,
    "same": BLUE,
    "unknown": BLUE,
    "faster": GREEN,
    "slower": VERMILLION,
}
ROW_HEIGHT = 26


def bars(name: str, title: str, test: Test, versions: Sequence[str], figure: FigureName) -> Figure:
    """Medians, coloured by how they compare with the first version's."""
    shown = [one for one in versions if one in test.cells and test.cells[one].values(figure)]
    values = {one: [v / SCALES[figure] for v in test.cells[one].values(figure)] for one in shown}
    middles = {one: (test.cells[one].middle(figure) or 0.0) / SCALES[figure] for one in shown}
    judged = {
        one: against.judgement if (against := test.against.get((one, figure))) else None
        for one in shown
    }
    texts = ", ".join(f"{one} {middles[one]:.4g}" for one in shown)
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [plain(one) for one in shown],
        "x": [middles[one] for one in shown],
        "text": [f"{middles[one]:.4g}" for one in shown],
        "hovertemplate": f"%{{y}}: %{{x:.5g}} {UNITS[figure]}<extra></extra>",
        "marker": {"color": [COLOURS[judged[one]] for one in shown]},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [max(values[one]) - middles[one] for one in shown],
            "arrayminus": [middles[one] - min(values[one]) for one in shown],
        },
    }
    return Figure(
        name=name,
        title=title,
        alt=f"{UNITS[figure]}: {texts}.",
        plot={
            "data": [bar],
            "layout": layout(
                74 + ROW_HEIGHT * len(shown),
                bargap=0.3,
                margin={"l": 8, "r": 12, "t": 8, "b": 44},
                xaxis={"title": {"text": UNITS[figure]}, "rangemode": "tozero"},
                yaxis={"type": "category", "autorange": "reversed", "automargin": True},
            ),
        }
        if shown
        else None,
        note="Medians; thin lines reach from the least to the most of the trials.",
        legend=_legend({*judged.values()}),
    )


def _legend(kinds: set[Judgement | None]) -> tuple[tuple[str, Style], ...]:
    names: tuple[tuple[str, Judgement | None], ...] = (
        ("the first", None),
        ("no more than noise", "same"),
        ("too few trials to tell", "unknown"),
        ("faster", "faster"),
        ("slower", "slower"),
    )
    return tuple((name, Style(COLOURS[kind])) for name, kind in names if kind in kinds)


def nodes(name: str, test: Test, versions: Sequence[str], known: Sequence[str]) -> Figure:
    """Cycles of each node a packet, a stacked bar for each version."""
    shown = [one for one in versions if one in test.cells and node_middles(test, one)]
    middles = {one: node_middles(test, one) for one in shown}
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": plain(node),
            "y": [plain(one) for one in shown],
            "x": [middles[one].get(node, 0.0) for one in shown],
            "hovertemplate": f"{plain(node)}, %{{y}}: %{{x:.4g}} cycles<extra></extra>",
            "marker": Style(PALETTE[at % len(PALETTE)]).bar,
        }
        for at, node in enumerate(known)
    ]
    return Figure(
        name=name,
        title="Cycles a packet by node",
        alt="; ".join(f"{one}: {sum(middles[one].values()):.0f} cycles" for one in shown),
        plot={
            "data": data,
            "layout": layout(
                74 + ROW_HEIGHT * len(shown),
                barmode="stack",
                bargap=0.3,
                margin={"l": 8, "r": 12, "t": 8, "b": 44},
                xaxis={"title": {"text": "cycles a packet"}, "rangemode": "tozero"},
                yaxis={"type": "category", "autorange": "reversed", "automargin": True},
            ),
        }
        if shown and known
        else None,
        legend=tuple((node, Style(PALETTE[at % len(PALETTE)])) for at, node in enumerate(known)),
    )


def node_middles(test: Test, version: str) -> dict[str, float]:
    """Median of each node's cycles over the trials of a version."""
    trials = [one for one in test.cells[version].trials if one.nodes]
    names = dict.fromkeys(name for one in trials for name in one.nodes)
    return {
        name: sorted(one.nodes.get(name, 0.0) for one in trials)[(len(trials) - 1) // 2]
        for name in names
    }
