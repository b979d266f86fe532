"""Power over load: watts of each trial, and packets a second for each watt."""

import re
from collections.abc import Sequence

from linerate.model.power import Estimate
from linerate.report.document import Figure, Style
from linerate.report.figures.picture import BLUE, ORANGE, layout, plain
from linerate.report.power import table
from linerate.results.store import Result

WATTS, EFFICIENCY = "W under load", "Mpps/W"


def pictures(results: Sequence[Result], name: str = "power-loads") -> list[Figure]:
    """The picture, where two loads have power."""
    points = [
        (result.received_pps / 1e6, result.power.watts, result.power.mpps_per_watt, result.test)
        for result in sorted(results, key=lambda result: result.received_pps)
        if result.valid
        and result.power is not None
        and result.power.watts is not None
        and result.power.mpps_per_watt is not None
    ]
    if len(points) < 2:
        return []
    # Between tests of different traffic there is nothing.
    one_traffic = len({re.split("[.@]", point[3])[0] for point in points}) == 1
    mode = "lines+markers" if one_traffic else "markers"
    mpps = [point[0] for point in points]
    names = [plain(point[3]) for point in points]
    watts, efficiency = [point[1] for point in points], [point[2] for point in points]
    idle = [one.power.idle_watts for one in results if one.power and one.power.idle_watts]
    rest = min((one.value for one in idle), default=None)
    shapes = [] if rest is None else [_line(rest)]
    least, most = min(watts, key=_value), max(watts, key=_value)
    return [
        Figure(
            name=name,
            title="Power over load",
            alt=(
                f"From {least.value:.1f} W at the least to {most.value:.1f} W; at most "
                f"{max(map(_value, efficiency)):.4g} Mpps/W"
                + ("" if rest is None else f"; {rest:.1f} W idle")
            ),
            plot={
                "data": [
                    _points(WATTS, mpps, watts, names, BLUE, "y", mode),
                    _points(EFFICIENCY, mpps, efficiency, names, ORANGE, "y2", mode),
                ],
                "layout": layout(
                    440,
                    xaxis={"title": {"text": "Mpps received"}, "rangemode": "tozero"},
                    yaxis={"title": {"text": "W"}, "domain": [0.54, 1], "automargin": True},
                    yaxis2={
                        "title": {"text": "Mpps/W"},
                        "domain": [0, 0.46],
                        "rangemode": "tozero",
                        "automargin": True,
                    },
                    shapes=shapes,
                ),
            },
            note="" if rest is None else "Dotted: power without load.",
            table=table(results).untitled,
            legend=((WATTS, Style(BLUE)), (EFFICIENCY, Style(ORANGE))),
        )
    ]


def _value(estimate: Estimate) -> float:
    return estimate.value


def _points(
    name: str,
    mpps: list[float],
    values: list[Estimate],
    names: list[str],
    colour: str,
    axis: str,
    mode: str,
) -> dict[str, object]:
    return {
        "type": "scatter",
        "mode": mode,
        "name": name,
        "x": mpps,
        "y": [one.value for one in values],
        "error_y": {"type": "data", "array": [one.plus_minus for one in values]},
        "yaxis": axis,
        "line": {"color": colour},
        "marker": {"color": colour, "size": 9},
        "customdata": names,
        "hovertemplate": f"%{{customdata}}: %{{y:.4g}} {name}<br>%{{x:.4f}} Mpps<extra></extra>",
    }


def _line(watts: float) -> dict[str, object]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": watts,
        "y1": watts,
        "line": {"dash": "dot", "width": 1, "color": BLUE},
    }
