"""Files for continuous integration: JUnit XML and summaries, of runs and comparisons."""

import csv
import io
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from linerate.cli import ci_files
from linerate.report import bench
from linerate.report.case import Case
from linerate.report.render import junit

RUNS = Path(__file__).parents[1] / "data" / "runs-0.1"


def cases_of(text):
    """Cases of JUnit XML by name: outcome and message."""
    root = ElementTree.fromstring(text)
    found = {}
    for case in root.iter("testcase"):
        bad = next((one for one in case if one.tag in ("failure", "error", "skipped")), None)
        outcome = ("passed", "") if bad is None else (bad.tag, bad.get("message"))
        found[case.get("name")] = outcome
    return found


def test_a_bench_writes_both_files(linerate, tmp_path):
    words = ("bench", "--only", "U2,B2", "--junit", "junit.xml", "--summary", "summary.md")
    done = linerate(*words, FAKE_DUT_PPS="5e6")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "junit.xml").read_text()
    assert cases_of(text) == {"U2": ("passed", ""), "B2": ("passed", "")}
    (suite,) = ElementTree.fromstring(text)
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("2", "0", "0")
    figures = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert float(figures["received_pps"] or 0) == pytest.approx(5e6, rel=0.05)
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("# ")
    assert "| U2 |" in summary


def test_the_file_that_github_names_is_appended_to(linerate, tmp_path):
    file = tmp_path / "step.md"
    file.write_text("# another step\n")
    done = linerate("search", FAKE_DUT_PPS="5e6", GITHUB_STEP_SUMMARY=str(file))
    assert done.returncode == 0, done.stderr
    assert file.read_text().startswith("# another step\n# ")
    assert "NDR" in file.read_text()


def test_a_summary_that_has_no_room_is_left_out(monkeypatch, tmp_path, run, result):
    monkeypatch.setattr(ci_files, "SUMMARY_BYTES_MAX", 100)
    file = tmp_path / "step.md"
    ci_files.write_ci_files(bench.document(run(result("U2")), tmp_path), None, file)
    assert file.read_text() == ""


def test_invalid_and_missing_tests_are_errors(run, result, evidence, tmp_path):
    bad = result("B2").model_copy(update={"valid": False, "invalid": ("the host was busy",)})
    measured = run(result("U2"), bad).model_copy(update={"status": "failed", "problem": "gone"})
    found = cases_of(junit.render(bench.document(measured, tmp_path)))
    assert found["U2"] == ("passed", "")
    assert found["B2"] == ("error", "the host was busy")
    assert found["run"] == ("error", "failed: gone")


def test_text_that_xml_can_not_hold_is_replaced(run, result, tmp_path):
    document = bench.document(run(result("U2")), tmp_path)
    hostile = Case("a<&>\x00", 'b"\x1b[2J', "failure", "\ud800 \ufffe", "]]>\x08")
    text = junit.render(replace(document, cases=lambda: [hostile]))
    assert cases_of(text) == {'b"\N{REPLACEMENT CHARACTER}[2J': ("failure", "\ufffd \ufffd")}


def test_a_file_that_can_not_be_written_is_one_line(linerate, tmp_path):
    for run in ("base", "other"):
        shutil.copytree(RUNS / run, tmp_path / run)
    done = linerate("bench", "--only", "U2", "--junit", "none/junit.xml", FAKE_DUT_PPS="5e6")
    assert done.returncode == 1
    assert "none/junit.xml: no such file" in done.stderr


def test_a_comparison_is_a_table_with_keys(linerate, tmp_path):
    for run in ("base", "other"):
        shutil.copytree(RUNS / run, tmp_path / run)
    done = linerate("compare", "base", "other", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["base"], row["other"], row["test"]) for row in rows] == [
        ("base", "other", test) for test in dict.fromkeys(row["test"] for row in rows)
    ]
    assert all(float(row["base_median_pps"]) > 0 for row in rows)
