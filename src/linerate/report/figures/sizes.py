"""% of line over frame size: a line for each configuration."""

from collections.abc import Iterable

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import PALETTE, Plot, layout, plain
from linerate.results.store import Run
from linerate.results.sweep_points import Point, points

NAME = "sizes"
TITLE = "Percent of line over frame size"
#: Dashes of lines once the colours are used up.
DASHES = ("solid", "dash", "dot", "dashdot")
NOTE = (
    "Medians of repeated trials; thin lines reach from the slowest to the fastest. "
    "Sizes count the FCS; the line carries 20 bytes more for each frame. "
    "The axis of sizes is logarithmic."
)


def picture(run: Run) -> Figure:
    """Valid points of a sweep."""
    lines = lines_of(run)
    if not lines:
        return Figure(NAME, TITLE, "", None, "No trial has a valid result.")
    data = [_trace(name, number, mine) for number, (name, mine) in enumerate(lines.items())]
    words = [
        f"{name} at {point.frame_bytes} bytes {point.percent:.1f}"
        for name, mine in lines.items()
        for point in (mine[0], mine[-1])
    ]
    return Figure(
        name=NAME,
        title=TITLE,
        alt="Percent of line: " + ", ".join(dict.fromkeys(words)) + ".",
        plot={
            "data": data,
            "layout": layout(
                420,
                xaxis=size_axis(point.frame_bytes for mine in lines.values() for point in mine),
                yaxis={"title": {"text": "% of line"}, "range": [0, 104], "automargin": True},
            ),
        },
        note=NOTE,
        legend=tuple(
            (name, Style(PALETTE[number % len(PALETTE)], "dash" * (number >= len(PALETTE))))
            for number, name in enumerate(lines)
        ),
    )


def size_axis(sizes: Iterable[float]) -> Plot:
    """Frame sizes on a logarithmic axis: most tests are of small ones."""
    known = sorted(set(sizes))
    return {
        "title": {"text": "frame size, bytes"},
        "type": "log",
        "tickvals": known,
        "ticktext": [f"{size:g}" for size in known],
    }


def lines_of(run: Run) -> dict[str, list[Point]]:
    """By configuration, its valid points, the smallest frames first."""
    assert run.sweep is not None
    valid = [point for point in points(run).values() if point.percent is not None]
    return {
        name: mine
        for name in run.sweep.configurations
        if (
            mine := sorted(
                (point for point in valid if point.configuration == name),
                key=lambda point: point.frame_bytes,
            )
        )
    }


def _trace(name: str, number: int, mine: list[Point]) -> Plot:
    colour = PALETTE[number % len(PALETTE)]
    middles = [point.percent or 0.0 for point in mine]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(name),
        "x": [point.frame_bytes for point in mine],
        "y": middles,
        "line": {"color": colour, "dash": DASHES[number // len(PALETTE) % len(DASHES)]},
        "marker": {"color": colour},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [max(point.percents) - (point.percent or 0.0) for point in mine],
            "arrayminus": [(point.percent or 0.0) - min(point.percents) for point in mine],
            "thickness": 1,
            "color": colour,
        },
        "customdata": [f"{point.pps:,.0f}" for point in mine],
        "hovertemplate": f"{plain(name)}<br>%{{x}} bytes: %{{y:.1f}} % of line"
        "<br>%{customdata} frames/s<extra></extra>",
    }
