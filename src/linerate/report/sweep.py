"""A sweep: frames a second and % of line, a line for each configuration."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

from linerate.base.line_rate import format_bps
from linerate.base.published import Number, Output, published
from linerate.report import json_output, power, sweep_lead
from linerate.report.document import (
    LIMIT,
    NONE,
    Chapter,
    Document,
    Listing,
    Note,
    Section,
    Table,
    sentences,
    table,
    text,
)
from linerate.report.figures import power_loads, sizes
from linerate.report.framed import NOTHING, framed
from linerate.results.store import Absent, Run
from linerate.results.sweep_points import Point, points

Cell = tuple[str, int]
#: A spread that would be rounded to nothing is not shown.
SPREAD_PERCENT = 0.5


def document(run: Run, folder: Path) -> Document:
    """A whole sweep."""
    assert run.sweep is not None
    found = points(run)
    rates = _rates(run, found)
    return framed(
        run,
        folder,
        run.suite,
        [
            *([sweep_lead.outcome(run, found)] if found else []),
            sizes.picture(run),
            Chapter("Rates", "rates"),
            Note(_message(run)),
            *([rates] if rates.rows else [NOTHING]),
            *_notes(run, found),
            Chapter("Power", "power"),
            *(one.beside_table for one in power_loads.pictures(run.reported())),
            *power.sections(run.reported()),
        ],
        title=_heading(run),
        details=lambda: [Chapter("Limits", "limits"), limits(run)],
        data=partial(output, run, folder),
        rows=partial(as_rows, run),
        more=(
            f"what limits each: linerate explain {folder}",
            f"the chart: {folder}/report.html",
        ),
    )


def _heading(run: Run) -> str:
    assert run.sweep is not None
    count = len(run.sweep.configurations)
    line = format_bps(run.testbed.line_bps)
    return f"{run.suite}: {count} configuration{'s' * (count != 1)}; 2 × {line}"


def _message(run: Run) -> str:
    assert run.sweep is not None
    repeats = run.sweep.repeats
    ways = "one direction" if run.sweep.directions == 1 else "both directions"
    trials = "one trial" if repeats == 1 else f"median of {repeats} trials"
    spread = (
        "" if repeats == 1 else f", ± half of their spread where it is {SPREAD_PERCENT:g} % or more"
    )
    return f"frames/s and % of line received, {ways}; {trials}{spread}"


def _rates(run: Run, found: dict[Cell, Point]) -> Table:
    """A line for each configuration, two columns for each size."""
    assert run.sweep is not None
    names = [name for name in run.sweep.configurations if any(name == one for one, _ in found)]
    columns = [column for size in run.sweep.frame_bytes for column in (f"{size} B", "%")]
    rows = (
        (
            name,
            *(cell for size in run.sweep.frame_bytes for cell in _cells(found.get((name, size)))),
        )
        for name in names
    )
    made = table("Frames a second, and % of line", ("configuration", *columns), rows)
    return replace(made.untitled, block=2)


def limits(run: Run) -> Table:
    """Limit of each point in words, sizes of one limit together."""
    found = sorted(points(run).values(), key=lambda point: point.frame_bytes)
    assert run.sweep is not None
    rows = tuple(
        _limit_row(tuple(mine))
        for name in run.sweep.configurations
        for _, mine in groupby(
            (point for point in found if point.configuration == name),
            key=lambda point: point.result.verdict.limit,
        )
    )
    columns = (*text("configuration", "sizes"), *LIMIT, *sentences("why, at the first"))
    return Table("What limits", columns, rows)


def _limit_row(mine: tuple[Point, ...]) -> tuple[str, ...]:
    first, last = mine[0], mine[-1]
    sizes = f"{first.frame_bytes} B" if first is last else f"{first.frame_bytes} to "
    return (
        first.configuration,
        sizes + ("" if first is last else f"{last.frame_bytes} B"),
        first.result.verdict.limit,
        first.result.verdict.sentence if first.pps is not None else "; ".join(first.result.invalid),
    )


def _cells(point: Point | None) -> tuple[str, str]:
    if point is None or point.pps is None or point.percent is None:
        return NONE if point is None else "invalid", NONE
    mark = "*" * point.result.disturbed
    half = (point.spread_percent or 0.0) / 2
    spread = f" ±{half:.0f} %" if half >= SPREAD_PERCENT else ""
    return f"{point.pps:,.0f}{mark}", f"{point.percent:.1f}{spread}"


def _notes(run: Run, found: dict[Cell, Point]) -> list[Section]:
    assert run.sweep is not None
    test = ("test", "why")
    invalid = [
        (point.result.test, point.result.invalid[0])
        for point in found.values()
        if point.pps is None
    ]
    fewer = [
        (point.result.test, f"{len(point.rates_pps)} of {point.trials} trials were valid")
        for point in found.values()
        if point.pps is not None and len(point.rates_pps) < point.trials
    ]
    absent = [
        (one.configuration, "; ".join(filter(None, (one.reason, one.remedy))))
        for one in (*run.sweep.absent, *run.absent)
    ]
    suspect = any(point.pps and point.result.disturbed for point in found.values())
    one_way = sorted({name for (name, _), point in found.items() if point.result.directions == 1})
    sections: list[Section] = [
        Listing("No result, because", test, tuple(invalid)),
        Listing("Fewer trials than asked for", test, tuple(fewer)),
        Listing("Not measured, or not to the end", ("configuration", "why"), tuple(absent)),
    ]
    if one_way and run.sweep.directions > 1:
        sections.append(Note(f"in one direction only: {', '.join(one_way)}"))
    if suspect:
        sections.append(
            Note("* suspect: the machine was not the same throughout (--json says how)")
        )
    return sections


class PointOutput(Output):
    """One configuration at one frame size, with its trial in the middle."""

    configuration: str
    #: FCS counted.
    frame_bytes: int
    #: Median of the valid trials.
    received_pps: Number | None
    line_percent: Number | None
    #: Largest less smallest, of the median.
    spread_percent: Number | None
    #: Rate of each valid trial.
    trials_pps: tuple[float, ...]
    #: All of them.
    trials: int
    trial: json_output.TrialOutput


@published("sweep", "JSON of `linerate sweep --json`")
class SweepOutput(json_output.RunOutput):
    """A sweep over frame sizes."""

    repeats: int
    directions: int
    #: Configurations that were not measured, or not to the end.
    absent: tuple[Absent, ...]
    points: tuple[PointOutput, ...]


def output(run: Run, folder: Path) -> SweepOutput:
    """As JSON."""
    assert run.sweep is not None
    return SweepOutput(
        **json_output.run_fields(run, folder),
        repeats=run.sweep.repeats,
        directions=run.sweep.directions,
        absent=(*run.sweep.absent, *run.absent),
        points=tuple(
            PointOutput(
                configuration=point.configuration,
                frame_bytes=point.frame_bytes,
                received_pps=point.pps,
                line_percent=point.percent,
                spread_percent=point.spread_percent,
                trials_pps=point.rates_pps,
                trials=point.trials,
                trial=json_output.trial(point.result),
            )
            for point in points(run).values()
        ),
    )


def as_rows(run: Run) -> Iterator[Sequence[object]]:
    """The published table's shape: a row a configuration, fps and percent a size."""
    assert run.sweep is not None
    found, frames = points(run), run.sweep.frame_bytes
    rates = [f"{name}_{size}" for size in frames for name in ("fps", "percent")]
    spreads = [f"spread_percent_{size}" for size in frames]
    yield ("configuration", "cores", "queues_per_interface", *rates, *spreads)
    for name in run.sweep.configurations:
        mine = [found.get((name, size)) for size in frames]
        workers = _workers(mine)
        cells = [cell for point in mine for cell in _figures(point)]
        rest = [_number(point.spread_percent if point else None, 1) for point in mine]
        yield (name, workers, workers, *cells, *rest)


def _workers(mine: list[Point | None]) -> str:
    """Forwarding workers: one queue of each port a worker."""
    count = max(
        (
            sum(1 for ledger in point.result.time if ledger.role == "forwarder")
            for point in mine
            if point is not None
        ),
        default=0,
    )
    return str(count) if count else ""


def _figures(point: Point | None) -> tuple[str, str]:
    if point is None:
        return "", ""
    return _number(point.pps, 0), _number(point.percent, 2)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
