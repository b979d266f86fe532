"""A search: each goal's two loads, what limits there, every trial."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from linerate.analysis.explain.model import Limit
from linerate.base.line_rate import format_pps, in_mpps
from linerate.base.published import Number, Output, published
from linerate.model.run_records import Goal, Search
from linerate.report import json_output, marks, power, search_lead, trial
from linerate.report.document import (
    LIMIT,
    NONE,
    Document,
    Heading,
    Listing,
    Note,
    Section,
    Table,
    figures,
    text,
)
from linerate.report.figures import loads_tried, loss_over_load, power_loads
from linerate.report.framed import NOTHING, framed
from linerate.report.terminal import count
from linerate.results.goals import (
    NDR,
    PDR,
    at_goal,
    goal_name,
    limiting,
    trial_named,
    trials_of,
)
from linerate.results.store import Result, Run

#: Smaller losses are written as less than this.
LEAST_PERCENT = 0.0001
#: Trials that a page shows without being asked.
TRIALS_OPEN = 12
LIMITS = "What limits, and how we know"
GOAL_COLUMNS = (
    *text("goal"),
    *figures("loss up to", "lower Mpps", "upper Mpps", "% of line", "forwarded Mpps", marks.COLUMN),
)
TRIAL_COLUMNS = (
    *text("trial"),
    *figures("Mpps", "seconds", "sent", "lost", "loss", marks.COLUMN),
    *LIMIT,
)


def document(run: Run, folder: Path) -> Document:
    """A whole run of searches."""
    return framed(
        run,
        folder,
        "search",
        [section for search in run.searches for section in _sections(run, search)] or [NOTHING],
        data=partial(output, run, folder),
        details=lambda: trial.all_sections(shown(run)),
        more=(
            f"each packet and cycle: linerate show ledger {folder}",
            f"the page: {folder}/report.html",
        ),
    )


def _sections(run: Run, search: Search) -> list[Section]:
    name = search.loadtest
    goals = Table(f"{name}: goals", GOAL_COLUMNS, tuple(goal_rows(search)), titled=False)
    tried = trials_of(run, search)
    columns = (*TRIAL_COLUMNS, *power.spare_columns(tried))
    rows = tuple(trial_rows(run, search))
    trials = Table(
        f"{name}: {len(rows)} trials",
        columns,
        rows,
        titled=False,
        closed=len(rows) > TRIALS_OPEN,
        links=trial.links(shown(run)),
    )
    limits = Listing(LIMITS, ("goal", "why it is no higher"), tuple(limit_lines(run, search)))
    top = (
        Heading(name, f"search-of-{name.replace('@', '-')}", search.text),
        search_lead.outcome(run, search),
    )
    return [
        # One of several stands in its own section.
        *(top if len(run.searches) > 1 else reversed(top)),
        loss_over_load.picture(run, search),
        *([goals] if search.goals else []),
        Note(definitions(search)),
        *([limits] if search.goals else []),
        loads_tried.picture(run, search).under("Loads in the order in which they were tried"),
        trials,
        *_power_at_goals(run, search),
        *power.notes(tried),
        *power_loads.pictures(tried, f"power-of-{name.replace('@', '-')}"),
        *map(Note, notes(run, search)),
    ]


def _power_at_goals(run: Run, search: Search) -> list[Section]:
    """Power at the load of each goal."""
    rows = [
        row
        for goal in search.goals
        if (result := trial_named(run, goal.lower_trial)) is not None
        and (row := power.row(goal_name(goal.loss_ratio), result.power)) is not None
    ]
    return [Table("Power at each goal", power.FULL, tuple(rows))] if rows else []


def shown(run: Run) -> list[Result]:
    """Trials that are shown in full: at each goal, and the one that limits it."""
    found = [
        result
        for search in run.searches
        for goal in search.goals
        for result in (trial_named(run, goal.lower_trial), limiting(run, search, goal))
    ]
    return list({result.trial: result for result in found if result and result.valid}.values())


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
    tried = trials_of(run, search)
    extra = [one.name for one in power.columns(tried)]
    return [
        (*_trial_row(one, search), *(power.cells(one)[name] for name in extra)) for one in tried
    ]


def _trial_row(result: Result, search: Search) -> tuple[str, ...]:
    by_host = search.lost_by_host.get(result.trial, 0)
    name = result.trial + marks.SUSPECT * bool(result.valid and result.suspect)
    name += marks.LEFT_OUT * bool(by_host)
    load = (name, _mpps(result.asked_pps), f"{result.duration_seconds:.3g}")
    if not result.valid:
        return (*load, NONE, NONE, NONE, NONE, "invalid")
    lost = round(result.packets.sent * result.loss_percent / 100)
    share = "0" if not lost else _percent(result.loss_percent)
    return (
        *load,
        count(result.packets.sent),
        count(lost),
        share,
        f"{by_host:,}",
        result.verdict.limit,
    )


def _percent(value: float) -> str:
    return f"{value:.3g} %" if value >= LEAST_PERCENT else f"<{LEAST_PERCENT:g} %"


def limit_lines(run: Run, search: Search) -> list[tuple[str, str]]:
    """A goal's name, and why it is no higher."""
    return [(goal_name(goal.loss_ratio), why(run, search, goal)) for goal in search.goals]


