"""The outcome of a search at the top of its page; of a failed one, why, and what to do."""

from collections import Counter

from linerate.base.line_rate import format_pps
from linerate.model.run_records import Goal, Search
from linerate.report.document import Lead
from linerate.report.terminal import mpps
from linerate.results.goals import NO_LIMIT, goal_name, limiting, trials_of
from linerate.results.store import Run

#: By words of a reason for which trials are invalid: what helps.
REMEDIES = {
    ("descheduled", "did not run", "stolen", "took too long"): (
        "Stop what else runs on this machine (linerate doctor lists it), or give tester and "
        "device CPUs of their own; then search again."
    ),
    ("offered below asked", "saturated"): (
        "The tester can't send that much: give it a faster CPU, larger frames, or search with "
        "--rate below its ceiling."
    ),
    ("unexplained", "ledger"): (
        "A counter is missing: linerate show ledger RUN has what is known of each packet."
    ),
}
OTHERWISE = "linerate show ledger RUN has the evidence of each trial."


def outcome(run: Run, search: Search) -> Lead:
    """The first goal that has a load, the others beside it."""
    found = [goal for goal in search.goals if goal.lower_pps is not None]
    if not found:
        return _failed(run, search)
    first, *others = found
    percent = 100 * min(1.0, (first.lower_pps or 0.0) / search.line_pps) if search.line_pps else 0.0
    facts = [
        ("of the line", f"{percent:.1f} %"),
        *((goal_name(one.loss_ratio), f"{mpps(one.lower_pps or 0.0)} Mpps") for one in others),
    ]
    doubtful = sum(result.valid and bool(result.suspect) for result in trials_of(run, search))
    return Lead(
        value=mpps(first.lower_pps or 0.0),
        unit=f"Mpps {goal_name(first.loss_ratio)}",
        subject=f"{search.loadtest}: {search.text}",
        verdict=_verdict(run, search, first),
        sure="; ".join(
            (
                f"loads within {100 * search.width:g} %, trials of {search.duration_seconds:g} s",
                *([f"{doubtful} trials suspect"] if doubtful else []),
            )
        ),
        tone="limited" if search.found else "failed",
        facts=tuple(facts),
    )


def _verdict(run: Run, search: Search, goal: Goal) -> str:
    if not search.found:
        return f"Not found to the end: {_why(run, search)} {_remedy(run, search)}"
    result = limiting(run, search, goal)
    if result is None or result.verdict.limit in NO_LIMIT:
        return "No load above it names a limit."
    text = result.verdict.sentence.rstrip(".")
    return f"Limited by {result.verdict.limit}: {text}, at {format_pps(result.asked_pps)}."


def _failed(run: Run, search: Search) -> Lead:
    return Lead(
        value="Not found",
        unit="",
        subject=f"{search.loadtest}: {search.text}",
        verdict=f"{_why(run, search)} {_remedy(run, search)}",
        sure=_counted(run, search),
        tone="failed",
    )


def _why(run: Run, search: Search) -> str:
    """One sentence."""
    lossy = [goal for goal in search.goals if goal.lower_pps is None and goal.upper_pps is not None]
    if lossy:
        return f"Even the lowest load tried, {format_pps(search.min_pps)}, lost packets."
    reasons = _reasons(run, search)
    if reasons and not any(result.valid for result in trials_of(run, search)):
        reason = max(reasons, key=lambda one: reasons[one])
        return f"No trial was valid: {reason}."
    if run.problem:
        return f"{run.problem.rstrip('.')}."
    return "It ended before both loads of each goal were measured."


def _remedy(run: Run, search: Search) -> str:
    if any(goal.lower_pps is None and goal.upper_pps is not None for goal in search.goals):
        return (
            "The tables below say where; --goal 0.1% looks for the load of a loss that is allowed."
        )
    words = " ".join(_reasons(run, search))
    for known, remedy in REMEDIES.items():
        if any(one in words for one in known):
            return remedy
    return OTHERWISE if words else "Search again, and let it run to its end."


def _reasons(run: Run, search: Search) -> Counter[str]:
    """Reasons for which trials are invalid: the first of each trial, figures of one left out."""
    found = [one.invalid[0].partition(":")[0] for one in trials_of(run, search) if one.invalid]
    return Counter(found)


def _counted(run: Run, search: Search) -> str:
    tried = trials_of(run, search)
    invalid = sum(not result.valid for result in tried)
    return f"{len(tried)} trials, {invalid} invalid" if tried else "no trial was measured"
