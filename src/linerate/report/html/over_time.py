"""Packets a second through the forwarder's ports over time, the tests one after another."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from linerate.ledger import forwarder_ledgers
from linerate.measurement import Measurement, Sample
from linerate.report.html.picture import (
    ENTRANCES,
    EXITS,
    OTHER,
    Figure,
    Picture,
    Style,
    layout,
    path_order,
    plain,
)
from linerate.report.html.table import Table
from linerate.store import Result

NAME = "over-time"
TITLE = "Vectors a second over time"
#: Between two tests, of the longest one's time.
GAP = 0.06


@dataclass(frozen=True, slots=True)
class Span:
    """One test's place on the time axis, in seconds, and its rates there."""

    test: str
    start: float
    end: float
    #: By node: (seconds, packets a second); each holds from there on.
    rates: dict[str, list[tuple[float, float]]]


def picture(
    results: list[Result], measurements: Mapping[str, Measurement], styles: dict[str, Style]
) -> Picture:
    """Of valid results that were sampled; `measurements` by the name of their trial."""
    sampled = [
        (result, measurements[result.trial])
        for result in results
        if result.trial in measurements and measurements[result.trial].samples
    ]
    if not sampled:
        note = "This run has no samples over time: measure it again with this version."
        return Picture(NAME, TITLE, "", None, note)
    spans = _spans(sampled)
    unsampled = [result.test for result in results if result.test not in {s.test for s in spans}]
    return Picture(
        name=NAME,
        title=TITLE,
        alt=_in_words(spans),
        figure=_figure(spans, styles),
        note=(f"No samples of {', '.join(unsampled)}. " if unsampled else "")
        + "Input and output nodes of the forwarder; logarithmic; the tests one after another.",
        table=_table(spans),
        legend=tuple((f"{_sign(node)} {node}", styles.get(node, OTHER)) for node in _nodes(spans)),
    )


def _spans(sampled: list[tuple[Result, Measurement]]) -> list[Span]:
    pause = GAP * max(_seconds(measurement) for _, measurement in sampled)
    spans: list[Span] = []
    start = 0.0
    for result, measurement in sampled:
        workers = {ledger.worker for ledger in forwarder_ledgers(result.time)}
        end = start + _seconds(measurement)
        spans.append(Span(result.test, start, end, _rates(measurement.samples, workers, start)))
        start = end + pause
    return spans


def _seconds(measurement: Measurement) -> float:
    """How long a trial is on the axis; one that was held up is sampled beyond its end."""
    return max(measurement.seconds, *(sample.at_us / 1e6 for sample in measurement.samples))


def _rates(
    samples: tuple[Sample, ...], workers: set[str], start: float
) -> dict[str, list[tuple[float, float]]]:
    """Differences of what each port's node counted, over all forwarding workers."""
    nothing = Sample(at_us=0, sent_packets=0, received_packets=0, vectors={})
    rates: dict[str, list[tuple[float, float]]] = {}
    for before, after in pairwise((nothing, *samples)):
        seconds = (after.at_us - before.at_us) / 1e6
        if seconds <= 0:
            continue
        earlier = _vectors(before, workers)
        middle = start + (before.at_us + after.at_us) / 2e6
        for node, vectors in _vectors(after, workers).items():
            rate = (vectors - earlier.get(node, 0)) / seconds
            rates.setdefault(node, []).append((middle, rate))
    return {node: points for node, points in rates.items() if any(rate for _, rate in points)}


def _vectors(sample: Sample, workers: set[str]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for worker, nodes in sample.vectors.items():
        if worker in workers:
            for node, vectors in nodes.items():
                if node.startswith((*ENTRANCES, *EXITS)):
                    sums[node] = sums.get(node, 0) + vectors
    return sums


def _nodes(spans: list[Span]) -> list[str]:
    return path_order(dict.fromkeys(node for span in spans for node in span.rates))


def _figure(spans: list[Span], styles: dict[str, Style]) -> Figure:
    data = []
    for node in _nodes(spans):
        style = styles.get(node, OTHER)
        times: list[float | None] = []
        rates: list[float | None] = []
        for span in spans:
            points = span.rates.get(node, [])
            # None parts the line between two tests; a logarithm of 0 there is not.
            times += [*(time for time, _ in points), None]
            rates += [*(rate if rate > 0 else None for _, rate in points), None]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(node),
                "x": times,
                "y": rates,
                "line": {"color": style.colour, "dash": _dash(node, style), "width": 2},
                "marker": {"size": 5, "symbol": "x" if node.startswith(EXITS) else "circle"},
                "hovertemplate": f"{plain(node)}<br>%{{y:.4s}}/s at %{{x:.1f}} s<extra></extra>",
            }
        )
    return {
        "data": data,
        "layout": layout(
            360,
            margin={"l": 60, "r": 12, "t": 30, "b": 52},
            xaxis={"title": {"text": "seconds"}, "range": [0, spans[-1].end], "showgrid": False},
            yaxis={
                "type": "log",
                "title": {"text": "vectors a second"},
                "exponentformat": "SI",
                "dtick": 1,
                "automargin": True,
            },
            shapes=[_band(span) for span in spans],
            annotations=[_mark(span) for span in spans],
        ),
    }


def _sign(node: str) -> str:
    return "×" if node.startswith(EXITS) else "●"


def _dash(node: str, style: Style) -> str:
    """Output is dashed; so are, more finely, those of a colour that is used twice."""
    if style.pattern:
        return "dot"
    return "dash" if node.startswith(EXITS) else "solid"


def _band(span: Span) -> Figure:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": span.start,
        "x1": span.end,
        "y0": 0,
        "y1": 1,
        "line": {"width": 0},
        "fillcolor": "rgba(128,128,128,0.12)",
        "layer": "below",
    }


def _mark(span: Span) -> Figure:
    return {
        "text": f"<b>{plain(span.test)}</b>",
        "x": (span.start + span.end) / 2,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
    }


def _extremes(span: Span, node: str) -> tuple[float, float] | None:
    rates = [rate for _, rate in span.rates.get(node, [])]
    return (min(rates), max(rates)) if rates else None


def _in_words(spans: list[Span]) -> str:
    parts = []
    for span in spans:
        most = [
            extremes[1]
            for node in span.rates
            if node.startswith(ENTRANCES) and (extremes := _extremes(span, node))
        ]
        if most:
            parts.append(f"{span.test} up to {max(most) / 1e6:.2f}")
    return "Million packets a second into one port: " + ", ".join(parts) + "."


def _table(spans: list[Span]) -> Table:
    rows = []
    for node in _nodes(spans):
        cells = []
        for span in spans:
            extremes = _extremes(span, node)
            cells.append(f"{extremes[0] / 1e6:.2f}–{extremes[1] / 1e6:.2f}" if extremes else "–")
        rows.append((node, *cells))
    columns = ("node", *(span.test for span in spans))
    return Table("Least and most million packets a second", columns, tuple(rows))