def why(run: Run, search: Search, goal: Goal) -> str:
    """Limit of a goal, the trial that shows it, and what was idle there."""
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


class _Asked(Output):
    trial: str
    asked_pps: float
    duration_seconds: float


class SearchTrial(json_output.TrialOutput, _Asked):
    """One trial of a search."""


class GoalOutput(Output, Goal):
    """A goal, and what limits there."""

    limit: Limit | None
    #: The trial that shows it.
    limit_trial: str | None
    sentence: str | None
    #: Packets lost at its lower load that count as the host's.
    left_out: int


class SearchedLoadtest(Output):
    """A search with one loadtest; without NDR and PDR where it was not found to its end."""

    loadtest: str = ""
    #: FCS counted.
    frame_bytes: Number = 0
    #: Whether every goal's two loads were measured, and are near each other.
    found: bool = False
    #: Largest difference of a goal's two loads, as a share of the upper one.
    width: float = 0.0
    #: The line's rate, or nearly what the tester can offer.
    max_pps: float = 0.0
    ndr_pps: float | None
    pdr_pps: float | None
    goals: tuple[GoalOutput, ...]
    #: By trial: packets lost while a worker was descheduled; not counted.
    lost_by_host: dict[str, int] = {}
    trials: tuple[SearchTrial, ...]


@published("search", "JSON of `linerate search --json`")
class SearchOutput(SearchedLoadtest, json_output.RunOutput):
    """A run of searches; the first one's figures stand at the top."""

    #: Where there are several.
    searches: tuple[SearchedLoadtest, ...] = ()


def output(run: Run, folder: Path) -> SearchOutput:
    """As JSON."""
    searches = [searched(run, search) for search in run.searches]
    nothing: dict[str, Any] = {"ndr_pps": None, "pdr_pps": None, "goals": (), "trials": ()}
    return SearchOutput(
        **json_output.run_fields(run, folder),
        **(dict(searches[0]) if searches else nothing),
        **({"searches": searches} if len(searches) > 1 else {}),
    )


def searched(run: Run, search: Search) -> SearchedLoadtest:
    """Spell out one search."""
    return SearchedLoadtest(
        loadtest=search.loadtest,
        frame_bytes=search.frame_bytes,
        found=search.found,
        width=search.width,
        max_pps=search.max_pps,
        ndr_pps=_found(search, NDR),
        pdr_pps=_found(search, PDR),
        goals=tuple(_goal(run, search, goal) for goal in search.goals),
        lost_by_host=search.lost_by_host,
        trials=tuple(_trial(result) for result in trials_of(run, search)),
    )


def _found(search: Search, loss_ratio: float) -> float | None:
    lower: Iterable[float | None] = (
        goal.lower_pps for goal in search.goals if search.found and goal.loss_ratio == loss_ratio
    )
    return next(iter(lower), None)


def _goal(run: Run, search: Search, goal: Goal) -> GoalOutput:
    shows = limiting(run, search, goal)
    return GoalOutput(
        **dict(goal),
        limit=shows.verdict.limit if shows else None,
        limit_trial=shows.trial if shows else None,
        sentence=shows.verdict.sentence if shows else None,
        left_out=search.lost_by_host.get(goal.lower_trial, 0),
    )


def _trial(result: Result) -> SearchTrial:
    return SearchTrial(
        trial=result.trial,
        asked_pps=result.asked_pps,
        duration_seconds=result.duration_seconds,
        **json_output.trial_fields(result),
    )
