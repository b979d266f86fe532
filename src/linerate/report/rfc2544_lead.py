"""The outcome of RFC 2544's benchmarks at the top of their page: the smallest frames'."""

from linerate.model.run_records import FrameSize
from linerate.report import latency, lead
from linerate.report.document import Lead
from linerate.results.goals import limiting
from linerate.results.store import Result, Run

#: Share of the line that counts as reached; a search ends that near to it.
REACHED = 0.99
#: RFC 2544, 24.
TRIAL_SECONDS = 60.0


def outcome(run: Run) -> Lead:
    """The smallest frames are the hardest; the others reach the line, or not."""
    known = [one for one in run.rfc2544 if one.throughput_pps]
    if not known:
        return lead.nothing(run)
    first = min(known, key=lambda one: one.frame_bytes)
    pps = first.throughput_pps or 0.0
    value, unit = lead.rate(pps)
    result = _limiting(run, first)
    why = "No load above it names a limit." if result is None else lead.limited(result)
    return Lead(
        value=value,
        unit=f"{unit} without loss",
        subject=f"{first.frame_bytes:g}-byte frames: throughput as RFC 2544 defines it",
        verdict=f"{why} {_line(run, known)}".strip(),
        sure=_sure(run, result),
        tone="good" if pps >= REACHED * first.line_pps or result is None else lead.tone(result),
        facts=_facts(first, pps),
    )


def _limiting(run: Run, one: FrameSize) -> Result | None:
    found = (
        limiting(run, search, goal)
        for search in run.searches
        if search.loadtest == one.loadtest
        for goal in search.goals[:1]
    )
    return next(found, None)


def _line(run: Run, known: list[FrameSize]) -> str:
    if len(run.rfc2544) == 1:
        return ""
    reached = [one for one in known if (one.throughput_pps or 0.0) >= REACHED * one.line_pps]
    if not reached:
        return f"None of the {len(run.rfc2544)} frame sizes reaches the line."
    sizes = ", ".join(f"{one.frame_bytes:g}" for one in reached)
    return f"{len(reached)} of {len(run.rfc2544)} frame sizes reach the line: {sizes} bytes."


def _sure(run: Run, result: Result | None) -> str:
    parts = [] if result is None else [lead.sure(result)]
    if run.searches:
        seconds = run.searches[0].duration_seconds
        wanted = f", RFC 2544 wants {TRIAL_SECONDS:g} s" * (seconds < TRIAL_SECONDS)
        parts.append(f"trials of {seconds:g} s{wanted}")
    return "; ".join(parts)


def _facts(one: FrameSize, pps: float) -> tuple[tuple[str, str], ...]:
    there = one.latency
    known = (
        ("of the line", f"{100 * min(1.0, pps / one.line_pps):.1f} %"),
        ("typical latency there (p50)", _us(None if there is None else there.p50_us)),
        ("p99 latency there", _us(None if there is None else there.p99_us)),
    )
    return tuple((name, value) for name, value in known if value)


def _us(value: float | None) -> str:
    return "" if value is None else f"{latency.us(value)} µs"
