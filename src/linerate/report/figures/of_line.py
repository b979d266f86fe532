"""% of line of each test as bars, coloured by what limits; ceilings as marks."""

from collections.abc import Sequence

from linerate.report import marks
from linerate.report.document import Figure, Style
from linerate.report.figures.picture import (
    GREY,
    LIMIT_COLOURS,
    SUSPECT_PATTERN,
    VERMILLION,
    Plot,
    layout,
    plain,
)
from linerate.report.terminal import mpps, percent_of_line
from linerate.results.store import Result

NAME, TITLE = "of-line", "% of line, and what limits"
#: End of the axis, per cent; ceilings beyond it are not near enough to matter.
END = 108.0
ROW_HEIGHT = 44
#: More tests than this stand nearer to each other.
MANY, MANY_HEIGHT = 16, 32


def picture(results: Sequence[Result]) -> Figure:
    """A bar for each test; an invalid one has none, and says so."""
    valid = [result for result in results if result.valid]
    if not valid:
        return Figure(NAME, TITLE, "", None)
    data = [_bars(results), *_ceilings(valid)]
    limits = dict.fromkeys(result.verdict.limit for result in valid)
    legend: list[tuple[str, Style]] = [(limit, Style(LIMIT_COLOURS[limit])) for limit in limits]
    if any(result.suspect for result in valid):
        legend.append(("hatched: suspect", Style(GREY, SUSPECT_PATTERN)))
    return Figure(
        name=NAME,
        title=TITLE,
        alt=_in_words(valid),
        plot={
            "data": data,
            "layout": layout(
                62 + (ROW_HEIGHT if len(results) <= MANY else MANY_HEIGHT) * len(results),
                bargap=0.3,
                margin={"l": 8, "r": 12, "t": 22, "b": 40},
                xaxis={"title": {"text": "% of line"}, "range": [0, END]},
                yaxis={"type": "category", "autorange": "reversed", "automargin": True},
                shapes=[_line()],
                annotations=[_name_of_line()],
            ),
        },
        note=NOTE if len(data) > 1 else "",
        legend=tuple(legend),
    )


NOTE = "Short black marks: ceilings of resources near the line (see the sections of the tests)."


def _label(result: Result) -> str:
    return f"<b>{plain(result.test)}</b>{marks.marks(result)} {plain(result.text)}"


def _bars(results: Sequence[Result]) -> Plot:
    return {
        "type": "bar",
        "orientation": "h",
        "name": "% of line",
        "y": [_label(result) for result in results],
        "x": [_percent(result) if result.valid else 0.0 for result in results],
        "text": [_beside(result) for result in results],
        "customdata": [_hover(result) for result in results],
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {
            "color": [
                LIMIT_COLOURS[result.verdict.limit] if result.valid else VERMILLION
                for result in results
            ],
            "pattern": {"shape": [SUSPECT_PATTERN if result.suspect else "" for result in results]},
        },
    }


def _percent(result: Result) -> float:
    return min(result.line_percent, 100.0)


def _beside(result: Result) -> str:
    if not result.valid:
        return "invalid: no result"
    return f"{mpps(result.received_pps)} Mpps, {percent_of_line(result)} %"


def _hover(result: Result) -> str:
    if not result.valid:
        return f"{plain(result.test)}: invalid<br>{plain(result.invalid[0])}"
    limits = ", ".join((result.verdict.limit, *result.verdict.also))
    return f"{plain(result.test)}: {_beside(result)}<br>limit: {plain(limits)}"


def _ceilings(valid: Sequence[Result]) -> list[Plot]:
    """Ceilings below the axis's end, the line's own left out."""
    found = [
        (result, ceiling, _percent(result) * ceiling.mpps * 1e6 / result.received_pps)
        for result in valid
        if result.received_pps > 0
        for ceiling in result.verdict.ceilings
        if ceiling.limit != "line"
    ]
    near = [(result, ceiling, percent) for result, ceiling, percent in found if percent < END]
    if not near:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "ceiling",
            "y": [_label(result) for result, _, _ in near],
            "x": [percent for _, _, percent in near],
            "marker": {"symbol": "line-ns", "size": 34, "width": 3, "color": "ink"},
            "customdata": [
                f"{plain(result.test)}, ceiling of {plain(ceiling.name)}: {ceiling.mpps:.2f} Mpps"
                for result, ceiling, _ in near
            ],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    ]


def _line() -> Plot:
    return {
        "type": "line",
        "x0": 100,
        "x1": 100,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"width": 2},
    }


def _name_of_line() -> Plot:
    return {"text": "line", "x": 100, "y": 1, "yref": "paper", "yanchor": "bottom"}


def _in_words(valid: Sequence[Result]) -> str:
    words = (f"{one.test} {percent_of_line(one)}, {one.verdict.limit}" for one in valid)
    return f"% of line and limit: {'; '.join(words)}."
