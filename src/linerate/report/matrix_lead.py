"""The outcome of a matrix at the top of its page: the fastest, and that of each other link."""

from linerate.report import lead
from linerate.report.document import Lead
from linerate.results.matrix_rows import Row
from linerate.results.store import Run

#: Factors nearer to 1 say nothing.
NOTABLE = 1.05


def outcome(run: Run, found: list[Row]) -> Lead:
    """Links differ in what they can carry: each has a fastest of its own."""
    ordered = sorted(
        (row for row in found if row.point.pps is not None), key=lambda row: -(row.point.pps or 0.0)
    )
    if not ordered:
        return lead.nothing(run)
    best = ordered[0]
    fastest: dict[str, Row] = {}
    for row in ordered:
        fastest.setdefault(row.wire, row)
    value, unit = lead.rate(best.point.pps or 0.0)
    invalid = len(found) - len(ordered)
    return Lead(
        value=value,
        unit=unit,
        subject=f"{best.configuration} over {best.wire}, the fastest of {len(ordered)} "
        "configurations",
        verdict=lead.limited(best.point.result),
        sure=lead.sure(best.point.result) + (f"; {invalid} without a valid trial" * bool(invalid)),
        tone=lead.tone(best.point.result),
        facts=(
            *_of_line(best),
            *(
                (f"{row.label}, fastest over {wire}", lead.rate_text(row.point.pps or 0.0))
                for wire, row in fastest.items()
                if row is not best
            ),
            *_slowest(best),
        ),
    )


def _of_line(row: Row) -> tuple[tuple[str, str], ...]:
    percent = row.point.percent
    return () if percent is None else (("of the line", f"{min(percent, 100.0):.1f} %"),)


def _slowest(row: Row) -> tuple[tuple[str, str], ...]:
    """Factor over the slowest of those that do the same."""
    if row.over_slowest is None or row.over_slowest < NOTABLE:
        return ()
    return (("over the slowest beside it", f"{row.over_slowest:.3g} times"),)
