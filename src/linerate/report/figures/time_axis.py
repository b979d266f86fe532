"""A time axis on which tests stand one after another, with a gap between them."""

from dataclasses import dataclass

from linerate.report.figures.picture import Plot, plain

#: Between two tests, of the longest one's time.
GAP = 0.06


@dataclass(frozen=True, slots=True)
class Span:
    """A test's place on the axis, in seconds."""

    test: str
    start: float
    end: float


def spans(tests: list[tuple[str, float]]) -> list[Span]:
    """Place each test, by its duration, after the one before."""
    gap = GAP * max((seconds for _, seconds in tests), default=0.0)
    placed: list[Span] = []
    start = 0.0
    for test, seconds in tests:
        placed.append(Span(test, start, start + seconds))
        start += seconds + gap
    return placed


def band(start: float, end: float, colour: str = "rgba(128,128,128,0.12)") -> Plot:
    """A rectangle behind all between two times."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": start,
        "x1": end,
        "y0": 0,
        "y1": 1,
        "line": {"width": 0},
        "fillcolor": colour,
        "layer": "below",
    }


def name_of(span: Span) -> Plot:
    """The test's name above its place."""
    return {
        "text": f"<b>{plain(span.test)}</b>",
        "x": (span.start + span.end) / 2,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
    }
