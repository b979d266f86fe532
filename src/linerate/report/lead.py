"""The outcome of a bench at the top of its page: the figure, its verdict, how sure it is."""

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
        return _nothing(run)
    below = [result for result in ordered if not at_line(result)]
    shown = below[0] if below else max(ordered, key=lambda result: result.received_pps)
    return Lead(
        value=mpps(shown.received_pps),
        unit="Mpps",
        subject=f"{shown.test}{marks.marks(shown)}: {shown.text}",
        verdict=_verdict(run, ordered, shown),
        sure=_sure(shown),
        tone=_tone(shown),
        facts=_facts(shown),
    )


def _nothing(run: Run) -> Lead:
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


def _tone(result: Result) -> Tone:
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
            return "The line limits: the device keeps up with it."
        invalid = len(run.reported()) - len(ordered)
        which = f"All {len(ordered)} {'valid ' if invalid else ''}tests"
        return f"{which} are limited by the line alone."
    text = shown.verdict.sentence.rstrip(".")
    others = sum(at_line(result) for result in ordered)
    rest = f" {others} of {len(ordered)} tests reach the line." if others else ""
    return f"Limited by {shown.verdict.limit}: {text}.{rest}"


def _sure(result: Result) -> str:
    doubts = [
        *(["provisional: no trial was valid"] if result.provisional else []),
        *(["suspect: the machine was not the same throughout"] if result.suspect else []),
    ]
    return "; ".join([f"{result.verdict.confidence} confidence", *doubts])
