"""A search: each goal's two loads, what limits there, every trial; terminal, Markdown, JSON."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from linerate.base.line_rate import format_pps, in_mpps
from linerate.model.run_records import Goal, Search
from linerate.report import json_output, markdown, marks
from linerate.report.ending import how_it_ended
from linerate.report.terminal import LIMIT_STYLES, count, environment_line, heading, plain_table
from linerate.results.goals import NDR, PDR, at_goal, goal_name, headline, limiting, trials_of
from linerate.results.store import Result, Run

NONE = "–"
GOAL_COLUMNS = (
    "goal",
    "loss up to",
    "lower Mpps",
    "upper Mpps",
    "% of line",
    "forwarded Mpps",
    marks.COLUMN,
)
TRIAL_COLUMNS = ("trial", "Mpps", "seconds", "sent", "lost", "loss", marks.COLUMN, "limit")
INDENT = 7


def search_report(console: Console, run: Run, folder: Path) -> None:
    """Print a whole run of searches."""
    console.print(heading(run))
    console.print(environment_line(run.environment), style="dim")
    for search in run.searches:
        console.print()
        console.print(Text(f"{search.loadtest}  {search.text}", "bold"))
        if search.goals:
            console.print(_goals_table(search))
        console.print(Text(definitions(search), "dim"))
        if search.goals:
            _print_limits(console, run, search)
        console.print()
        console.print(_trials_table(run, search))
        for line in notes(run, search):
            console.print(Text(line, "dim"))
    if not run.results:
        console.print("nothing was measured")
    how_it_ended(
        console,
        run,
        folder,
        f"each packet and cycle: linerate show ledger {folder}",
        f"the page: {folder}/report.html",
    )


def definitions(search: Search) -> str:
    """Definitions of the figures."""
    near = "" if search.found else ", not found to the end"
    return (
        f"offered loads, all directions together, {100 * search.width:g} % between them at most; "
        f"trials of {search.duration_seconds:g} s{near}"
    )


def goal_rows(search: Search) -> list[tuple[str, ...]]:
    """A goal, its two loads, the share of the line, what came through."""
    return [
        (
            goal_name(goal.loss_ratio),
            f"{100 * goal.loss_ratio:g} %",
            _mpps(goal.lower_pps) if goal.lower_pps is not None else f"< {_mpps(search.min_pps)}",
            _mpps(goal.upper_pps) if goal.upper_pps is not None else NONE,
            f"{100 * goal.lower_pps / search.line_pps:.2f}" if goal.lower_pps else NONE,
            _mpps(goal.forwarded_pps),
            marks.of_goal(search, goal),
        )
        for goal in search.goals
    ]


def trial_rows(run: Run, search: Search) -> list[tuple[str, ...]]:
    """A trial, its load and length, what was lost, what limits."""
    return [_trial_row(result, search) for result in trials_of(run, search)]


def _trial_row(result: Result, search: Search) -> tuple[str, ...]:
    by_host = search.lost_by_host.get(result.trial, 0)
    name = result.trial + marks.SUSPECT * bool(result.valid and result.suspect)
    name += marks.LEFT_OUT * bool(by_host)
    load = (name, _mpps(result.asked_pps), f"{result.duration_seconds:.3g}")
    if not result.valid:
        return (*load, NONE, NONE, NONE, NONE, "invalid")
    lost = round(result.packets.sent * result.loss_percent / 100)
    share = "0" if not lost else f"{result.loss_percent:.3g} %"
    return (
        *load,
        count(result.packets.sent),
        count(lost),
        share,
        f"{by_host:,}",
        result.verdict.limit,
    )


def limit_lines(run: Run, search: Search) -> list[tuple[str, str]]:
    """A goal's name, and why it is no higher."""
    return [(goal_name(goal.loss_ratio), _why(run, search, goal)) for goal in search.goals]


def _why(run: Run, search: Search, goal: Goal) -> str:
    result = limiting(run, search, goal)
    if result is None:
        return "no trial shows it"
    where = f" ({result.trial}, {format_pps(result.asked_pps, '.4f')})"
    spare = at_goal(run, goal)
    parts = [f"{result.verdict.limit}: {result.verdict.sentence.rstrip('.')}{where}"]
    return "; ".join([*parts, spare] if spare else parts)


