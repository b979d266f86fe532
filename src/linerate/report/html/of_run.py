"""The page of a run, whatever was run."""

from collections.abc import Callable
from pathlib import Path

from linerate.model.measurement import Measurement
from linerate.report import html
from linerate.report.html import benchmarks, searched, swept, timed
from linerate.report.html import matrix as matrix_page
from linerate.report.render.html import Page
from linerate.results.matrix_rows import measured_costs, rows
from linerate.results.store import Run, load_measurement

#: Reads what was measured in a trial, by the run's folder and the trial's name.
Evidence = Callable[[Path, str], Measurement | None]


def page_of(run: Run, folder: Path, evidence: Evidence = load_measurement) -> Page:
    """Make the page of a suite, or of a sweep; `evidence` reads that of a trial, if it is there."""
    name = folder.resolve().name
    if run.suite == "matrix":
        return matrix_page.render(run, name, rows(run, measured_costs(run, folder, evidence)))
    if run.rfc2544:
        return benchmarks.render(run, name)
    if run.latencies:
        return timed.render(run, name)
    if run.searches:
        return searched.render(run, name)
    if run.sweep is not None:
        return swept.render(run, name)
    measurements = {
        result.trial: measurement
        for result in run.reported()
        if result.valid and (measurement := evidence(folder, result.trial)) is not None
    }
    return html.render(run, name, measurements)
