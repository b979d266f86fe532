"""Intervals of a soak: rate, losses, frequency, temperature, power, one above the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from linerate.report.document import NONE, Figure, Style, Table, figures
from linerate.report.figures.picture import BLUE, GREEN, ORANGE, PURPLE, VERMILLION, layout
from linerate.results.soak_minutes import Interval

NAME = "soak-intervals"
#: The longest soak whose axis is in this unit, seconds.
UNITS = ((120.0, 1.0, "seconds"), (7200.0, 60.0, "minutes"), (float("inf"), 3600.0, "hours"))
#: Rows of the table below the picture: of more each n-th.
ROWS_MAX = 200
#: A mean frequency that falls by this share at a rising temperature is throttling.
THROTTLED = 0.05
RISEN_CELSIUS = 3.0


@dataclass(frozen=True, slots=True)
class _Curve:
    name: str
    unit: str
    colour: str
    values: list[float | None]
    #: A small change is no large one.
    from_zero: bool = False

    @property
    def known(self) -> list[float]:
        """Values that were read."""
        return [value for value in self.values if value is not None]


def _curves(found: Sequence[Interval]) -> list[_Curve]:
    curves = (
        _Curve("rate", "Mpps", BLUE, [one.mpps for one in found], from_zero=True),
        _Curve("packets lost", "lost", PURPLE, [one.lost for one in found], from_zero=True),
        _Curve("frequency", "MHz", GREEN, [one.mhz_mean for one in found]),
        _Curve("temperature", "°C", VERMILLION, [one.celsius_most for one in found]),
        _Curve("power", "W", ORANGE, [one.watts for one in found]),
    )
    return [curve for curve in curves if curve.known]


def pictures(found: Sequence[Interval]) -> list[Figure]:
    """The picture, where there is more than one interval."""
    curves = _curves(found)
    if len(found) < 2:
        return []
    scale, unit = _unit(found)
    times = [one.seconds / scale for one in found]
    names = [curve.name for curve in curves]
    title = f"Over the soak: {', '.join(names[:-1])} and {names[-1]}" if names[1:] else "Rate"
    height = 1 / len(curves)
    axes: dict[str, object] = {}
    data = []
    for number, curve in enumerate(curves):
        axis = "" if not number else str(number + 1)
        top = 1 - number * height
        axes[f"yaxis{axis}"] = {
            "title": {"text": curve.unit},
            "domain": [top - 0.85 * height, top],
            "automargin": True,
        } | ({"rangemode": "tozero"} if curve.from_zero else {})
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": curve.name,
                "x": times,
                "y": curve.values,
                "yaxis": f"y{axis}",
                "line": {"color": curve.colour},
                "hovertemplate": f"{unit}: %{{x:.4g}}<br>%{{y:.6g}} {curve.unit}<extra></extra>",
            }
        )
    return [
        Figure(
            name=NAME,
            title=title,
            alt="; ".join(
                f"{curve.name} {min(curve.known):.4g} to {max(curve.known):.4g} {curve.unit}"
                for curve in curves
            ),
            plot={
                "data": data,
                "layout": layout(150 * len(curves), xaxis={"title": {"text": unit}}, **axes),
            },
            table=_table(found, curves, title),
            legend=tuple((curve.name, Style(curve.colour)) for curve in curves),
        )
    ]


def _unit(found: Sequence[Interval]) -> tuple[float, str]:
    """Seconds of the axis's unit, and its name."""
    last = max(one.seconds for one in found)
    return next((scale, name) for most, scale, name in UNITS if last <= most)


def _table(found: Sequence[Interval], curves: Sequence[_Curve], title: str) -> Table:
    scale, unit = _unit(found)
    step = 1 + len(found) // ROWS_MAX
    rows = tuple(
        (
            f"{one.seconds / scale:.4g}",
            *(NONE if (value := curve.values[at]) is None else f"{value:,.6g}" for curve in curves),
        )
        for at, one in list(enumerate(found))[::step]
    )
    return Table(title, figures(unit, *(curve.unit for curve in curves)), rows, titled=False)


def throttling(found: Sequence[Interval]) -> str:
    """A sentence where the machine got hotter and slower; else nothing."""
    fast = [one for one in found if one.mhz_mean is not None and one.celsius_most is not None]
    if len(fast) < 2:
        return ""
    first, last = fast[0], fast[-1]
    assert first.mhz_mean is not None
    assert last.mhz_mean is not None
    assert first.celsius_most is not None
    assert last.celsius_most is not None
    hotter = last.celsius_most - first.celsius_most
    if last.mhz_mean > (1 - THROTTLED) * first.mhz_mean or hotter < RISEN_CELSIUS:
        return ""
    return (
        f"the CPUs went from {first.mhz_mean:,.0f} to {last.mhz_mean:,.0f} MHz while they got "
        f"{hotter:.0f} °C hotter ({last.celsius_most:.0f} °C): the machine throttles; more "
        "cooling, or a lower load"
    )
