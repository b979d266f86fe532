"""Power in reports: columns where it was measured, how it was, and why it is missing."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import floor, log10

from linerate.model.power import Estimate, MeterAbout, PowerFigures
from linerate.report.document import NONE, Column, Listing, Note, Section, Table, figures, text
from linerate.results.store import Result

#: Columns of a test's row; narrow terminals leave some out.
COLUMNS = (
    Column("W", elsewhere=True),
    Column("over idle", spare=2, elsewhere=True),
    Column("Mpps/W", spare=2, elsewhere=True),
    Column("nJ/packet", elsewhere=True),
)
FULL = (
    *text("test"),
    *figures("idle W", "W under load", "W over idle", "Mpps/W", "nJ/packet"),
    Column("over idle", spelled="nJ/packet over idle"),
)
#: Columns of a spreadsheet: the figure, and its error.
SHEET = tuple(
    name
    for one in (
        "watts",
        "idle_watts",
        "over_idle_watts",
        "joules",
        "mpps_per_watt",
        "nj_per_packet",
        "nj_per_packet_over_idle",
    )
    for name in (one, f"{one}_plus_minus")
)
Row = tuple[str, ...]


def measured(results: Iterable[Result]) -> list[Result]:
    """Results whose power a meter was read for, with a figure or without."""
    return [result for result in results if result.power is not None]


def columns(results: Iterable[Result]) -> tuple[Column, ...]:
    """Columns of a table of results: none where no power is known."""
    return COLUMNS if any(one.power and one.power.watts for one in results) else ()


def spare_columns(results: Iterable[Result]) -> tuple[Column, ...]:
    """The same for a table that fills a terminal without them."""
    return tuple(replace(one, spare=1, elsewhere=False) for one in columns(results))


def cells(result: Result) -> dict[str, str]:
    """Cells of those columns."""
    found = result.power
    if found is None or not result.valid:
        return {one.name: NONE for one in COLUMNS}
    values = (found.watts, found.over_idle_watts, found.mpps_per_watt, found.nj_per_packet)
    return {one.name: shown(value) for one, value in zip(COLUMNS, values, strict=True)}


def shown(estimate: Estimate | None) -> str:
    """A figure with as many digits as its error leaves: `57.3 ±0.4`."""
    if estimate is None:
        return NONE
    value, error = estimate.value, estimate.plus_minus
    if error <= 0:
        return f"{value:.4g}"
    # Two digits of an error that begins with 1, one of all others.
    first = floor(log10(error))
    digits = -first + (error / 10**first < 2)
    if digits > 6:
        return f"{value:.6g}"
    if digits <= 0:
        return f"{value:,.0f} ±{error:,.0f}"
    return f"{value:,.{digits}f} ±{error:.{digits}f}"


def table(results: Sequence[Result], title: str = "Power") -> Table:
    """Power of each test, all figures."""
    rows = [row(result.test, result.power) for result in measured(results) if result.valid]
    return Table(title, FULL, tuple(one for one in rows if one is not None))


def row(name: str, found: PowerFigures | None) -> Row | None:
    """One line of that table."""
    if found is None or found.watts is None:
        return None
    values = (
        found.idle_watts,
        found.watts,
        found.over_idle_watts,
        found.mpps_per_watt,
        found.nj_per_packet,
        found.nj_per_packet_over_idle,
    )
    return (name, *map(shown, values))


def notes(results: Sequence[Result]) -> list[Section]:
    """Meter, interval and resolution, and why figures are missing."""
    found = measured(results)
    if not found:
        return []
    abouts = dict.fromkeys(about_line(one.power.about, _by(one)) for one in found if one.power)
    return [
        *(Note(line) for line in abouts),
        Listing("No power, because", ("test", "why"), tuple(_missing(found))),
    ]


def _missing(found: Sequence[Result]) -> list[tuple[str, str]]:
    """A line for each reason: in a search many trials are too short."""
    tests: dict[str, list[str]] = {}
    for one in found:
        if one.power is not None and one.power.missing:
            tests.setdefault(one.power.missing, []).append(one.test)
    return [
        (names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more", reason)
        for reason, names in tests.items()
    ]


def sections(results: Sequence[Result]) -> list[Section]:
    """The table and its notes, for reports whose own rows have no room."""
    if not measured(results):
        return []
    return [table(results), *notes(results)]


def about_line(about: MeterAbout, by: str = "") -> str:
    """The meter in one line."""
    counted = by == "counter" or (not by and about.resolution_joules is not None)
    if counted and about.resolution_joules:
        step = f"energy counter in steps of {about.resolution_joules:g} J"
    elif about.resolution_watts:
        step = f"in steps of {about.resolution_watts:g} W"
    else:
        step = "steps unknown"
    own = (
        f"the meter's own {about.accuracy_percent:g} % is in ±"
        if about.accuracy_percent is not None
        else "the meter's own error is not in ± (accuracy_percent gives it)"
    )
    covers = f" ({about.covers})" if about.covers else ""
    return f"power: {about.source}{covers}, read each {about.interval_seconds:g} s, {step}; {own}"


def _by(result: Result) -> str:
    return (result.power.by if result.power is not None else None) or ""


def sheet_cells(result: Result) -> dict[str, object]:
    """Cells of a spreadsheet, unrounded."""
    found = result.power
    if found is None or not result.valid:
        return {}
    made: dict[str, object] = {"power_source": found.about.source, "power_missing": found.missing}
    for name in SHEET[::2]:
        estimate: Estimate | None = getattr(found, name)
        if estimate is not None:
            made |= {name: estimate.value, f"{name}_plus_minus": estimate.plus_minus}
    return made
