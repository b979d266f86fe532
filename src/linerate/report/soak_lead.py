"""The outcome of a soak at the top of its page: the load, how long it was held, what was lost."""

from linerate.model.run_records import SoakState
from linerate.report import lead
from linerate.report.document import Lead, Tone
from linerate.results.store import Run


def outcome(run: Run, soak: SoakState) -> Lead:
    """Passed, or at which packet not."""
    results = run.reported()
    result = results[0] if results else None
    value, unit = lead.rate(soak.pps)
    return Lead(
        value=value,
        unit=f"{unit} for {duration(soak.seconds)}",
        subject=": ".join(filter(None, (soak.loadtest, result.text if result else ""))),
        verdict=_verdict(soak) or run.problem or "It has not ended.",
        sure=_sure(soak, lead.sure(result) if result is not None and result.valid else ""),
        tone=_tone(soak, result is not None and result.valid),
        facts=(
            ("packets sent", f"{soak.sent:,}"),
            ("lost", f"{soak.lost:,}"),
            ("lost and counted nowhere", f"{soak.unexplained:,}"),
            ("intervals with a loss", f"{soak.lossy_intervals:,} of {soak.intervals:,}"),
        ),
    )


def _verdict(soak: SoakState) -> str:
    """The verdict without the load and length that stand above it."""
    found = soak.verdict.partition(": ")[2] or soak.verdict
    return found[:1].upper() + found[1:]


def _tone(soak: SoakState, valid: bool) -> Tone:
    if soak.unexplained or not valid:
        return "failed"
    return "limited" if soak.lost else "good"


def _sure(soak: SoakState, confidence: str) -> str:
    asked = f"{duration(soak.asked_seconds)} were asked for"
    early = asked if soak.seconds < 0.999 * soak.asked_seconds else ""
    return "; ".join(filter(None, (early, confidence)))


def duration(seconds: float) -> str:
    """A length of time in one unit that suits it."""
    if seconds < 120:
        return f"{seconds:,.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:,.3g} min"
    return f"{seconds / 3600:,.3g} h"
