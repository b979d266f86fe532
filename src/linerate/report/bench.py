"""A bench: rates, losses, what limits each test, doubts, cycles; each test in full."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from linerate.model.measurement import Measurement
from linerate.report import flow_table, json_output, latency, marks, offered, power, repeats, trial
from linerate.report.cycles import cycles_table
from linerate.report.document import (
    LIMIT,
    NONE,
    Column,
    Document,
    Heading,
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
    over_time,
    percentiles,
    power_loads,
    slices,
    soak_thermal,
    time_shares,
)
from linerate.report.figures.picture import node_styles
from linerate.report.framed import NOTHING, framed
from linerate.report.summary import headline
from linerate.report.terminal import count, loss, mpps
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
    return framed(
        run,
        folder,
        "report",
        [
            *_rates(run, results),
            *offered.sections(results, folder),
            *flow_table.sections(results),
            *_explained(run, results),
            *cycles_table(valid),
            *([power.table(results)] if power.measured(results) else []),
            *_soak(run, folder),
            *latency.sections(valid),
            *(percentiles.of_trial(result) for result in valid if result.latency),
            *repeats.sections(run),
        ],
        details=lambda: [
            *_overview(valid, folder, evidence),
            *trial.all_sections(results),
        ],
        data=partial(json_output.bench, run, folder),
        schema="bench",
        more=(f"each packet and cycle: linerate show ledger {folder}",),
    )


def _soak(run: Run, folder: Path) -> list[Section]:
    """A soak's hour: frequency, temperature and power, where they are known."""
    if run.soak is None:
        return []
    found = soak_minutes.intervals(folder)
    hotter = soak_thermal.throttling(found)
    return [*soak_thermal.pictures(found), *([Note(hotter, "doubt")] if hotter else [])]


def _rates(run: Run, results: list[Result]) -> list[Section]:
    verdict = run.soak.verdict if run.soak else ""
    outcomes = [Note(one, "headline") for one in (verdict, headline(run)) if one]
    if not results:
        return [*outcomes, NOTHING]
    return [*outcomes, bench_table(results), Note(EXPLAINED), *power.notes(results)]


def bench_table(results: list[Result]) -> Table:
    """All tests: rates, loss, limit; of invalid ones, that they are."""
    marked = BY_MARK if marks.any_left_out(results) else ()
    also = ALSO if any(result.valid and result.verdict.also for result in results) else ()
    columns = (*COLUMNS, *marked, *power.columns(results), *LIMIT, *also, *MORE)
    title = "All tests: received rates, both directions together"
    rows = tuple(tuple(_cells(result)[one.name] for one in columns) for result in results)
    return Table(title, columns, rows, titled=False)


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
        "% of line": f"{result.line_percent:.1f}",
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
    return [
        Listing("No result, because", ("test", "why"), tuple(invalid)),
        _losses(results),
        Listing("Not measured, because", ("configuration", "why"), tuple(absent)),
        Listing("What limits, and how we know", ("test", "limit"), tuple(limits)),
        *(
            Listing(title, ("test", "doubt"), tuple(lines), closed=True)
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
    return Table("Where each lost packet went", columns, tuple(rows))


def _overview(valid: list[Result], folder: Path, evidence: Evidence) -> list[Section]:
    """Figures over all tests."""
    if not valid:
        return []
    measurements = {
        result.trial: measurement
        for result in valid
        if (measurement := evidence(folder, result.trial)) is not None
    }
    styles = node_styles(valid)
    return [
        Heading("All tests", "overview"),
        clocks.picture(valid, styles),
        over_time.picture(valid, measurements, styles),
        slices.picture(valid, measurements),
        time_shares.picture(valid),
        *power_loads.pictures(valid),
    ]
