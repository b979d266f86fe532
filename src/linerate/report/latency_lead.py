"""The outcome of latency over load at the top of its page: p99 at the highest load, and before."""

from linerate.base.line_rate import format_pps
from linerate.model.measurement.latency import LatencyLoads
from linerate.report import latency, lead, marks
from linerate.report.document import Lead
from linerate.report.figures.percentiles import points, worst
from linerate.report.terminal import loss
from linerate.results.store import Result, Run

#: p99 that is this many times that of the lowest load has risen.
RISEN = 2.0


def outcome(run: Run, loads: LatencyLoads) -> Lead:
    """p99 at the highest load; of two directions the slower."""
    subject = f"{loads.loadtest}: {loads.text}"
    timed = [
        (percent, p99, result)
        for percent, _, result in points(run, loads)
        if result.valid and (p99 := worst(result, "p99_us")) is not None
    ]
    if not timed:
        return Lead("No result", "", subject, _why(run, loads), tone="failed")
    percent, p99, result = timed[-1]
    return Lead(
        value=latency.us(p99),
        unit="µs at p99",
        subject=f"{subject}; at {percent:g} % of {_top(loads)}",
        verdict=f"{_rise(timed, loads)}{_limit(percent, result)}",
        sure=_sure(timed),
        facts=_facts(timed[0], result),
    )


def _top(loads: LatencyLoads) -> str:
    what = {"NDR": "the NDR", "given": "the given load", "line": "the line's rate"}[loads.top]
    return f"{what}, {format_pps(loads.top_pps, '.4g')}"


def _why(run: Run, loads: LatencyLoads) -> str:
    reasons = [reason for _, _, result in points(run, loads) for reason in result.invalid]
    return f"No load has a valid trial: {reasons[0]}." if reasons else "No frame was timed."


def _rise(timed: list[tuple[float, float, Result]], loads: LatencyLoads) -> str:
    """Where it begins to wait."""
    (lowest, least, _), *others = timed
    if not others:
        return f"One load was measured, {lowest:g} % of {_top(loads)}."
    risen = next((percent for percent, p99, _ in others if p99 > RISEN * least), None)
    start = f"{latency.us(least)} µs at p99 at {lowest:g} % of the load; "
    if risen is None:
        return f"{start}it stays below {RISEN:g} times that at all {len(timed)} loads."
    below = max(percent for percent, _, _ in timed if percent < risen)
    return f"{start}more than {RISEN:g} times that from {risen:g} % on, not yet at {below:g} %."


def _limit(percent: float, result: Result) -> str:
    if result.verdict.limit in lead.OUTSIDE:
        return ""
    return f" {result.verdict.limit} limits at {percent:g} %."


def _sure(timed: list[tuple[float, float, Result]]) -> str:
    frames = sum(one.count for _, _, result in timed for one in result.latency)
    suspect = sum(bool(result.suspect) for _, _, result in timed)
    doubt = f"; {marks.SUSPECT} {suspect} of {len(timed)} loads suspect" if suspect else ""
    return f"{frames:,} frames timed{doubt}"


def _facts(first: tuple[float, float, Result], last: Result) -> tuple[tuple[str, str], ...]:
    known = (
        ("typical there (p50)", worst(last, "p50_us")),
        ("longest there", worst(last, "max_us")),
        (f"typical at {first[0]:g} % of the load", worst(first[2], "p50_us")),
        ("the tester's and the link's own (p50)", worst(last, "p50_us", own=True)),
    )
    facts = tuple((name, f"{latency.us(value)} µs") for name, value in known if value is not None)
    return (*facts, ("lost there", loss(last)))
