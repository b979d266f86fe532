"""Places of loss over the tests: stacked bars, per cent of what was sent."""

from collections.abc import Sequence

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import (
    PALETTE,
    PATTERNS,
    VERMILLION,
    Plot,
    layout,
    percent,
    plain,
)
from linerate.results.store import Result

NAME, TITLE = "loss-places", "Packets lost, by place"
UNEXPLAINED = "unexplained"
ROW_HEIGHT = 34


def picture(results: Sequence[Result]) -> Figure:
    """Valid results that lost any; places keep their colour over the tests."""
    lossy = [result for result in results if result.valid and _lost(result)]
    places = list(dict.fromkeys(place for result in lossy for place in _lost(result)))
    if not lossy:
        return Figure(NAME, TITLE, "", None)
    styles = {place: _style(at, place) for at, place in enumerate(places)}
    return Figure(
        name=NAME,
        title=TITLE,
        alt=_in_words(lossy),
        plot={
            "data": [_trace(place, styles[place], lossy) for place in places],
            "layout": layout(
                76 + ROW_HEIGHT * len(lossy),
                barmode="stack",
                bargap=0.3,
                margin={"l": 8, "r": 12, "t": 8, "b": 44},
                xaxis={"title": {"text": "% of the packets sent"}, "rangemode": "tozero"},
                yaxis={"type": "category", "autorange": "reversed", "automargin": True},
            ),
        },
        note=LEFT_OUT if any(result.left_out for result in lossy) else "",
        legend=tuple(styles.items()),
    )


LEFT_OUT = (
    "All packets lost, those too that were lost while a worker was descheduled: the loss of the "
    "verdict leaves these out (†)."
)


def _style(at: int, place: str) -> Style:
    if place == UNEXPLAINED:
        return Style(VERMILLION)
    return Style(PALETTE[at % len(PALETTE)], PATTERNS[at // len(PALETTE) % len(PATTERNS)])


def _lost(result: Result) -> dict[str, int]:
    ledger = result.packets
    extra = {UNEXPLAINED: ledger.unexplained} if ledger.unexplained > 0 else {}
    return ledger.losses | extra


def _trace(place: str, style: Style, lossy: Sequence[Result]) -> Plot:
    lost = [_lost(result).get(place, 0) for result in lossy]
    sent = [result.packets.sent for result in lossy]
    return {
        "type": "bar",
        "orientation": "h",
        "name": plain(place),
        "y": [plain(result.test) for result in lossy],
        "x": [100 * n / whole if whole else 0.0 for n, whole in zip(lost, sent, strict=True)],
        "customdata": [
            f"{plain(place)}<br>{n:,} packets, {percent(n, whole)}"
            for n, whole in zip(lost, sent, strict=True)
        ],
        "hovertemplate": "%{y}: %{customdata}<extra></extra>",
        "marker": style.bar,
    }


def _in_words(lossy: Sequence[Result]) -> str:
    words = []
    for result in lossy:
        lost = _lost(result)
        worst = max(lost, key=lambda place: lost[place])
        share = percent(sum(lost.values()), result.packets.sent)
        words.append(f"{result.test} {share}, most at {worst}")
    return f"Lost: {'; '.join(words)}."
