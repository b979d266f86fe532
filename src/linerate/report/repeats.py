"""Repeated trials of a run: median and spread of each test; rows, and as JSON."""

from typing import Any

from linerate.base.published import Number, Output
from linerate.report import marks
from linerate.report.document import NONE, Table, table
from linerate.report.terminal import mpps
from linerate.results.statistics import Repeated, repeated
from linerate.results.store import Run

COLUMNS = ("test", "repeats", "median Mpps", "slowest", "fastest", "spread")
TITLE = "Repeats"


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


def sections(run: Run) -> list[Table]:
    """The table; nothing of a run without repeats."""
    title = f"{TITLE}: above is the trial in the middle"
    return [table(title, COLUMNS, found)] if (found := rows(run)) else []


class RepeatedOutput(Output):
    """Repeated trials of one test."""

    #: Rate of each valid trial.
    trials_pps: tuple[Number, ...]
    median_pps: Number
    #: From the slowest trial to the fastest; None of a single one.
    spread_pps: Number | None
    #: Trials.
    invalid: int
    provisional: bool


def fields(run: Run) -> dict[str, Any]:
    """The same for programs, by test; nothing of a run without repeats."""
    found = {
        one.test: RepeatedOutput(
            trials_pps=one.rates.trials,
            median_pps=one.rates.middle,
            spread_pps=one.rates.spread,
            invalid=one.invalid,
            provisional=one.provisional,
        )
        for one in repeated(run)
    }
    return {"repeats": found} if found else {}
