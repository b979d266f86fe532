"""Curves of the peers: cycles/packet over a parameter, ours and the peer's."""

from collections.abc import Mapping, Sequence

from bench.peers.model import Curve, Result
from linerate.report.document import NONE, Document, Figure, Note, Style, table
from linerate.report.figures.picture import BLUE, ORANGE, Plot, layout, plain
from linerate.report.render import html

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
    none = (Note("No curve was measured.", "text"),)
    made = Document(
        "What it costs", tuple(drawn) or none, dict, page_title="linerate and its peers"
    )
    return html.page(made).html


def picture(name: str, title: str, points: Sequence[Point]) -> Figure:
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
    return Figure(
        name=name,
        title=title,
        alt=f"Cycles a packet by {curve.x_text}: " + "; ".join(words) + ".",
        plot={
            "data": [_trace(text, colour, x, clocks) for text, colour, clocks in sides],
            "layout": layout(
                380,
                xaxis={"title": {"text": curve.x_text}, "type": "log", "tickvals": x},
                yaxis={"title": {"text": "cycles a packet"}, "type": "log", "automargin": True},
            ),
        },
        note="Clocks of both sides, a packet; medians of repeats.",
        legend=tuple((text, Style(colour)) for text, colour, _ in sides),
        table=table(
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


def _trace(text: str, colour: str, x: list[float], clocks: list[float | None]) -> Plot:
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
    return NONE if value is None else f"{value:,.1f}"
