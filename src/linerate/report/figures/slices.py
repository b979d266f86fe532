"""Packets received a second in each slice; what the host disturbed is grey."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from linerate.model.measurement import Measurement, Slice
from linerate.report.document import Figure, Style, Table, table
from linerate.report.figures.picture import BLUE, GREY, VERMILLION, Plot, layout
from linerate.report.figures.time_axis import Span, band, name_of, spans
from linerate.results.store import Result

NAME = "slices"
TITLE = "Received, slice by slice"
DISTURBED = "rgba(128,128,128,0.45)"

#: Points of the picture: slices of a longer trial are drawn together.
POINTS_MAX = 1200

#: A test, its place on the axis, and its slices.
Placed = tuple[Span, tuple[Slice, ...]]


@dataclass(slots=True)
class _Point:
    """Neighbouring slices, all disturbed or none."""

    start: float
    seconds: float
    received: int
    lost: int
    disturbed: bool


def picture(results: list[Result], measurements: Mapping[str, Measurement]) -> Figure:
    """Valid results whose trials have slices; `measurements` by the name of their trial."""
    found = [
        (result.test, slices.slices)
        for result in results
        if (measurement := measurements.get(result.trial)) is not None
        and (slices := measurement.slices) is not None
    ]
    if not found:
        note = "No trial of this run has slices: each counts as a whole."
        return Figure(NAME, TITLE, "", None, note)
    placed = spans([(test, slices[-1].end_us / 1e6) for test, slices in found])
    tests = [(span, slices) for span, (_, slices) in zip(placed, found, strict=True)]
    return Figure(
        name=NAME,
        title=TITLE,
        alt=_in_words(tests),
        plot=_figure(tests),
        note=(
            "Rates and loss are those of the slices in which no worker was away from its CPU; the "
            "others are grey. A trial goes on until it has enough of them."
        ),
        table=_table(tests),
        legend=(
            ("undisturbed", Style(BLUE)),
            ("disturbed", Style(GREY)),
            ("lost", Style(VERMILLION)),
        ),
    )


def _rates(slices: tuple[Slice, ...]) -> Iterator[tuple[Slice, float, float]]:
    """Each slice with its start in seconds and its length."""
    start = 0.0
    for one in slices:
        end = one.end_us / 1e6
        yield one, start, end - start
        start = end


def _together(slices: tuple[Slice, ...], seconds: float) -> list[_Point]:
    """Points of about that length."""
    points: list[_Point] = []
    for one, start, length in _rates(slices):
        if length <= 0:
            continue
        last = points[-1] if points else None
        if last and last.disturbed == one.disturbed and last.seconds + length <= seconds:
            last.seconds += length
            last.received += one.received
            last.lost += one.lost
        else:
            points.append(_Point(start, length, one.received, one.lost, one.disturbed))
    return points


def _figure(tests: list[Placed]) -> Plot:
    clean: dict[str, list[float]] = {"x": [], "y": []}
    disturbed: dict[str, list[float]] = {"x": [], "y": []}
    lost: dict[str, list[float]] = {"x": [], "y": []}
    shapes = [band(span.start, span.end) for span, _ in tests]
    length = sum(span.end - span.start for span, _ in tests) / POINTS_MAX
    for span, slices in tests:
        for one in _together(slices, length):
            at = span.start + one.start + one.seconds / 2
            where = disturbed if one.disturbed else clean
            where["x"].append(at)
            where["y"].append(one.received / one.seconds)
            if one.lost:
                lost["x"].append(at)
                lost["y"].append(one.lost / one.seconds)
        shapes += _disturbed_bands(span, slices, length)
    return {
        "data": [
            _points("undisturbed", BLUE, "circle", clean),
            _points("disturbed", GREY, "circle", disturbed),
            _points("lost", VERMILLION, "x", lost),
        ],
        "layout": layout(
            320,
            margin={"l": 60, "r": 12, "t": 30, "b": 52},
            xaxis={
                "title": {"text": "seconds"},
                "range": [0, tests[-1][0].end],
                "showgrid": False,
            },
            yaxis={
                "title": {"text": "packets a second"},
                "rangemode": "tozero",
                "exponentformat": "SI",
                "automargin": True,
            },
            shapes=shapes,
            annotations=[name_of(span) for span, _ in tests],
        ),
    }


def _disturbed_bands(span: Span, slices: tuple[Slice, ...], gap: float) -> list[Plot]:
    """Disturbed slices in a row, or with less than a point between them, are one rectangle."""
    ranges: list[tuple[float, float]] = []
    for one, start, seconds in _rates(slices):
        if not one.disturbed:
            continue
        begin, end = span.start + start, span.start + start + seconds
        if ranges and begin - ranges[-1][1] < max(gap, 1e-6):
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((begin, end))
    return [band(start, end, DISTURBED) for start, end in ranges]


def _points(name: str, colour: str, symbol: str, points: dict[str, list[float]]) -> Plot:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": points["x"],
        "y": points["y"],
        "marker": {"size": 4, "color": colour, "symbol": symbol},
        "hovertemplate": f"{name}<br>%{{y:.4s}}/s at %{{x:.2f}} s<extra></extra>",
    }


def _in_words(tests: list[Placed]) -> str:
    parts = [
        f"{span.test} {sum(one.disturbed for one in slices)} of {len(slices)}"
        for span, slices in tests
    ]
    return "Disturbed slices: " + ", ".join(parts) + "."


def _table(tests: list[Placed]) -> Table:
    rows = []
    for span, slices in tests:
        clean = [one for one in slices if not one.disturbed]
        away: dict[str, int] = {}
        for one in slices:
            if one.worker:
                away[one.worker] = away.get(one.worker, 0) + one.away_us
        most = ", ".join(f"{worker} {us / 1e3:.1f} ms" for worker, us in sorted(away.items()))
        rows.append(
            (
                span.test,
                f"{len(slices)}",
                f"{len(clean)}",
                f"{sum(one.lost for one in clean):,}",
                f"{sum(one.lost for one in slices if one.disturbed):,}",
                most or "–",
            )
        )
    columns = ("test", "slices", "undisturbed", "lost there", "lost in others", "away from CPUs")
    return table("What was undisturbed", columns, tuple(rows))
