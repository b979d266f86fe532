"""Packets a second through the forwarder's ports over time, the tests one after another."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from linerate.model.ledger import ENTRANCES, forwarder_ledgers
from linerate.model.measurement import Measurement, Sample
from linerate.report.document import Figure, Style, Table, table
from linerate.report.figures.picture import (
    BLUE,
    EXITS,
    ORANGE,
    OTHER,
    Plot,
    layout,
    path_order,
    plain,
)
from linerate.report.figures.time_axis import Span, band, name_of, spans
from linerate.results.store import Result

NAME = "over-time"
TITLE = "Packets a second over time"
SCALE = "the scale is logarithmic; "
#: Rates that differ by this factor are drawn on a logarithmic axis.
WIDE = 8
#: Counted by the tester, of a device whose nodes are not known.
TESTER = {"sent": BLUE, "received": ORANGE}


@dataclass(frozen=True, slots=True)
class Sampled:
    """One test's place on the time axis, and its rates there."""

    span: Span
    #: By node: (seconds, packets a second); each holds from there on.
    rates: dict[str, list[tuple[float, float]]]


def picture(
    results: list[Result], measurements: Mapping[str, Measurement], styles: dict[str, Style]
) -> Figure:
    """Valid results with samples; `measurements` by the name of their trial."""
    sampled = [
        (result, measurements[result.trial])
        for result in results
        if result.trial in measurements and measurements[result.trial].samples
    ]
    if not sampled:
        note = "This run has no samples over time: measure it again with this version."
        return Figure(NAME, TITLE, "", None, note)
    tests = _placed(sampled)
    unsampled = [
        result.test for result in results if result.test not in {one.span.test for one in tests}
    ]
    return Figure(
        name=NAME,
        title=TITLE,
        alt=_in_words(tests),
        plot=_figure(tests, styles),
        note=(f"No samples of {', '.join(unsampled)}. " if unsampled else "")
        + f"{_whose(tests)}; {SCALE * _is_wide(tests)}the tests one after another.",
        table=_table(tests),
        legend=tuple((f"{_sign(node)} {node}", _style(node, styles)) for node in _nodes(tests)),
    )


def _placed(sampled: list[tuple[Result, Measurement]]) -> list[Sampled]:
    places = spans([(result.test, _seconds(measurement)) for result, measurement in sampled])
    return [
        Sampled(span, _rates(measurement.samples, _forwarders(result), span.start))
        for span, (result, measurement) in zip(places, sampled, strict=True)
    ]


def _forwarders(result: Result) -> set[str]:
    return {ledger.worker for ledger in forwarder_ledgers(result.time)}


def _seconds(measurement: Measurement) -> float:
    """Length of a trial on the axis; one that was held up is sampled beyond its end."""
    return max(measurement.seconds, *(sample.at_us / 1e6 for sample in measurement.samples))


def _rates(
    samples: tuple[Sample, ...], workers: set[str], start: float
) -> dict[str, list[tuple[float, float]]]:
    """Differences of what each port's node counted, over all forwarding workers."""
    if not workers or not any(_vectors(sample, workers) for sample in samples):
        return _testers(samples, start)
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


def _testers(samples: tuple[Sample, ...], start: float) -> dict[str, list[tuple[float, float]]]:
    """Rates at the tester."""
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in TESTER}
    nothing = Sample(at_us=0, sent_packets=0, received_packets=0, vectors={})
    for before, after in pairwise((nothing, *samples)):
        seconds = (after.at_us - before.at_us) / 1e6
        if seconds <= 0:
            continue
        middle = start + (before.at_us + after.at_us) / 2e6
        sent = (after.sent_packets - before.sent_packets) / seconds
        received = (after.received_packets - before.received_packets) / seconds
        rates["sent"].append((middle, sent))
        rates["received"].append((middle, received))
    return {name: points for name, points in rates.items() if any(rate for _, rate in points)}


def _vectors(sample: Sample, workers: set[str]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for worker, nodes in sample.vectors.items():
        if worker in workers:
            for node, vectors in nodes.items():
                if node.startswith((*ENTRANCES, *EXITS)):
                    sums[node] = sums.get(node, 0) + vectors
    return sums


def _nodes(tests: list[Sampled]) -> list[str]:
    return path_order(dict.fromkeys(node for one in tests for node in one.rates))


def _figure(tests: list[Sampled], styles: dict[str, Style]) -> Plot:
    data = []
    for node in _nodes(tests):
        style = _style(node, styles)
        times: list[float | None] = []
        rates: list[float | None] = []
        for one in tests:
            points = one.rates.get(node, [])
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
                "marker": {"size": 5, "symbol": "x" if _sign(node) == "×" else "circle"},
                "hovertemplate": f"{plain(node)}<br>%{{y:.4s}}/s at %{{x:.1f}} s<extra></extra>",
            }
        )
    return {
        "data": data,
        "layout": layout(
            360,
            margin={"l": 60, "r": 12, "t": 30, "b": 52},
            xaxis={
                "title": {"text": "seconds"},
                "range": [0, tests[-1].span.end],
                "showgrid": False,
            },
            yaxis={
                **({"type": "log"} if _is_wide(tests) else {"rangemode": "tozero"}),
                "title": {"text": "packets a second"},
                "exponentformat": "SI",
                "automargin": True,
            },
            shapes=[band(one.span.start, one.span.end) for one in tests],
            annotations=[name_of(one.span) for one in tests],
        ),
    }


def _is_wide(tests: list[Sampled]) -> bool:
    """Whether rates differ so much that the lower ones would lie on the axis."""
    rates = [rate for one in tests for points in one.rates.values() for _, rate in points]
    return max(rates) > WIDE * min((rate for rate in rates if rate > 0), default=1.0)


def _whose(tests: list[Sampled]) -> str:
    nodes = [node for node in _nodes(tests) if node not in TESTER]
    return "Input and output nodes of the forwarder" if nodes else "Counted by the tester"


def _style(node: str, styles: dict[str, Style]) -> Style:
    return Style(TESTER[node]) if node in TESTER else styles.get(node, OTHER)


def _sign(node: str) -> str:
    return "×" if node.startswith(EXITS) or node == "received" else "●"


def _dash(node: str, style: Style) -> str:
    """Output is dashed; so are, more finely, those of a colour that is used twice."""
    if style.pattern:
        return "dot"
    return "dash" if node.startswith(EXITS) or node == "received" else "solid"


def _extremes(one: Sampled, node: str) -> tuple[float, float] | None:
    rates = [rate for _, rate in one.rates.get(node, [])]
    return (min(rates), max(rates)) if rates else None


def _in_words(tests: list[Sampled]) -> str:
    parts = []
    for one in tests:
        most = [
            extremes[1]
            for node in one.rates
            if (node.startswith(ENTRANCES) or node in TESTER) and (extremes := _extremes(one, node))
        ]
        if most:
            parts.append(f"{one.span.test} up to {max(most) / 1e6:.2f}")
    return "Million packets a second into one port, or sent: " + ", ".join(parts) + "."


def _table(tests: list[Sampled]) -> Table:
    rows = []
    for node in _nodes(tests):
        cells = []
        for one in tests:
            extremes = _extremes(one, node)
            cells.append(f"{extremes[0] / 1e6:.2f}–{extremes[1] / 1e6:.2f}" if extremes else "–")
        rows.append((node, *cells))
    columns = ("node", *(one.span.test for one in tests))
    return table("Least and most million packets a second", columns, tuple(rows))
