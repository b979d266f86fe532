"""A bench: rates, losses, what limits each test, doubts, cycles; each test in full."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from linerate.model.measurement import Measurement
from linerate.model.run_records import SoakState
from linerate.report import (
    flow_table,
    json_output,
    latency,
    lead,
    marks,
    offered,
    power,
    repeats,
    soak_lead,
    trial,
)
from linerate.report.cycles import cycles_table
from linerate.report.document import (
    LIMIT,
    NONE,
    Chapter,
    Column,
    Document,
    Listing,
    Note,
    Section,
    Table,
    figures,
    sentences,
    text,
)
from linerate.report.figures import (
    clocks,
    latency_tests,
    loss_places,
    of_line,
    over_time,
    power_loads,
    slices,
    soak_intervals,
    time_shares,
)
from linerate.report.figures.picture import node_styles
from linerate.report.framed import NOTHING, framed
from linerate.report.terminal import count, loss, mpps, percent_of_line
from linerate.results import soak_minutes
from linerate.results.store import Result, Run, load_measurement

#: Reads what was measured in a trial, by the run's folder and the trial's name.
Evidence = Callable[[Path, str], Measurement | None]
EXPLAINED = "rates and % of line: received, both directions together; L2 counts the FCS"
COLUMNS = (
    *text("test"),
    *figures("offered", "received", "Mpps"),
    Column("L1 Gb/s", spare=3),
    Column("L2 Gb/s", spare=2),
    *figures("% of line", "loss"),
)
BY_MARK = (Column(marks.COLUMN),)
#: Room for them have wide terminals alone.
ALSO = (Column("also", "text", spare=1),)
MORE = (Column("confidence", "text", spare=1), Column("traffic", "text", spare=1))


def document(run: Run, folder: Path, evidence: Evidence = load_measurement) -> Document:
    """A whole run; what `evidence` has nothing of is noted."""
    results = run.reported()
    valid = [result for result in results if result.valid]
    doubts = marks.doubts_of_all(valid)
    return framed(
        run,
        folder,
        "report",
        [
            *_rates(run, folder, results),
            *offered.sections(results, folder),
            *flow_table.sections(results),
            *_explained(run, results),
            Chapter("Cycles by node", "cycles", doubts=doubts),
            clocks.picture(valid, node_styles(valid)),
            *cycles_table(valid),
            time_shares.picture(valid),
            *_power(results),
            *latency.sections(valid, [latency_tests.picture(valid)]),
            *repeats.sections(run),
        ],
        details=lambda: [
            Chapter("Over time", "time", doubts=doubts),
            *_over_time(valid, folder, evidence),
            *trial.all_sections(results),
        ],
        data=partial(json_output.bench, run, folder),
        schema="bench",
        more=(
            f"each packet and cycle: linerate show ledger {folder}",
            f"a page with pictures: linerate report {folder}",
        ),
    )


def _soak(folder: Path, soak: SoakState, run: Run) -> list[Section]:
    """Its outcome, and its intervals."""
    found = soak_minutes.intervals(folder)
    hotter = soak_intervals.throttling(found)
    return [
        soak_lead.outcome(run, soak),
        *soak_intervals.pictures(found),
        *([Note(hotter, "doubt")] if hotter else []),
    ]


def _power(results: list[Result]) -> list[Section]:
    """Watts, where they were measured."""
    if not power.measured(results):
        return []
    valid = [result for result in results if result.valid]
    return [
        Chapter("Power", "power", doubts=marks.doubts_of_all(valid)),
        *(one.beside_table for one in power_loads.pictures(valid)),
        power.table(results),
    ]


def _rates(run: Run, folder: Path, results: list[Result]) -> list[Section]:
    held = [] if run.soak is None else _soak(folder, run.soak, run)
    if not results:
        return [*held, NOTHING]
    return [
        *(held or [lead.of_bench(run), of_line.picture(results)]),
        bench_table(results),
        Note(EXPLAINED),
        *power.notes(results),
    ]


def bench_table(results: list[Result]) -> Table:
    """All tests: rates, loss, limit; of invalid ones, that they are."""
    marked = BY_MARK if marks.any_left_out(results) else ()
    also = ALSO if any(result.valid and result.verdict.also for result in results) else ()
    columns = (*COLUMNS, *marked, *power.columns(results), *LIMIT, *also, *MORE)
    title = "All tests: received rates, both directions together"
    rows = tuple(tuple(_cells(result)[one.name] for one in columns) for result in results)
    return Table(title, columns, rows, titled=False, links=trial.links(results))


def _cells(result: Result) -> dict[str, str]:
    """All that a row may have, by column."""
    names = (one.name for one in (*COLUMNS, *BY_MARK, *power.COLUMNS, *ALSO, *MORE))
    cells = dict.fromkeys(names, NONE) | {"test": result.test, "traffic": result.text}
    if not result.valid:
        return cells | {"limit": "invalid"}
    verdict = result.verdict
    return cells | {
        "test": result.test + marks.marks(result),
        "offered": count(result.packets.sent),
        "received": count(result.came_back),
        "Mpps": mpps(result.received_pps),
        "L1 Gb/s": f"{result.l1_bps / 1e9:.2f}",
        "L2 Gb/s": f"{result.l2_bps / 1e9:.2f}",
        "% of line": percent_of_line(result),
        "loss": loss(result),
        marks.COLUMN: marks.left_out(result),
        **power.cells(result),
        "limit": verdict.limit,
        "also": ", ".join(verdict.also),
        "confidence": verdict.confidence,
    }


def _explained(run: Run, results: list[Result]) -> list[Section]:
    """Tests without a result, losses, limits, doubts."""
    invalid = ((result.test, reason) for result in results for reason in result.invalid)
    absent = ((one.configuration, one.reason) for one in run.absent)
    limits = (
        (result.test, f"{result.verdict.limit}: {result.verdict.sentence}")
        for result in results
        if result.valid and result.verdict.limit != "line"
    )
    links = trial.links(results)
    return [
        Listing("No result, because", ("test", "why"), tuple(invalid), links=links),
        Chapter("Losses", "losses", doubts=marks.doubts_of_all(results)),
        loss_places.picture(results),
        _losses(results),
        Chapter("Limits", "limits", doubts=marks.doubts_of_all(results)),
        Listing("Not measured, because", ("configuration", "why"), tuple(absent)),
        Listing("What limits, and how we know", ("test", "limit"), tuple(limits), links=links),
        *(
            Listing(title, ("test", "doubt"), tuple(lines), closed=True, links=links)
            for title, lines in marks.footnotes(results)
        ),
    ]


def _losses(results: list[Result]) -> Table:
    rows = []
    for result in (result for result in results if result.valid):
        for place, packets in result.packets.losses.items():
            share = 100 * packets / result.packets.sent if result.packets.sent else 0.0
            rows.append((result.test, f"{packets:,}", f"{share:.2f} %", place))
        if result.packets.unexplained:
            rows.append((result.test, f"{result.packets.unexplained:,}", "", "unexplained"))
    columns = (*text("test"), *figures("packets", "of sent"), *sentences("place"))
    return Table(
        "Where each lost packet went",
        columns,
        tuple(rows),
        links=trial.links(results),
        closed=True,
    )


def _over_time(valid: list[Result], folder: Path, evidence: Evidence) -> list[Section]:
    """Rates over the run, and slices."""
    measurements = {
        result.trial: measurement
        for result in valid
        if (measurement := evidence(folder, result.trial)) is not None
    }
    return [
        over_time.picture(valid, measurements, node_styles(valid)),
        slices.picture(valid, measurements),
    ]
