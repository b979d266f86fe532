"""The document of a run, whatever was run."""

from pathlib import Path

from linerate.report import bench, latency_loads, matrix, rfc2544, search, sweep
from linerate.report.bench import Evidence
from linerate.report.document import Document
from linerate.results.matrix_rows import measured_costs, rows
from linerate.results.store import Run, load_measurement


def document_of(run: Run, folder: Path, evidence: Evidence = load_measurement) -> Document:
    """The document of any kind of run; `evidence` reads that of a trial, if it is there."""
    if run.suite == "matrix":
        return matrix.document(run, folder, rows(run, measured_costs(run, folder, evidence)))
    if run.rfc2544:
        return rfc2544.document(run, folder)
    if run.latencies:
        return latency_loads.document(run, folder)
    if run.searches:
        return search.document(run, folder)
    if run.sweep is not None:
        return sweep.document(run, folder)
    return bench.document(run, folder, evidence)
