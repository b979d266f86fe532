"""Markdown and CSV: the same figures, and nothing that would be more than text."""

import csv as reader
import io
from pathlib import Path

import pytest

from linerate.report import bench
from linerate.report.render import csv, markdown

MISSED = "card0 port 0: rx missed (ring full)"


def document(run):
    return bench.document(run, Path("runs/r"), lambda *_: None)


@pytest.fixture
def measured(run, result, evidence):
    return run(
        result("U1"),
        result("U2", evidence(losses={MISSED: 20_000_000}, idle=0.0)),
        result("U3", evidence(unexplained=1)),
    )


def test_csv_is_read_as_it_was_written(measured):
    rows = {
        row["test"]: row for row in reader.DictReader(io.StringIO(csv.render(document(measured))))
    }
    for result in measured.reported():
        row = rows[result.test]
        assert row["text"] == result.text
        if result.valid:
            assert float(row["received_pps"]) == result.received_pps
            assert float(row["loss_percent"]) == result.loss_percent
            assert int(row["sent"]) - int(row["received"]) == int(row["lost"])
            assert row["sentence"] == result.verdict.sentence
            assert row["limit"] == result.verdict.limit
        else:
            assert row["limit"] == "invalid"
            assert row["received_pps"] == row["sent"] == row["line_percent"] == ""
            assert row["invalid"] == "; ".join(result.invalid)


def test_lines_of_csv_end_as_those_of_other_tools(measured):
    made = csv.render(document(measured))
    assert "\r" not in made
    assert made.count("\n") == 1 + len(measured.reported())


def test_no_cell_is_a_formula(run, result):
    hostile = result("U1").model_copy(update={"text": "=cmd|'/c calc'!A1", "test": "@U1"})
    (row,) = reader.DictReader(io.StringIO(csv.render(document(run(hostile)))))
    assert row["text"].startswith("'=")
    assert row["test"].startswith("'@")


def test_markdown_says_what_the_page_says(measured):
    made = markdown.render(document(measured))
    u2 = measured.reported()[1]
    assert f"| {u2.received_pps / 1e6:.2f} |" in made
    assert markdown.escaped(u2.verdict.sentence) in made
    assert "20,000,000" in made
    assert "Invalid: no result, because" in made
    table = made.split("###")[0]
    rows = [line for line in table.splitlines() if line.startswith("| U")]
    assert len(rows) == 3
    assert {line.count(" | ") for line in rows} == {10}


def test_text_of_a_run_is_no_markup(run, result):
    hostile = result("U1").model_copy(update={"text": "a|b <script>\n# [x](javascript:y)"})
    made = markdown.render(document(run(hostile)))
    assert "<script>" not in made
    assert "a\\|b" in made
    assert "\n# \\[" not in made
