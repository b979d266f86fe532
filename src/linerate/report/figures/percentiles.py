"""Latency as pictures: percentiles as HdrHistogram plots have them, and over offered load."""

from linerate.base import histogram
from linerate.model.measurement.latency import LatencyFigures, LatencyLoads
from linerate.report import latency
from linerate.report.document import Figure, Style
from linerate.report.figures.picture import GREY, PALETTE, Plot, layout, plain
from linerate.results.store import Result, Run

#: Where the axis of percentiles is labelled: 1 / (1 - share).
TICKS = {1: "0", 2: "p50", 10: "p90", 100: "p99", 1000: "p99.9", 10**4: "p99.99", 10**5: "p99.999"}
NS_PER_US = 1000.0
#: Lines of one picture; more hide each other.
LINES_MAX = 6
#: Percentiles drawn over offered load.
OVER_LOAD = (("p50", "p50_us"), ("p99", "p99_us"), ("p99.9", "p99_9_us"))

#: A line's name, and the histogram.
Line = tuple[str, LatencyFigures]


def points(run: Run, loads: LatencyLoads) -> list[tuple[float, float, Result]]:
    """Percent of the highest load, packets a second, and the trial."""
    by_trial = {result.trial: result for result in run.results}
    return [
        (point.percent, point.pps, by_trial[point.trial])
        for point in loads.points
        if point.trial in by_trial
    ]


def headline(run: Run, loads: LatencyLoads) -> str:
    """The lowest and the highest load in one sentence."""
    valid = [point for point in points(run, loads) if point[2].valid and point[2].latency]
    if not valid:
        return f"{loads.loadtest}: no load was measured."
    ends = valid[:1] + valid[1:][-1:]
    parts = [
        f"{latency.us(worst(result, 'p50_us'))} µs at p50 and "
        f"{latency.us(worst(result, 'p99_us'))} µs at p99 at {percent:g} % of the load"
        for percent, _, result in ends
    ]
    return f"{loads.loadtest} ({loads.text}): {', '.join(parts)}."


def worst(result: Result, key: str, own: bool = False) -> float | None:
    """Worst of the directions."""
    reported = result.own_latency if own else result.latency
    values = [value for one in reported if (value := getattr(one, key)) is not None]
    return max(values, default=None)


def of_trial(result: Result) -> Figure:
    """Each direction, and the bare link's in grey."""
    lines: list[Line] = [(one.direction, one) for one in result.latency[:LINES_MAX]]
    own = [(f"{latency.WIRE} {one.direction}", one) for one in result.own_latency[:LINES_MAX]]
    return _percentiles(f"latency-{_id(result.test)}", f"{result.test}: percentiles", lines, own)


def over_loads(run: Run, loads: LatencyLoads) -> Figure:
    """The first direction at some of the loads; the bare link at the highest."""
    valid = [point for point in points(run, loads) if point[2].valid and point[2].latency]
    step = max(1, -(-len(valid) // LINES_MAX))
    chosen = valid[::-step][::-1]
    lines: list[Line] = [
        (f"{percent:g} % of the load", result.latency[0]) for percent, _, result in chosen
    ]
    own: list[Line] = [
        (f"{latency.WIRE} at {percent:g} %", result.own_latency[0])
        for percent, _, result in chosen[-1:]
        if result.own_latency
    ]
    title = f"{loads.loadtest}: percentiles"
    if chosen:
        title += f", {chosen[-1][2].latency[0].direction}"
    return _percentiles(f"percentiles-{_id(loads.loadtest)}", title, lines, own)


def _percentiles(name: str, title: str, lines: list[Line], own: list[Line]) -> Figure:
    # Grey is the bare link's.
    colours = [colour for colour in PALETTE if colour != GREY]
    looks = [Style(colours[at % len(colours)]) for at in range(len(lines))]
    drawn = [
        (text, one, look) for (text, one), look in zip(lines, looks, strict=True) if one.histogram
    ]
    drawn += [(text, one, Style(GREY)) for text, one in own if one.histogram]
    if not drawn:
        return Figure(name, title, "", None, "No frame was timed.")
    return Figure(
        name=name,
        title=title,
        alt="; ".join(
            f"{text}: p50 {latency.us(one.p50_us)}, p99 {latency.us(one.p99_us)}, "
            f"maximum {latency.us(one.max_us)} µs"
            for text, one, _ in drawn
        ),
        plot={
            "data": [
                _curve(text, one, look, one in [o for _, o in own]) for text, one, look in drawn
            ],
            "layout": layout(
                400,
                xaxis={
                    "type": "log",
                    "tickvals": list(TICKS),
                    "ticktext": list(TICKS.values()),
                    "title": {"text": "percentile"},
                },
                yaxis={
                    "type": "log",
                    "title": {"text": "µs"},
                    "automargin": True,
                    "dtick": 1,
                },
            ),
        },
        note="Latency that this share of frames did not exceed; grey: the bare link.",
        legend=tuple((text, look) for text, _, look in drawn),
    )


def _curve(text: str, one: LatencyFigures, look: Style, dashed: bool) -> Plot:
    points = _steps(histogram.curve(histogram.from_text(one.histogram)))
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plain(text),
        "x": [float(f"{1 / (1 - share):.5g}") for share, _ in points],
        "y": [float(f"{value / NS_PER_US:.4g}") for _, value in points],
        "line": {"color": look.colour, "shape": "hv", "dash": "dot" if dashed else "solid"},
        "customdata": [f"{100 * share:.6g}" for share, _ in points],
        "hovertemplate": f"{plain(text)}<br>p%{{customdata}}: %{{y:.2f}} µs<extra></extra>",
    }


def _steps(points: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Where the line rises, and its end: what a line of steps is drawn from."""
    return [
        point
        for at, point in enumerate(points)
        if at in (0, len(points) - 1) or point[1] != points[at - 1][1]
    ]


def over_load(run: Run, loads: LatencyLoads) -> Figure:
    """Percentiles of the slower direction over the load, and the bare link's median."""
    name, title = f"over-load-{_id(loads.loadtest)}", f"{loads.loadtest}: latency over offered load"
    valid = [point for point in points(run, loads) if point[2].valid and point[2].latency]
    if not valid:
        return Figure(name, title, "", None, "No load has a valid result.")
    kinds = [(text, key, False, Style(PALETTE[at])) for at, (text, key) in enumerate(OVER_LOAD)]
    kinds.append((f"{latency.WIRE}, p50", "p50_us", True, Style(GREY)))
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(text),
            "x": [pps / 1e6 for _, pps, _ in valid],
            "y": [worst(result, key, own) for _, _, result in valid],
            "line": {"color": look.colour, "dash": "dot" if own else "solid"},
            "customdata": [f"{percent:g}" for percent, _, _ in valid],
            "hovertemplate": f"{plain(text)} at %{{customdata}} %: %{{y:.2f}} µs<extra></extra>",
        }
        for text, key, own, look in kinds
    ]
    return Figure(
        name=name,
        title=title,
        alt=headline(run, loads),
        plot={
            "data": data,
            "layout": layout(
                380,
                xaxis={"title": {"text": "Mpps offered"}, "rangemode": "tozero"},
                yaxis={
                    "type": "log",
                    "title": {"text": "µs"},
                    "automargin": True,
                    "dtick": 1,
                },
            ),
        },
        note="Of two directions the slower; grey: the bare link at the same load.",
        legend=tuple((text, look) for text, _, _, look in kinds),
    )


def _id(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)
