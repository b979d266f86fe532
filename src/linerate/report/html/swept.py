"""A sweep as one page: the chart, what limits each configuration, what was not measured."""

from linerate.report.html import sizes
from linerate.report.html.page import document, environment, picture_html, status
from linerate.report.html.picture import Picture
from linerate.report.html.table import Table
from linerate.report.html.table import render as table_html
from linerate.report.render.html import Page
from linerate.results.store import Run
from linerate.results.sweep_points import points


def render(run: Run, name: str) -> Page:
    """The whole page."""
    drawn = sizes.picture(run)
    body = [
        status(run),
        picture_html(drawn),
        table_html(limits(run)),
        unmeasured(run),
        environment(run),
    ]
    return page(run, name, body, [drawn])


def page(run: Run, name: str, body: list[str], drawn: list[Picture]) -> Page:
    """Head it with what was compared."""
    assert run.sweep is not None
    count = len(run.sweep.configurations)
    top = f"{run.suite}: {count} configuration" + "s" * (count != 1)
    return document(f"{name}: linerate {run.suite}", top, body, drawn)


def limits(run: Run) -> Table:
    """Limit of each point, in words."""
    rows = tuple(
        (
            point.result.test,
            point.result.verdict.limit,
            point.result.verdict.sentence
            if point.pps is not None
            else "; ".join(point.result.invalid),
        )
        for point in points(run).values()
    )
    return Table("What limits", ("test", "limit", "why"), rows, frozenset({0, 1, 2}))


def unmeasured(run: Run) -> str:
    """Configurations without a measurement, the reason, and the remedy."""
    assert run.sweep is not None
    if not run.sweep.absent:
        return ""
    rows = tuple((one.configuration, one.reason, one.remedy) for one in run.sweep.absent)
    columns = ("configuration", "why", "what to do")
    return table_html(Table("Not measured", columns, rows, frozenset({0, 1, 2})))
