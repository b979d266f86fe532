"""The outcome of a bench at the top of its page: the figure, its verdict, how sure it is."""

from linerate.base.line_rate import format_pps
from linerate.report import latency, marks, power
from linerate.report.document import Lead, Tone
from linerate.report.summary import at_line, most_limited
from linerate.report.terminal import loss, mpps, percent_of_line
from linerate.results.store import Result, Run

#: Limits that are none of the device's.
OUTSIDE = ("line", "tester", "none")


def of_bench(run: Run) -> Lead:
    """The test furthest below its line; of those at the line, the fastest."""
    ordered = most_limited(run)
    if not ordered:
        return nothing(run)
    below = [result for result in ordered if not at_line(result)]
    shown = below[0] if below else max(ordered, key=lambda result: result.received_pps)
    value, unit = rate(shown.received_pps)
    return Lead(
        value=value,
        unit=unit,
        subject=f"{shown.test}{marks.marks(shown)}: {shown.text}",
        verdict=_verdict(run, ordered, shown),
        sure=sure(shown),
        tone=tone(shown),
        facts=_facts(shown),
    )


def rate(pps: float) -> tuple[str, str]:
    """A figure, and its unit."""
    value, _, unit = rate_text(pps).partition(" ")
    return value, unit


def rate_text(pps: float) -> str:
    """`9.87 Mpps`; a small one in a unit of its own."""
    return f"{mpps(pps)} Mpps" if pps >= 1e5 else format_pps(pps, ".4g")


def limited(result: Result) -> str:
    """The limit of a trial in a sentence."""
    if at_line(result):
        return "The line limits: the device keeps up with it."
    return f"Limited by {result.verdict.limit}: {result.verdict.sentence.rstrip('.')}."


def nothing(run: Run) -> Lead:
    """Why there is no figure."""
    reasons = list(dict.fromkeys(reason for one in run.reported() for reason in one.invalid))
    tests = len(run.reported())
    return Lead(
        value="No result",
        unit="",
        subject=", ".join(run.tests),
        verdict=f"No trial has a valid result: {reasons[0]}."
        if reasons
        else run.problem or "Nothing was measured.",
        sure=f"{tests} tests, all invalid" if tests > 1 and reasons else "",
        tone="failed",
    )


def tone(result: Result) -> Tone:
    """Whether the device is the limit."""
    return "good" if result.verdict.limit in OUTSIDE else "limited"


def _facts(result: Result) -> tuple[tuple[str, str], ...]:
    p99 = max((one.p99_us for one in result.latency if one.p99_us is not None), default=None)
    watts = result.power.watts if result.power else None
    facts = (
        ("of the line", f"{percent_of_line(result)} %"),
        ("lost", loss(result)),
        ("L1 rate", f"{result.l1_bps / 1e9:.2f} Gb/s"),
        ("p99 latency", "" if p99 is None else f"{latency.us(p99)} µs"),
        ("under load", "" if watts is None else f"{power.shown(watts)} W"),
    )
    return tuple((name, value) for name, value in facts if value)


def _verdict(run: Run, ordered: list[Result], shown: Result) -> str:
    """One sentence on it, and one on the others."""
    if at_line(shown):
        if len(ordered) == 1:
            return limited(shown)
        invalid = len(run.reported()) - len(ordered)
        which = f"All {len(ordered)} {'valid ' if invalid else ''}tests"
        return f"{which} are limited by the line alone."
    others = sum(at_line(result) for result in ordered)
    rest = f" {others} of {len(ordered)} tests reach the line." if others else ""
    return f"{limited(shown)}{rest}"


def sure(result: Result) -> str:
    """Confidence in the verdict, and doubts about the figure."""
    doubts = [
        *(["provisional: no trial was valid"] if result.provisional else []),
        *(["suspect: the machine was not the same throughout"] if result.suspect else []),
        *([f"{result.left_out:,} packets lost to the host left out"] if result.left_out else []),
    ]
    return "; ".join([f"{result.verdict.confidence} confidence", *doubts])
