"""Runs that version 0.1 wrote: opened, judged, reported and compared as it did.

tests/data/runs-0.1/expected holds what its commands printed. Words may have changed since;
figures, limits, places and the lines they are quoted from may not.
"""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from tests.command import result_of, run_command
from typer.testing import CliRunner

from linerate.cli.app import app

RUNS = Path(__file__).parents[1] / "data" / "runs-0.1"
NAMES = ("base", "other")
#: Names in a comparison that version 0.1 printed, and those of today.
COMPARED = {
    "clocks_per_packet": "cycles_per_packet",
    "base_pps": "base_trials_pps",
    "other_pps": "other_trials_pps",
    "percent": "change_percent",
}


def printed(*arguments):
    """Standard output of a command within the folder of runs."""
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def expected(name):
    return (RUNS / "expected" / name).read_text(encoding="utf-8")


def numbers(text):
    return Counter(re.findall(r"\d[\d,]*(?:\.\d+)?", text))


def judged(document):
    """Each verdict without its wording."""
    return [
        {
            "test": one["test"],
            **{key: one["verdict"][key] for key in ("limit", "also", "confidence", "configured")},
            "quoted": [(line["source"], line["line"]) for line in one["verdict"]["evidence"]],
            "ceilings": [
                (each["name"], pytest.approx(each["pps"] if "pps" in each else 1e6 * each["mpps"]))
                for each in one["verdict"]["ceilings"]
            ],
        }
        for one in document
    ]


@pytest.fixture(autouse=True)
def among_runs(monkeypatch):
    monkeypatch.chdir(RUNS)


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_are_the_same(name):
    now = result_of(printed("explain", name, "--json"))
    assert judged(now) == judged(json.loads(expected(f"{name}.explain.json")))
    assert [one["verdict"]["limit"] for one in now] == {
        "base": ["line", "worker-cpu", "tx-ring", "invalid"],
        "other": ["line", "worker-cpu", "configuration", "pcie"],
    }[name]


def test_lines_are_quoted_as_they_stand_in_the_file(tmp_path):
    """A later version's field moves the lines of one file: what is quoted moves with them."""
    folder = tmp_path / "base"
    shutil.copytree(RUNS / "base", folder)
    file = folder / "evidence" / "U2.json"
    file.write_text(file.read_text().replace("{\n", '{\n "unknown": 1,\n "also": 2,\n', 1))
    now = judged(result_of(printed("explain", str(folder), "--json")))
    before = judged(json.loads(expected("base.explain.json")))
    for one, earlier in zip(now, before, strict=True):
        moved = 2 * (one["test"] == "U2")
        assert one["quoted"] == [
            (source, line + moved * source.endswith("/U2.json"))
            for source, line in earlier["quoted"]
        ]


@pytest.mark.parametrize("name", NAMES)
def test_explained_figures_are_the_same(name):
    assert not numbers(expected(f"{name}.explain.txt")) - numbers(printed("explain", name))


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_the_same(name):
    before = expected(f"{name}.csv").replace("percent_of_line", "line_percent", 1)
    assert printed("report", name, "--format", "csv") == before


@pytest.mark.parametrize("name", NAMES)
def test_reports_lose_no_figure(name):
    now = printed("report", name, "--format", "markdown")
    assert not numbers(expected(f"{name}.md")) - numbers(now)


@pytest.mark.parametrize("words", [("explain",), ("report",), ("show", "ledger")])
def test_a_run_from_before_the_first_release_is_refused_with_a_remedy(words, tmp_path):
    """Written by the last commit that wrote schema 1; no release did."""
    run = RUNS.parent / "runs-schema-1" / "router"
    done = run_command((*words, str(run)), tmp_path, {})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"linerate: {run}/run.json: schema 1, this version reads 2 to 3: written before version 0.1, the "
        "first release; measure it again\n"
    )


def test_comparisons_are_the_same():
    def figures(pairs):
        kept = ("base", "other", "tests", "losses_percent", "cycles_per_packet", "conditions")
        return [{key: pair[key] for key in kept} for pair in pairs]

    def renamed(pair):
        tests = [
            {COMPARED.get(key, key): value for key, value in test.items()} for test in pair["tests"]
        ]
        return {COMPARED.get(key, key): value for key, value in pair.items()} | {"tests": tests}

    now = result_of(printed("compare", "base", "other", "--json"))
    assert figures(now) == figures(map(renamed, json.loads(expected("compare.json"))))


def test_compared_text_loses_no_figure():
    now = printed("compare", "base", "other", "--format", "markdown")
    assert not numbers(expected("compare.md")) - numbers(now)
