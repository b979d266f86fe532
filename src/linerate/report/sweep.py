"""A sweep as a table: frames a second and % of line, a line for each configuration."""

import csv
import io
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from linerate.base.line_rate import format_bps
from linerate.report import json_output
from linerate.report.ending import how_it_ended
from linerate.report.host import host_line
from linerate.report.terminal import environment_line, plain_table
from linerate.results.store import Run
from linerate.results.sweep_points import Point, points

NONE = "–"
#: Columns that a size takes: its rate, its %, the gaps.
SIZE_COLUMNS = 18

Cell = tuple[str, int]


def sweep_report(console: Console, run: Run, folder: Path) -> None:
    """Print a whole sweep: blocks of as many sizes as fit."""
    assert run.sweep is not None
    found = points(run)
    console.print(_heading(run))
    console.print(environment_line(run.environment), style="dim")
    if doubtful := host_line(run.host):
        console.print(Text(doubtful, "yellow"))
    console.print(Text(_message(run), "dim"))
    names = [name for name in run.sweep.configurations if any(name == one for one, _ in found)]
    widest = max((len(name) for name in names), default=0)
    for sizes in _blocks(run.sweep.frame_bytes, console.width - max(widest, 13) - 3):
        console.print()
        console.print(_block(names, sizes, found))
    if not names:
        console.print("nothing was measured")
    _notes(console, run, found)
    how_it_ended(
        console,
        run,
        folder,
        f"what limits each: linerate explain {folder}",
        f"the chart: {folder}/report.html",
    )


def _heading(run: Run) -> Text:
    assert run.sweep is not None
    count = len(run.sweep.configurations)
    line = format_bps(run.testbed.line_bps)
    return Text(f"{run.suite}: {count} configuration{'s' * (count != 1)}; 2 × {line}", "bold")


def _message(run: Run) -> str:
    assert run.sweep is not None
    repeats = run.sweep.repeats
    ways = "one direction" if run.sweep.directions == 1 else "both directions"
    trials = "one trial" if repeats == 1 else f"median of {repeats} trials"
    spread = "" if repeats == 1 else ", ± half of their spread"
    return f"frames/s and % of line that came through, {ways}; {trials}{spread}"


def _blocks(sizes: tuple[int, ...], columns: int) -> list[tuple[int, ...]]:
    count = max(1, columns // SIZE_COLUMNS)
    return [sizes[at : at + count] for at in range(0, len(sizes), count)]


def _block(names: list[str], sizes: tuple[int, ...], found: dict[Cell, Point]) -> Table:
    columns = [column for size in sizes for column in ((f"{size} B", "right"), ("%", "right"))]
    table = plain_table(("configuration", "left"), *columns, gap=1)
    for name in names:
        cells = [cell for size in sizes for cell in _cells(found.get((name, size)))]
        table.add_row(name, *cells)
    return table


def _cells(point: Point | None) -> tuple[str, str]:
    if point is None or point.pps is None or point.percent is None:
        return NONE if point is None else "invalid", NONE
    mark = "*" * point.result.disturbed
    spread = "" if point.spread_percent is None else f" ±{point.spread_percent / 2:.0f} %"
    return f"{point.pps:,.0f}{mark}", f"{point.percent:.1f}{spread}"


def _notes(console: Console, run: Run, found: dict[Cell, Point]) -> None:
    assert run.sweep is not None
    invalid = [
        f"  {point.result.test}: {point.result.invalid[0]}"
        for point in found.values()
        if point.pps is None
    ]
    fewer = [
        f"  {point.result.test}: {len(point.rates_pps)} of {point.trials} trials were valid"
        for point in found.values()
        if point.pps is not None and len(point.rates_pps) < point.trials
    ]
    absent = [f"  {one.configuration}: {one.reason}" for one in (*run.sweep.absent, *run.absent)]
    suspect = sum(1 for point in found.values() if point.pps and point.result.disturbed)
    for title, lines in (
        ("No result, because", invalid),
        ("Fewer trials than asked for", fewer),
        ("Not measured, or not to the end", absent),
    ):
        if lines:
            console.print()
            console.print(Text(title, "bold"))
            for line in lines:
                console.print(Text(line), soft_wrap=True)
    one_way = sorted({name for (name, _), point in found.items() if point.result.directions == 1})
    if one_way and run.sweep.directions > 1:
        console.print()
        console.print(Text(f"in one direction only: {', '.join(one_way)}", "dim"))
    if suspect:
        console.print()
        console.print(
            Text("* suspect: the machine was not the same throughout (--json says how)", "dim")
        )


def document(run: Run, folder: Path) -> dict[str, Any]:
    """As JSON: each point, with its trial in the middle."""
    assert run.sweep is not None
    return {
        "run": str(folder),
        "status": run.status,
        "problem": run.problem,
        "repeats": run.sweep.repeats,
        "directions": run.sweep.directions,
        "absent": [one.model_dump() for one in (*run.sweep.absent, *run.absent)],
        "points": [
            {
                "configuration": point.configuration,
                "frame_bytes": point.frame_bytes,
                "pps": point.pps,
                "percent_of_line": point.percent,
                "spread_percent": point.spread_percent,
                "rates_pps": list(point.rates_pps),
                "trials": point.trials,
                "trial": json_output.trial(point.result),
            }
            for point in points(run).values()
        ],
    }


def as_csv(run: Run) -> str:
    """Write the published table's shape: a row a configuration, fps and percent a size."""
    assert run.sweep is not None
    found, sizes = points(run), run.sweep.frame_bytes
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    figures = [f"{name}_{size}" for size in sizes for name in ("fps", "percent")]
    spreads = [f"spread_percent_{size}" for size in sizes]
    writer.writerow(["configuration", "cores", "queues_per_interface", *figures, *spreads])
    for name in run.sweep.configurations:
        mine = [found.get((name, size)) for size in sizes]
        workers = _workers(mine)
        rates = [cell for point in mine for cell in _figures(point)]
        rest = [_number(point.spread_percent if point else None, 1) for point in mine]
        writer.writerow([name, workers, workers, *rates, *rest])
    return out.getvalue()


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
