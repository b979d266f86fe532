"""Goals of a search in words, and what limits the device at each: read off a run."""

from collections.abc import Iterable

from linerate.base.line_rate import format_pps
from linerate.model.ledger import forwarder_ledgers
from linerate.model.run_records import Goal, Search
from linerate.results.store import Result, Run

NDR = 0.0
PDR = 0.005
#: Verdicts that name no limit.
NO_LIMIT = ("none", "unknown", "unexplained", "invalid")


def parse_ratio(text: str) -> float:
    """Read a loss ratio, `0.5%` or `0.005`; raises ValueError."""
    number = text.strip().removesuffix("%")
    try:
        ratio = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        ratio = -1.0
    if not 0 <= ratio < 1:
        raise ValueError(f"expected a loss ratio from 0 to below 100 %, as 0.5%; not '{text}'")
    return ratio


def goal_name(loss_ratio: float) -> str:
    """`NDR`, `PDR`, or the loss that is allowed."""
    return {NDR: "NDR", PDR: "PDR"}.get(loss_ratio, f"{100 * loss_ratio:g} %")


def goals_text(goals: Iterable[Goal]) -> str:
    """State of a search, in a few words."""
    return ", ".join(f"{goal_name(goal.loss_ratio)} {_between(goal)}" for goal in goals)


def _between(goal: Goal) -> str:
    low, high = goal.lower_pps, goal.upper_pps
    if low is None and high is None:
        return "?"
    if low is None:
        return f"< {_rate(high)}"
    if high is None:
        return f"> {_rate(low)}"
    number, unit = _rate(low).split()
    above = _rate(high)
    # `5–5.5 Mpps`: the unit once, where both have it.
    return f"{number}–{above}" if above.endswith(f" {unit}") else f"{number} {unit} – {above}"


def _rate(pps: float | None) -> str:
    return format_pps(pps or 0.0, ".4g")


def trials_of(run: Run, search: Search) -> list[Result]:
    """All its trials, repeated ones too, in the order in which they were measured."""
    before = f"{search.loadtest}."
    return [
        result
        for result in run.results
        if result.test.startswith(before) and result.test.removeprefix(before).isdigit()
    ]


def trial_named(run: Run, trial: str) -> Result | None:
    """The trial of that name."""
    return next((result for result in run.results if result.trial == trial), None)


def limiting(run: Run, search: Search, goal: Goal) -> Result | None:
    """The trial that shows what keeps a goal from being higher.

    That is the lowest load that missed it; where it lost too little to name a limit, the next
    one above that does. Where every load held it, the highest.
    """
    first = trial_named(run, goal.upper_trial or goal.lower_trial)
    if first is None or _names_limit(first):
        return first
    above = [one for one in trials_of(run, search) if one.valid and one.asked_pps > first.asked_pps]
    above.sort(key=lambda one: one.asked_pps)
    return next((one for one in above if _names_limit(one)), first)


def _names_limit(result: Result) -> bool:
    return result.verdict.limit not in NO_LIMIT


def at_goal(run: Run, goal: Goal) -> str:
    """State of the device's busiest worker at a goal's load, or nothing when unknown."""
    result = trial_named(run, goal.lower_trial)
    ledgers = forwarder_ledgers(result.time_at_load) if result else ()
    busiest = min(ledgers, key=lambda ledger: ledger.spare_percent, default=None)
    if busiest is None:
        return ""
    return f"{busiest.worker} has {busiest.spare_percent:.0f} % of its time to spare there"


def headline(run: Run, search: Search) -> str:
    """The outcome of a search in one sentence."""
    found = goals_text(search.goals) or "nothing"
    if not search.found:
        return f"{search.loadtest} ({search.text}), not found to the end: {found}."
    first = search.goals[0]
    limit = limiting(run, search, first)
    by = f", limited by {limit.verdict.limit}" if limit and _names_limit(limit) else ""
    return f"{search.loadtest} ({search.text}): {found}{by}."
