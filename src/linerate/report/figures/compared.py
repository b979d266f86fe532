"""Rates of runs side by side: bars with the spread of their trials."""

from linerate.report.document import Figure, Style
from linerate.report.figures.picture import PALETTE, Plot, layout, plain
from linerate.report.terminal import mpps
from linerate.results.compare import Pair
from linerate.results.statistics import Rates


def _rates(pairs: list[Pair]) -> dict[str, dict[str, Rates]]:
    """By device and test."""
    rates: dict[str, dict[str, Rates]] = {pairs[0].base.called: {}}
    for pair in pairs:
        for difference in pair.rates:
            rates[pair.base.called][difference.test] = difference.base
            rates.setdefault(pair.other.called, {})[difference.test] = difference.other
    return rates


#: Height of a test's bars.
BAR_HEIGHT = 24


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
    tests = max(len(of_tests) for of_tests in rates.values())
    repeated = any(one.spread is not None for of in rates.values() for one in of.values())
    return Figure(
        name="rates",
        title="Packet rates",
        alt="Median Mpps: " + ", ".join(words) + ".",
        plot={
            "data": data,
            "layout": layout(
                76 + tests * (BAR_HEIGHT * len(rates) + 14),
                barmode="group",
                bargap=0.2,
                margin={"l": 8, "r": 12, "t": 8, "b": 44},
                xaxis={"title": {"text": "Mpps"}, "rangemode": "tozero"},
                yaxis={"type": "category", "autorange": "reversed", "automargin": True},
            ),
        },
        note="Medians of repeated trials; thin lines reach from the slowest to the fastest."
        if repeated
        else "",
        legend=tuple(styles.items()),
    )


def _trace(name: str, style: Style, rates: dict[str, Rates]) -> Plot:
    middles = [one.middle / 1e6 for one in rates.values()]
    return {
        "type": "bar",
        "orientation": "h",
        "name": plain(name),
        "y": [plain(test) for test in rates],
        "x": middles,
        "text": [mpps(one.middle) for one in rates.values()],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [(max(one.trials) - one.middle) / 1e6 for one in rates.values()],
            "arrayminus": [(one.middle - min(one.trials)) / 1e6 for one in rates.values()],
            "visible": any(one.spread is not None for one in rates.values()),
        },
        "marker": style.bar,
        "hovertemplate": f"%{{y}}: %{{x:.3f}} Mpps<br>{plain(name)}<extra></extra>",
    }
