"""Markdown and CSV: the same figures, and nothing that would be more than text."""

import csv as reader
import io

import pytest

from linerate.report import csv, markdown

MISSED = "card0 port 0: rx missed (ring full)"


@pytest.fixture
def measured(run, result, evidence):
    return run(
        result("U1"),
        result("U2", evidence(losses={MISSED: 20_000_000}, idle=0.0)),
        result("U3", evidence(unexplained=1)),
    )


def test_csv_is_read_as_it_was_written(measured):
    rows = {row["test"]: row for row in reader.DictReader(io.StringIO(csv.render(measured)))}
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
            assert row["received_pps"] == row["sent"] == row["percent_of_line"] == ""
            assert row["invalid"] == "; ".join(result.invalid)


def test_lines_of_csv_end_as_those_of_other_tools(measured):
    made = csv.render(measured)
    assert "\r" not in made
    assert made.count("\n") == 1 + len(measured.reported())


def test_no_cell_is_a_formula(run, result):
    hostile = result("U1").model_copy(update={"text": "=cmd|'/c calc'!A1", "test": "@U1"})
    (row,) = reader.DictReader(io.StringIO(csv.render(run(hostile))))
    assert row["text"].startswith("'=")
    assert row["test"].startswith("'@")


def test_markdown_says_what_the_page_says(measured):
    made = markdown.render(measured)
    u2 = measured.reported()[1]
    assert f"| {u2.received_pps / 1e6:.2f} |" in made
    assert markdown.plain(u2.verdict.sentence) in made
    assert "20,000,000" in made
    assert "Invalid: no result, because" in made
    rows = [line for line in made.splitlines() if line.startswith("| U")]
    assert len(rows) == 3
    assert {line.count(" | ") for line in rows} == {7}


def test_text_of_a_run_is_no_markup(run, result):
    hostile = result("U1").model_copy(update={"text": "a|b <script>\n# [x](javascript:y)"})
    made = markdown.render(run(hostile))
    assert "<script>" not in made
    assert "a\\|b" in made
    assert "\n# \\[" not in made
