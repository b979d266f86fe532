"""The outcome of a sweep at the top of its page: the smallest frames, and the line."""

from collections.abc import Mapping

from linerate.report import lead
from linerate.report.document import Lead
from linerate.report.summary import at_line
from linerate.results.store import Run
from linerate.results.sweep_points import Point

#: Configurations beside the one that is named.
FACTS_MAX = 6


def outcome(run: Run, found: Mapping[tuple[str, int], Point]) -> Lead:
    """The smallest frames cost a forwarder most packets a second: there it shows what it can."""
    valid = [point for point in found.values() if point.pps is not None]
    if not valid:
        return lead.nothing(run)
    smallest = min(point.frame_bytes for point in valid)
    there = sorted(
        (point for point in valid if point.frame_bytes == smallest),
        key=lambda point: -(point.pps or 0.0),
    )
    best, *others = there
    of_all = f", the fastest of {len(there)}" if others else ""
    value, unit = lead.rate(best.pps or 0.0)
    return Lead(
        value=value,
        unit=unit,
        subject=f"{best.configuration}, {smallest}-byte frames{of_all}",
        verdict=f"{lead.limited(best.result)} {_line(best.configuration, valid)}",
        sure=_sure(best),
        tone=lead.tone(best.result),
        facts=(
            ("of the line", f"{min(best.percent or 0.0, 100.0):.1f} %"),
            *((one.configuration, lead.rate_text(one.pps or 0.0)) for one in others[:FACTS_MAX]),
        ),
    )


def _line(configuration: str, valid: list[Point]) -> str:
    """From which size on nothing but the line limits it."""
    mine = sorted(
        (point for point in valid if point.configuration == configuration),
        key=lambda point: -point.frame_bytes,
    )
    reached = None
    for point in mine:
        if not at_line(point.result):
            break
        reached = point.frame_bytes
    if reached is None:
        return f"It reaches the line at none of the {len(mine)} sizes."
    if reached == mine[-1].frame_bytes:
        return "It reaches the line at every size."
    return f"It reaches the line from {reached} bytes on."


def _sure(point: Point) -> str:
    trials = len(point.rates_pps)
    spread = point.spread_percent
    count = "one trial" if trials == 1 else f"median of {trials} trials"
    within = "" if spread is None else f", within ±{max(spread / 2, 0.1):.1f} %"
    return f"{lead.sure(point.result)}; {count}{within}"
