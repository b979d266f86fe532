"""Latency of each test: percentiles on one axis, and the bare link's median."""

from collections.abc import Sequence

from linerate.model.measurement.latency import LatencyFigures
from linerate.report import latency
from linerate.report.document import Figure, Style
from linerate.report.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    Plot,
    layout,
    plain,
)
from linerate.results.store import Result

NAME, TITLE = "latency-tests", "Latency by test"
#: Percentiles that are drawn: field, colour.
KINDS = {
    "p50": ("p50_us", BLUE),
    "p99": ("p99_us", ORANGE),
    "p99.9": ("p99_9_us", PURPLE),
    "maximum": ("max_us", VERMILLION),
}
OWN = f"{latency.WIRE}, p50"
ROW_HEIGHT = 32


def picture(results: Sequence[Result]) -> Figure:
    """Valid results whose frames were timed, the slower direction of each."""
    timed = [result for result in results if result.valid and result.latency]
    if not timed:
        return Figure(NAME, TITLE, "", None)
    kinds = {name: ([_worst(r.latency, key) for r in timed], c) for name, (key, c) in KINDS.items()}
    own = [_worst(result.own_latency, "p50_us") for result in timed]
    drawn = {OWN: (own, GREY)} | kinds if any(own) else kinds
    tests = [plain(result.test) for result in timed]
    return Figure(
        name=NAME,
        title=TITLE,
        alt=_in_words(timed),
        plot={
            "data": [
                _points(name, tests, values, colour) for name, (values, colour) in drawn.items()
            ],
            "layout": layout(
                76 + ROW_HEIGHT * len(timed),
                margin={"l": 8, "r": 12, "t": 8, "b": 44},
                xaxis={"type": "log", "title": {"text": "µs"}},
                yaxis={"type": "category", "autorange": "reversed", "automargin": True},
                shapes=[
                    _range(test, values)
                    for test, values in zip(tests, _columns(kinds), strict=True)
                    if values
                ],
            ),
        },
        note="Of two directions the slower; the scale is logarithmic.",
        legend=tuple((name, Style(colour)) for name, (_, colour) in drawn.items()),
    )


def _columns(kinds: dict[str, tuple[list[float | None], str]]) -> list[list[float]]:
    """By test: what is known of it."""
    columns = zip(*(values for values, _ in kinds.values()), strict=True)
    return [[value for value in column if value] for column in columns]


def _worst(found: Sequence[LatencyFigures], key: str) -> float | None:
    return max((value for one in found if (value := getattr(one, key)) is not None), default=None)


def _range(test: str, values: list[float]) -> Plot:
    """A thin line from the median to the maximum."""
    return {
        "type": "line",
        "x0": min(values),
        "x1": max(values),
        "y0": test,
        "y1": test,
        "layer": "below",
        "line": {"width": 2, "color": GREY},
    }


def _points(name: str, tests: list[str], values: list[float | None], colour: str) -> Plot:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(name),
        "x": values,
        "y": tests,
        "marker": {"size": 10, "color": colour},
        "hovertemplate": f"%{{y}}, {plain(name)}: %{{x:.4g}} µs<extra></extra>",
    }


def _in_words(timed: Sequence[Result]) -> str:
    words = (
        f"{result.test} {latency.us(_worst(result.latency, 'p50_us'))} and "
        f"{latency.us(_worst(result.latency, 'p99_us'))}"
        for result in timed
    )
    return f"µs at p50 and p99: {'; '.join(words)}."