def notes(run: Run, search: Search) -> list[str]:
    """Notes on the trials."""
    lines = []
    invalid = sum(not result.valid for result in trials_of(run, search))
    if invalid:
        lines.append(f"{invalid} invalid, and repeated: --json says why")
    for goal in search.goals:
        if others := marks.repeated(run, goal):
            name = goal_name(goal.loss_ratio)
            lines.append(f"{name}: {others} left out, invalid or with more lost to the host")
    if suspect := sum(result.valid and bool(result.suspect) for result in trials_of(run, search)):
        lines.append(f"{marks.SUSPECT} {suspect} suspect: the machine was not the same throughout")
    if search.lost_by_host:
        lost = sum(search.lost_by_host.values())
        lines.append(
            f"{marks.LEFT_OUT} {lost:,} packets lost while a worker was descheduled, in each "
            "attempt: not the device's, not counted"
        )
    return lines


def _mpps(pps: float | None) -> str:
    return NONE if pps is None else in_mpps(pps, 4)


def _goals_table(search: Search) -> Table:
    table = plain_table(("goal", "left"), *((name, "right") for name in GOAL_COLUMNS[1:]))
    for row in goal_rows(search):
        table.add_row(*row)
    return table


def _trials_table(run: Run, search: Search) -> Table:
    right = ((name, "right") for name in TRIAL_COLUMNS[1:-1])
    table = plain_table(("trial", "left"), *right, ("limit", "left"))
    for *cells, limit in trial_rows(run, search):
        table.add_row(*cells, Text(limit, LIMIT_STYLES.get(limit, "yellow")))
    return table


def _print_limits(console: Console, run: Run, search: Search) -> None:
    console.print()
    console.print(Text("What limits, and how we know", "bold"))
    for name, why in limit_lines(run, search):
        lines = Text(f"{name:<4} {why}").wrap(console, console.width - INDENT)
        for number, line in enumerate(lines):
            line.rstrip()
            console.print(Text(" " * (INDENT if number else 2)) + line)


def as_markdown(run: Run) -> str:
    """The whole run."""
    parts: list[str] = []
    for search in run.searches:
        parts += [
            f"**{markdown.plain(headline(run, search))}**",
            *([markdown.table(GOAL_COLUMNS, goal_rows(search))] if search.goals else []),
            markdown.plain(definitions(search)),
            *([_limits_table(run, search)] if search.goals else []),
            markdown.table(TRIAL_COLUMNS, trial_rows(run, search)),
            *map(markdown.plain, notes(run, search)),
        ]
    return markdown.framed(run, parts)


def _limits_table(run: Run, search: Search) -> str:
    return markdown.table(("goal", "what limits"), limit_lines(run, search), words=2)


def document(run: Run, folder: Path) -> dict[str, Any]:
    """As JSON. A search that was not found to its end has no NDR or PDR, only intervals."""
    searches = [_search(run, search) for search in run.searches]
    first: dict[str, Any] = searches[0] if searches else _search(run, None)
    return {
        "run": str(folder),
        "status": run.status,
        "problem": run.problem,
        **first,
        **({"searches": searches} if len(searches) > 1 else {}),
    }


def _search(run: Run, search: Search | None) -> dict[str, Any]:
    if search is None:
        return {"ndr_pps": None, "pdr_pps": None, "goals": [], "trials": []}
    return {
        "loadtest": search.loadtest,
        "frame_bytes": search.frame_bytes,
        "found": search.found,
        "width": search.width,
        "max_pps": search.max_pps,
        "ndr_pps": _found(search, NDR),
        "pdr_pps": _found(search, PDR),
        "goals": [_goal(run, search, goal) for goal in search.goals],
        "lost_by_host": search.lost_by_host,
        "trials": [_trial(result) for result in trials_of(run, search)],
    }


def _found(search: Search, loss_ratio: float) -> float | None:
    lower: Iterable[float | None] = (
        goal.lower_pps for goal in search.goals if search.found and goal.loss_ratio == loss_ratio
    )
    return next(iter(lower), None)


def _goal(run: Run, search: Search, goal: Goal) -> dict[str, Any]:
    shows = limiting(run, search, goal)
    return goal.model_dump() | {
        "limit": shows.verdict.limit if shows else None,
        "limit_trial": shows.trial if shows else None,
        "sentence": shows.verdict.sentence if shows else None,
        "left_out": search.lost_by_host.get(goal.lower_trial, 0),
    }


def _trial(result: Result) -> dict[str, Any]:
    figures = {
        "trial": result.trial,
        "asked_pps": result.asked_pps,
        "duration_seconds": result.duration_seconds,
    }
    return figures | json_output.trial(result)
