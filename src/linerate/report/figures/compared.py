"""Rates of runs side by side: bars with the spread of their trials."""

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import PALETTE, Plot, layout, plain
from linerate.report.terminal import mpps
from linerate.results.compare import Pair
from linerate.results.statistics import Rates


def _rates(pairs: list[Pair]) -> dict[str, dict[str, Rates]]:
    """By device and test."""
    rates: dict[str, dict[str, Rates]] = {pairs[0].base.name: {}}
    for pair in pairs:
        for difference in pair.rates:
            rates[pair.base.name][difference.test] = difference.base
            rates.setdefault(pair.other.name, {})[difference.test] = difference.other
    return rates


def bars(pairs: list[Pair]) -> Figure:
    """A group of bars a test, one a device: its median, and lines from slowest to fastest."""
    rates = _rates(pairs)
    styles = {name: Style(PALETTE[at % len(PALETTE)]) for at, name in enumerate(rates)}
    data = [_trace(name, styles[name], of_tests) for name, of_tests in rates.items()]
    words = [
        f"{test} {name} {mpps(one.middle)}"
        for name, of_tests in rates.items()
        for test, one in of_tests.items()
    ]
    return Figure(
        name="rates",
        title="Packet rates",
        alt="Median Mpps: " + ", ".join(words) + ".",
        plot={
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


def _trace(name: str, style: Style, rates: dict[str, Rates]) -> Plot:
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
