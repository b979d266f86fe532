"""Runs side by side as one page: bars with the spread of their trials, and what changed."""

from linerate.report.comparison import COLUMNS, row, sections
from linerate.report.html.page import document, picture_html
from linerate.report.html.picture import PALETTE, Figure, Picture, Style, layout, plain
from linerate.report.html.table import Table, text
from linerate.report.html.table import render as table_html
from linerate.report.terminal import mpps
from linerate.results.compare import Pair, sentence
from linerate.results.statistics import Rates


def render(pairs: list[Pair]) -> str:
    """The whole page; all pairs have one base."""
    drawn = bars(pairs)
    body = [
        *(f'<p class="verdict">{text(sentence(pair))}</p>' for pair in pairs),
        picture_html(drawn),
        *(_pair(number, pair) for number, pair in enumerate(pairs, start=1)),
    ]
    names = [pairs[0].base.name, *(pair.other.name for pair in pairs)]
    return document("linerate comparison", " against ".join(reversed(names)), body, [drawn])


def _rates(pairs: list[Pair]) -> dict[str, dict[str, Rates]]:
    """By device and test."""
    rates: dict[str, dict[str, Rates]] = {pairs[0].base.name: {}}
    for pair in pairs:
        for difference in pair.rates:
            rates[pair.base.name][difference.test] = difference.base
            rates.setdefault(pair.other.name, {})[difference.test] = difference.other
    return rates


def bars(pairs: list[Pair]) -> Picture:
    """A group of bars a test, one a device: its median, and lines from slowest to fastest."""
    rates = _rates(pairs)
    styles = {name: Style(PALETTE[at % len(PALETTE)]) for at, name in enumerate(rates)}
    data = [_trace(name, styles[name], of_tests) for name, of_tests in rates.items()]
    words = [
        f"{test} {name} {mpps(one.middle)}"
        for name, of_tests in rates.items()
        for test, one in of_tests.items()
    ]
    return Picture(
        name="rates",
        title="Packet rates",
        alt="Median Mpps: " + ", ".join(words) + ".",
        figure={
            "data": data,
            "layout": layout(
                360,
                barmode="group",
                yaxis={"title": {"text": "Mpps"}, "rangemode": "tozero", "automargin": True},
                xaxis={"type": "category"},
            ),
        },
        note="Medians of repeated trials; thin lines reach from the slowest to the fastest.",
        legend=tuple(styles.items()),
    )


def _trace(name: str, style: Style, rates: dict[str, Rates]) -> Figure:
    middles = [one.middle / 1e6 for one in rates.values()]
    return {
        "type": "bar",
        "name": plain(name),
        "x": [plain(test) for test in rates],
        "y": middles,
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [(max(one.trials) - one.middle) / 1e6 for one in rates.values()],
            "arrayminus": [(one.middle - min(one.trials)) / 1e6 for one in rates.values()],
            "visible": any(one.spread is not None for one in rates.values()),
            "color": "#808080",
        },
        "marker": style.bar,
        "hovertemplate": f"%{{x}}: %{{y:.3f}} Mpps<br>{plain(name)}<extra></extra>",
    }


def _pair(number: int, pair: Pair) -> str:
    rates = Table("Rates", COLUMNS, tuple(map(row, pair.rates)), frozenset({0, 6}))
    tables = [rates]
    for title, columns, rows in sections(pair):
        words = range(len(columns)) if columns[0] == "what" else (0, 1)
        tables.append(Table(title, columns, tuple(rows), frozenset(words)))
    title = f"{pair.other.name} against {pair.base.name}"
    inner = "".join(map(table_html, tables))
    return f'<section class="test" id="pair-{number}"><h2>{text(title)}</h2>{inner}</section>'
