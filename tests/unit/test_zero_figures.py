"""Files of runs whose figures are 0: read as far as they say something, or refused in one line."""

import io
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from linerate.analysis.cost import costs_of
from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of, sibling_of
from linerate.analysis.validity import caused_by_host, caused_by_tester, doubts, reasons
from linerate.base.errors import SetupError
from linerate.base.published import json_text
from linerate.lab.tester.iperf3 import offered
from linerate.model.measurement import Measurement
from linerate.report import bench, json_output, terminal, verdict
from linerate.report.render import csv, html, markdown
from linerate.report.render import terminal as screen
from linerate.results.store import Judged, RunFolder, Which, result_of
from linerate.ui.console import Console

TRIALS = sorted((Path(__file__).parents[1] / "data" / "trials").glob("*.json"))


def numbers_of(document, path=()):
    """Paths of all numbers, items of lists left out."""
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        inner = (*path, key) if isinstance(key, str) else path
        if isinstance(value, dict | list):
            yield from numbers_of(value, inner)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield inner


def with_zeros(document, wanted, path=()):
    """The same with 0 for each number at a path that begins so."""
    if isinstance(document, dict):
        return {key: with_zeros(one, wanted, (*path, key)) for key, one in document.items()}
    if isinstance(document, list):
        return [with_zeros(one, wanted, path) for one in document]
    number = isinstance(document, int | float) and not isinstance(document, bool)
    return 0 if number and path[: len(wanted)] == wanted else document


def read_all(measurement, run):
    """Whatever is made of a measurement."""
    invalid, suspect = reasons(measurement), doubts(measurement)
    caused_by_host(measurement)
    caused_by_tester(measurement)
    costs_of(measurement)
    for why in (invalid, ()):
        evidence = evidence_of(measurement, "U2", "evidence/U2.json", why)
        sibling = sibling_of(evidence)
        found = explain(evidence.model_copy(update={"siblings": (sibling,) if sibling else ()}))
        judged = Judged(invalid=why, suspect=suspect, verdict=found)
        result = result_of(Which(test="U2", text="64 B", attempt=1), measurement, judged)
        made = run(result)
        console = Console(file=io.StringIO(), width=100)
        screen.show(console, verdict.of_run(made, [result]))
        terminal.ledger_report(console, result)
        json_text(json_output.ledgers(result))
        document = bench.document(made, Path("a-run"), lambda *_: measurement)
        csv.render(document)
        markdown.render(document)
    assert html.page(document).html


@pytest.mark.parametrize("trial", TRIALS[:2], ids=lambda path: path.stem)
def test_no_figure_that_is_zero_is_divided_by(trial, run):
    document = json.loads(trial.read_text())
    known = set(numbers_of(document))
    keys = sorted(known | {path[:1] for path in known})
    read = 0
    for wanted in (*keys, ()):
        try:
            measurement = Measurement.model_validate(with_zeros(document, wanted))
        except ValidationError:
            continue
        read_all(measurement, run)
        read += 1
    assert read > len(keys) / 2


@pytest.fixture
def folder(tmp_path, run, result, evidence):
    made = RunFolder.create(tmp_path / "runs", "router")
    made.save(run(result("U1")))
    made.save_measurement("U1", evidence())
    return made.path


@pytest.mark.parametrize("key", ["tsc_hz", "duration_us", "link_bps", "directions"])
def test_evidence_that_can_not_be_is_refused_in_a_line(linerate, folder, key):
    file = folder / "evidence" / "U1.json"
    document = json.loads(file.read_text())
    for at in (document["load"], *document["time"], *document["time_at_load"]):
        at.update({key: 0} if key in at else {})
    file.write_text(json.dumps(document))
    for command in ("explain", "report"):
        done = linerate(command, str(folder))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"linerate: {file}: no evidence that this version reads\n"


@pytest.mark.parametrize("words", [["report"], ["explain"], ["show", "ledger"]])
def test_a_run_that_can_not_be_is_refused_in_a_line(linerate, folder, words):
    file = folder / "run.json"
    document = json.loads(file.read_text())
    document["results"][0]["time"][0]["tsc_hz"] = 0
    file.write_text(json.dumps(document))
    done = linerate(*words, str(folder))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"linerate: {file}: results.0.time.0.tsc_hz: input should be greater than 0\n"
    )


def test_iperf3_that_did_not_send_is_reported():
    report = {"end": {"sum": {"packets": 0, "lost_packets": 0, "seconds": 0.0}}}
    with pytest.raises(SetupError, match="iperf3 sent for 0 s"):
        offered(report, {})
