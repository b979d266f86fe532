"""Curves of the peers: cycles/packet over a parameter, ours and the peer's."""

from collections.abc import Mapping, Sequence

from bench.peers.model import Curve, Result
from linerate.report.html.page import document, picture_html
from linerate.report.html.picture import BLUE, ORANGE, Figure, Picture, Style, layout, plain
from linerate.report.html.table import NO_FIGURE, Table

Point = tuple[Curve, Result]


def render(curves: Mapping[str, Curve], results: Sequence[Result]) -> str:
    """The whole page; `curves` by the name of the benchmark."""
    groups: dict[str, list[Point]] = {}
    for result in results:
        if (curve := curves.get(result.name)) and result.clocks_per_packet is not None:
            groups.setdefault(curve.title, []).append((curve, result))
    drawn = [
        picture(f"curve-{number}", title, points)
        for number, (title, points) in enumerate(groups.items(), start=1)
    ]
    body = [picture_html(one) for one in drawn] or ["<p>No curve was measured.</p>"]
    return document("linerate and its peers", "What it costs", body, drawn).html


def picture(name: str, title: str, points: Sequence[Point]) -> Picture:
    """Both axes are logarithmic: a factor looks the same everywhere."""
    curve = points[0][0]
    words = [
        f"{one.x:g}: {curve.ours} {_clocks(result.clocks_per_packet)}, "
        f"{curve.peer} {_clocks(result.peer_clocks_per_packet)}"
        for one, result in points
    ]
    sides = (
        (curve.ours, BLUE, [result.clocks_per_packet for _, result in points]),
        (curve.peer, ORANGE, [result.peer_clocks_per_packet for _, result in points]),
    )
    x = [one.x for one, _ in points]
    return Picture(
        name=name,
        title=title,
        alt=f"Cycles a packet by {curve.x_text}: " + "; ".join(words) + ".",
        figure={
            "data": [_trace(text, colour, x, clocks) for text, colour, clocks in sides],
            "layout": layout(
                380,
                xaxis={"title": {"text": curve.x_text}, "type": "log", "tickvals": x},
                yaxis={"title": {"text": "cycles a packet"}, "type": "log", "automargin": True},
            ),
        },
        note="Clocks of both sides, a packet; medians of repeats.",
        legend=tuple((text, Style(colour)) for text, colour, _ in sides),
        table=Table(
            "Cycles a packet",
            (curve.x_text, curve.ours, curve.peer),
            tuple(
                (
                    f"{one.x:g}",
                    _clocks(result.clocks_per_packet),
                    _clocks(result.peer_clocks_per_packet),
                )
                for one, result in points
            ),
        ),
    )


def _trace(text: str, colour: str, x: list[float], clocks: list[float | None]) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(text),
        "x": x,
        "y": clocks,
        "line": {"color": colour},
        "hovertemplate": f"{plain(text)}, %{{x}}: %{{y:.1f}} cycles<extra></extra>",
    }


def _clocks(value: float | None) -> str:
    return NO_FIGURE if value is None else f"{value:,.1f}"
