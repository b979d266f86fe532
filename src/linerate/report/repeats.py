"""Repeated trials of a run: median and spread of each test; rows, and as JSON."""

from typing import Any

from rich.console import Console
from rich.text import Text

from linerate.report import marks
from linerate.report.terminal import mpps, plain_table
from linerate.results.statistics import Repeated, repeated
from linerate.results.store import Run

COLUMNS = ("test", "repeats", "median Mpps", "slowest", "fastest", "spread")
TITLE = "Repeats"
NONE = "–"


def rows(run: Run) -> list[tuple[str, ...]]:
    """One for each test that was repeated."""
    return [_row(one) for one in repeated(run)]


def _row(one: Repeated) -> tuple[str, ...]:
    rates, spread = one.rates, one.rates.spread_percent
    invalid = f" ({one.invalid} invalid)" if one.invalid else ""
    return (
        one.test + marks.PROVISIONAL * one.provisional,
        f"{len(rates.trials)}{invalid}",
        mpps(rates.middle),
        mpps(min(rates.trials)),
        mpps(max(rates.trials)),
        NONE if spread is None else f"{spread:.2f} %",
    )


def terminal(console: Console, run: Run) -> None:
    """Print the table; nothing of a run without repeats."""
    if not (found := rows(run)):
        return
    console.print()
    console.print(Text(f"{TITLE}: above is the trial in the middle", "bold"))
    table = plain_table(("test", "left"), *((name, "right") for name in COLUMNS[1:]))
    for cells in found:
        table.add_row(*cells)
    console.print(table)


def document(run: Run) -> dict[str, Any]:
    """The same for programs, by test; nothing of a run without repeats."""
    found = {
        one.test: {
            "pps": list(one.rates.trials),
            "median_pps": one.rates.middle,
            "spread_pps": one.rates.spread,
            "invalid": one.invalid,
            "provisional": one.provisional,
        }
        for one in repeated(run)
    }
    return {"repeats": found} if found else {}
