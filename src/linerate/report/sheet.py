"""Trials of a run for spreadsheets: a row for each test, figures unrounded."""

from collections.abc import Iterator, Sequence

from linerate.report import power
from linerate.report.marks import marks
from linerate.results.store import Result, Run

COLUMNS = (
    "test",
    "text",
    "valid",
    "attempt",
    "frame_bytes",
    "directions",
    "duration_seconds",
    "sent",
    "received",
    "lost",
    "unexplained",
    "offered_pps",
    "received_pps",
    "l1_bps",
    "l2_bps",
    "line_percent",
    "loss_percent",
    "left_out",
    "limit",
    "also",
    "confidence",
    "sentence",
    "invalid",
    "suspect",
    "provisional",
    "marks",
)


def trials(run: Run) -> Iterator[Sequence[object]]:
    """Head, and a row for each test; an invalid trial has no figures."""
    results = run.reported()
    also = ("power_source", *power.SHEET, "power_missing") if power.measured(results) else ()
    columns = (*COLUMNS, *also)
    yield columns
    for result in results:
        cells = _cells(result)
        yield [cells.get(column, "") for column in columns]


def _cells(result: Result) -> dict[str, object]:
    message: dict[str, object] = {
        "test": result.test,
        "text": result.text,
        "valid": "yes" if result.valid else "no",
        "attempt": result.attempt,
        "frame_bytes": result.frame_bytes,
        "directions": result.directions,
        "invalid": "; ".join(result.invalid),
        "suspect": "; ".join(result.suspect),
        "provisional": "yes" if result.provisional else "no",
        "marks": marks(result),
        "limit": "invalid",
    }
    if not result.valid:
        return message
    ledger, verdict = result.packets, result.verdict
    figures = {
        name: getattr(result, name)
        for name in COLUMNS
        if name.endswith(("_pps", "_bps", "_percent", "_seconds")) or name == "line_percent"
    }
    return message | {
        **figures,
        "sent": ledger.sent,
        "received": result.came_back,
        "lost": ledger.sent - result.came_back,
        "unexplained": ledger.unexplained,
        "left_out": result.left_out,
        "limit": verdict.limit,
        "also": "; ".join(verdict.also),
        "confidence": verdict.confidence,
        "sentence": verdict.sentence,
        **power.sheet_cells(result),
    }
