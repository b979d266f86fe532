"""Tests of a run, or loadtests of a search, as cases."""

from collections.abc import Iterator

from linerate.model.run_records import Search
from linerate.report.case import Case, Outcome
from linerate.results.goals import headline
from linerate.results.store import Result, Run


def of_run(run: Run) -> Iterator[Case]:
    """A case for each loadtest of a search, else for each test; what was not measured, too."""
    if run.searches:
        yield from (_of_search(run, search) for search in run.searches)
    else:
        yield from (_of_result(run, result) for result in run.reported())
    for one in run.absent:
        outcome: Outcome = "skipped" if one.planned else "error"
        yield Case(run.suite, one.configuration, outcome, one.reason)
    if run.status != "complete":
        yield Case(run.suite, "run", "error", f"{run.status}: {run.problem or 'not to its end'}")


def _of_result(run: Run, result: Result) -> Case:
    seconds = result.duration_seconds
    if not result.valid:
        return Case(run.suite, result.test, "error", result.invalid[0],
                    "\n".join(result.invalid), seconds)  # fmt: skip
    figures = tuple(
        (name, f"{getattr(result, name):.10g}")
        for name in ("offered_pps", "received_pps", "line_percent", "loss_percent")
    )
    limit = result.verdict.limit
    empty = result.nothing_came_back
    return Case(
        run.suite,
        result.test,
        "failure" if empty else "passed",
        f"received nothing of {result.packets.sent:,} packets sent" if empty else "",
        "\n".join((f"{limit}: {result.verdict.sentence}", *result.suspect)),
        seconds,
        (*figures, ("limit", limit)),
    )


def _of_search(run: Run, search: Search) -> Case:
    figures = tuple(
        (f"{_named(goal.loss_ratio)}_pps", f"{goal.lower_pps:.10g}")
        for goal in search.goals
        if goal.lower_pps is not None
    )
    tried = [one for one in run.results if one.test == search.loadtest]
    return Case(
        run.suite,
        search.loadtest,
        "passed" if search.found else "error",
        "" if search.found else "not found to the end",
        headline(run, search),
        sum(one.duration_seconds for one in tried),
        figures,
    )


def _named(loss_ratio: float) -> str:
    known = {0.0: "ndr", 0.005: "pdr"}
    return known.get(loss_ratio, f"loss_{100 * loss_ratio:g}_percent")
