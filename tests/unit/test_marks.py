"""Marks: what is left out of a figure, or casts doubt on it, stands beside it in every report."""

import csv
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.base.published import plain
from linerate.experiments.soak import verdict
from linerate.model.ledger import TimeLedger
from linerate.model.measurement import Stamp
from linerate.model.run_records import FrameSize, Goal, LossPoint, Search, SoakState
from linerate.report import bench, json_output, rfc2544, search
from linerate.report.of_run import document_of
from linerate.report.render import csv as as_csv
from linerate.report.render import html, markdown, terminal

LOST = 9_771


@pytest.fixture
def forgiven(evidence, ledger_of_worker):
    """A trial that lost packets while the forwarder was descheduled for a moment."""
    away = ledger_of_worker(idle=0.5).model_copy(update={"away_clocks": 10_000_000})
    ledgers: tuple[TimeLedger, ...] = (ledger_of_worker("tester", 0.1, "tester"), away)
    return evidence(losses={"card0 port 0: rx missed (ring full)": LOST}, time=ledgers)


@pytest.fixture
def suspect(evidence):
    return evidence(stamp=Stamp(steal_seconds={"forwarder-0": 0.2}))


def report(run):
    return bench.document(run, Path("runs/r"), lambda *_: None)


def printed(run):
    out = io.StringIO()
    terminal.show(Console(file=out, width=80), report(run))
    return out.getvalue()


def test_a_forgiven_loss_is_counted_in_its_row(result, run, forgiven):
    one = result(evidence=forgiven)
    assert (one.valid, one.left_out) == (True, LOST)
    made = run(one)
    row = re.search(r"^U2\*†.*$", printed(made), re.MULTILINE)
    assert row is not None
    assert "9,771" in row[0].split()
    assert "† Lost while a worker was descheduled" in printed(made)
    line = next(
        line for line in markdown.render(report(made)).splitlines() if line.startswith("| U2")
    )
    assert line.startswith("| U2\\*†")
    assert "| 9,771 |" in line
    (cells,) = csv.DictReader(io.StringIO(as_csv.render(report(made))))
    assert (cells["left_out"], cells["marks"]) == ("9771", "*†")
    page = html.page(document_of(made, Path("runs/r"), lambda *_: forgiven)).html
    assert "U2*†" in page
    assert "9,771" in page
    document = plain(json_output.trial(one))
    assert (document["left_out"], document["marks"]) == (LOST, "*†")


def test_a_trial_that_went_on_says_for_how_long(result, run, forgiven):
    one = result(evidence=forgiven).model_copy(update={"clean_seconds": 1.0})
    output = " ".join(printed(run(one)).split())
    assert "9,771 of 9,771 lost, in 5.0 s of which 1.0 s were undisturbed" in output


def test_a_clean_trial_has_no_mark(result, run):
    made = run(result())
    assert "left out" not in printed(made)
    (cells,) = csv.DictReader(io.StringIO(as_csv.render(report(made))))
    assert (cells["left_out"], cells["marks"]) == ("0", "")


def test_a_suspect_trial_has_its_mark_and_reason_in_markdown(result, run, suspect):
    page = markdown.render(report(run(result(evidence=suspect))))
    assert "| U2\\* |" in page
    assert "of its CPU stolen by the hypervisor" in page


def test_of_a_suspect_trial_nothing_is_known_for_sure(evidence, suspect):
    def confidence(measurement):
        return explain(evidence_of(measurement, "U2", "evidence/U2.json")).confidence

    assert (confidence(evidence()), confidence(suspect)) == ("high", "medium")


@pytest.fixture
def benchmarked(result, run, forgiven):
    """A search whose lower load lost packets to the host, at its second attempt."""
    invalid = result(test="U2.1").model_copy(update={"valid": False, "invalid": ("stretched",)})
    held = result(test="U2.1", evidence=forgiven, attempt=2)
    found = Search(
        loadtest="U2",
        text="64 B",
        frame_bytes=64,
        width=0.01,
        duration_seconds=60,
        min_pps=1e3,
        max_pps=14.88e6,
        line_pps=14.88e6,
        found=True,
        goals=(Goal(loss_ratio=0, lower_pps=14.88e6, lower_trial="U2.1-2"),),
        lost_by_host={"U2.1-2": LOST},
    )
    figures = FrameSize(
        loadtest="U2",
        frame_bytes=64,
        line_pps=14.88e6,
        max_pps=14.88e6,
        throughput_pps=14.88e6,
        throughput_trial="U2.1-2",
        loss_curve=(
            LossPoint(pps=14.88e6, line_percent=100, loss_ratio=0, trial="U2.1-2"),
            LossPoint(pps=13e6, line_percent=90, loss_ratio=0, trial="U2.90"),
        ),
    )
    return run(invalid, held, searches=(found,), rfc2544=(figures,))


def test_throughput_says_what_it_leaves_out(benchmarked):
    (row,) = rfc2544.size_rows(benchmarked)
    assert (row[0], row[-1]) == ("U2*†", "9,771")
    _, (losses,) = rfc2544.curve_table(benchmarked)
    assert losses == ("U2", "0†", "0")
    (size,) = plain(rfc2544.output(benchmarked, Path("runs/r")))["sizes"]
    assert size["left_out"] == {"U2.1-2": LOST}
    assert any(line.startswith("† 9,771 packets") for line in rfc2544.notes(benchmarked))


def test_a_goal_says_what_it_leaves_out(benchmarked):
    (found,) = benchmarked.searches
    (row,) = search.goal_rows(found)
    assert row[-1] == "9,771 †"
    assert search.trial_rows(benchmarked, found)[-1][0] == "U2.1-2*†"
    notes = search.notes(benchmarked, found)
    assert "NDR: 1 of 2 trials at its lower load left out, invalid or with more lost" in notes[1]
    (goal,) = plain(search.output(benchmarked, Path("runs/r")))["goals"]
    assert goal["left_out"] == LOST


def test_a_soak_says_what_it_leaves_out(result, forgiven):
    state = SoakState(
        loadtest="U2", pps=1e6, asked_seconds=60, every_seconds=60, stop_at="any", lost=LOST
    )
    message = verdict(state, result(evidence=forgiven))
    assert "9,771 of them left out as the host's" in message
