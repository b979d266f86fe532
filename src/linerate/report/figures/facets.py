"""Bars over the tests, one panel for each worker, beneath one another."""

from typing import Any

from linerate.report.figures.picture import Plot, layout, plain

PANEL_HEIGHT = 250
#: A bar's share of the room that each test has.
BAR_WIDTH = 0.65
#: Between panels, for the worker's name, the tests' names, what stands above bars; pixels.
GAP = 80
TOP = 46
BOTTOM = 34


def stacked(
    workers: list[str], traces: list[dict[str, Any]], axis: dict[str, Any], tests: list[str]
) -> Plot:
    """Stack bars; a trace says by `panel` which worker's it is. `axis` is of each panel."""
    count = len(workers)
    inner = count * PANEL_HEIGHT + (count - 1) * GAP
    axes: dict[str, Any] = {}
    titles = []
    for number, worker in enumerate(workers):
        suffix = axis_suffix(number)
        top = 1 - number * (PANEL_HEIGHT + GAP) / inner
        bottom = top - PANEL_HEIGHT / inner
        axes[f"yaxis{suffix}"] = axis | {"domain": [max(bottom, 0.0), top], "automargin": True}
        axes[f"xaxis{suffix}"] = {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": tests,
            "range": [-0.5, len(tests) - 0.5],
            "anchor": f"y{suffix}",
        }
        titles.append(
            {
                "text": f"<b>{plain(worker)}</b>",
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "y": top,
                "yanchor": "bottom",
                "xanchor": "left",
                "yshift": 22,
                "showarrow": False,
            }
        )
    return {
        "data": [_in_panel(trace) for trace in traces],
        "layout": layout(
            inner + TOP + BOTTOM,
            barmode="stack",
            bargap=1 - BAR_WIDTH,
            annotations=titles,
            margin={"l": 60, "r": 12, "t": TOP, "b": BOTTOM},
            **axes,
        ),
    }


def _in_panel(trace: dict[str, Any]) -> dict[str, Any]:
    suffix = axis_suffix(trace["panel"])
    own = {key: value for key, value in trace.items() if key != "panel"}
    return {"type": "bar", **own, "xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}


def axis_suffix(panel: int) -> str:
    """Plotly's axes are x, x2, x3 and so on."""
    return "" if panel == 0 else str(panel + 1)
