"""The ceilings of a test as bars, the measured rate as a line across them."""

from linerate.analysis.explain.model import Ceiling, Limit
from linerate.report.document import Figure, table
from linerate.report.figures.picture import BLUE, SKY, VERMILLION, layout, plain
from linerate.report.terminal import mpps
from linerate.results.store import Result

#: Ceilings above this multiple of the line's, or of the rate, would leave the others no room.
NEAR = 2.5


def picture(result: Result) -> Figure:
    """Lowest first; the one that the verdict names stands out."""
    name, title = f"ceilings-{result.test}", "Ceilings, and the rate that was measured"
    every = sorted(result.verdict.ceilings, key=lambda ceiling: ceiling.mpps)
    if not every:
        return Figure(name, title, "", None, "No ceiling is known of this trial.")
    measured = result.received_pps / 1e6
    limits = {result.verdict.limit, *result.verdict.also}
    ceilings = _near(every, measured)
    end = 1.08 * max(measured, *(ceiling.mpps for ceiling in ceilings)) or 1.0
    labels = [f"{plain(c.name)}<br>{_rate(c.mpps)} Mpps" for c in ceilings]
    line = {
        "type": "line",
        "x0": measured,
        "x1": measured,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": VERMILLION, "width": 3},
    }
    mark = {
        "text": f"measured {_rate(measured)} Mpps",
        "x": measured,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right" if measured > end / 2 else "left",
        "showarrow": False,
    }
    return Figure(
        name=name,
        title=title,
        alt=f"Measured {_rate(measured)} Mpps; ceilings: "
        + ", ".join(f"{c.name} {_rate(c.mpps)}" for c in ceilings)
        + " Mpps.",
        plot={
            "data": [
                {
                    "type": "bar",
                    "orientation": "h",
                    "y": labels,
                    "x": [c.mpps for c in ceilings],
                    "customdata": [f"{plain(c.name)}: {_rate(c.mpps)} Mpps" for c in ceilings],
                    "hovertemplate": "%{customdata}<extra></extra>",
                    "marker": {"color": [BLUE if c.limit in limits else SKY for c in ceilings]},
                }
            ],
            "layout": layout(
                80 + 44 * len(ceilings),
                showlegend=False,
                margin={"l": 8, "r": 12, "t": 26, "b": 44},
                xaxis={"title": {"text": "Mpps"}, "range": [0, end]},
                yaxis={"autorange": "reversed", "automargin": True, "type": "category"},
                shapes=[line],
                annotations=[mark],
                bargap=0.35,
            ),
        },
        note=_note(every, ceilings, limits),
        table=table(
            f"{result.test}: ceilings",
            ("ceiling", "Mpps", "how it is known"),
            tuple((c.name, _rate(c.mpps), c.derivation) for c in every),
            frozenset({0, 2}),
        ),
    )


def _rate(value: float) -> str:
    return mpps(value * 1e6) if value < 1000 else f"{value:,.0f}"


def _near(every: list[Ceiling], measured: float) -> list[Ceiling]:
    """Those that could matter on this line, and the lowest."""
    line = [ceiling.mpps for ceiling in every if ceiling.limit == "line"]
    end = NEAR * max([measured, *line])
    return [one for one in every if one.mpps <= end] or every[:1]


def _note(every: list[Ceiling], drawn: list[Ceiling], limits: set[Limit]) -> str:
    text = []
    if any(ceiling.limit in limits for ceiling in drawn):
        text.append("The deeper blue is of what the verdict names.")
    far = [one for one in every if one not in drawn]
    if named := [f"{one.name} {_rate(one.mpps)} Mpps" for one in far if one.limit in limits]:
        text.append(f"Named for other reasons than this ceiling: {', '.join(named)}.")
    if others := [f"{one.name} {_rate(one.mpps)}" for one in far if one.limit not in limits]:
        text.append(f"Too far above to matter: {', '.join(others)} Mpps.")
    return " ".join(text)
