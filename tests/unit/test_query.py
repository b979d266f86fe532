"""Questions over a dataset: ready ones answer, and none can do anything but read it."""

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from tests.command import run_command
from tests.trial_rows import made

from linerate.report.answer import answer, cell, csv_lines
from linerate.results.dataset.asking import QuestionError, ask
from linerate.results.dataset.dataset import Dataset
from linerate.results.dataset.questions import ready


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two versions of one device; the second spends 12 cycles more in one node."""
    folder = tmp_path_factory.mktemp("data") / "set"
    dataset = Dataset(folder)
    early = made().started
    for number, (version, cycles) in enumerate((("1.0", 50.0), ("1.1", 62.0))):
        started = early.replace(month=number + 1)
        nodes = {"ip4-lookup": cycles, "ip4-rewrite": 30.0}
        about = {"version": version, "commit": "", "started": started, "nodes": nodes}
        rows = [made(f"u{number}", "U2", **about, received_pps=(10 - number) * 1e6)]
        rows += [made(f"u{number}", "U2.2", **about, repeat=2, loadtest="U2", received_pps=9e6)]
        rows += [made(f"u{number}", "B2", **about, valid=False, invalid="a CPU was away for 3 ms")]
        dataset.write(f"u{number}", rows)
    return folder


def asked(folder, sql, **values):
    found = ask(Dataset(folder), sql, values)
    return [dict(zip(found.names, row, strict=True)) for row in found.rows]


def asked_ready(folder, name, **values):
    question = ready()[name]
    return asked(folder, question.sql, **dict.fromkeys(question.values) | values)


@pytest.mark.parametrize("name", ready())
def test_ready_questions_answer(folder, tmp_path, name):
    assert not ready()[name].title.startswith("-")
    if name != "latency":
        assert asked_ready(folder, name)
    nothing = Dataset(tmp_path / "none")
    question = ready()[name]
    assert list(ask(nothing, question.sql, dict.fromkeys(question.values)).rows) == []


def test_the_node_that_changed_comes_first(folder):
    first, second = asked_ready(folder, "cycles")
    assert (first["node"], first["old_cycles"], first["new_cycles"]) == ("ip4-lookup", 50, 62)
    assert (first["change"], second["change"]) == (12, 0)
    back = asked_ready(folder, "cycles", old="1.1", new="1.0")
    assert back[0]["change"] == -12


def test_fastest_versions_come_first(folder):
    assert [row["version"] for row in asked_ready(folder, "fastest")] == ["1.0", "1.1"]
    assert asked_ready(folder, "fastest", scenario="other") == []


def test_invalid_trials_have_a_reason(folder):
    (row,) = asked_ready(folder, "invalid")
    assert (row["no_result"], row["trials"]) == (2, 6)
    assert row["usual_reason"] == "a CPU was away for"


HOSTILE = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM read_parquet('/tmp/*.parquet')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM parquet_metadata('/etc/passwd')",
    "SELECT * FROM read_json('http://127.0.0.1:9/x')",
    "SELECT * FROM read_duckdb('{there}/x.db')",
    "SELECT * FROM sqlite_scan('{there}/x.db', 't')",
    "SELECT getenv('HOME')",
    "SELECT * FROM query('COPY (SELECT 1) TO ''{there}/x''')",
    "COPY trials TO '{there}/x.csv'",
    "EXPLAIN ANALYZE COPY trials TO '{there}/x.csv'",
    "EXPORT DATABASE '{there}/x'",
    "ATTACH '{there}/x.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "PRAGMA enable_profiling",
    "CREATE TABLE x AS SELECT 1",
    "DROP VIEW trials",
    "SELECT 1; COPY trials TO '{there}/x.csv'",
    "CALL pragma_version()",
    "CREATE SECRET s (TYPE s3)",
    "SELECT * FROM hidden_in_python",
]


@pytest.mark.parametrize("sql", HOSTILE)
def test_hostile_questions_are_refused(folder, tmp_path, sql):
    hidden_in_python = [1]
    with pytest.raises(QuestionError) as refused:
        list(ask(Dataset(folder), sql.format(there=tmp_path)).rows)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
    assert len(asked(folder, "SELECT * FROM trials")) == 6
    del hidden_in_python


def test_a_file_beside_the_dataset_is_not_read(folder):
    (folder / "notes.csv").write_text("a,b\n1,2\n")
    with pytest.raises(QuestionError, match="Cannot access"):
        asked(folder, f"SELECT * FROM read_csv('{folder}/notes.csv')")
    (folder / "notes.csv").unlink()


@pytest.mark.parametrize(
    ("sql", "line"),
    [
        ("SELECT devic FROM trials", 'Candidate bindings: "device"'),
        ("SELECT limit FROM trials", 'has quotes: "limit"'),
        ("SELECT now()", "cast it"),
        ("SELECT $x", "--set x="),
        ("selec", "syntax error"),
        ("", "expected one SELECT"),
    ],
)
def test_mistakes_are_one_line(folder, sql, line):
    with pytest.raises(QuestionError) as mistake:
        asked(folder, sql)
    assert line in str(mistake.value)
    assert "\n" not in str(mistake.value)


def test_columns_of_one_name_have_numbers(folder):
    assert asked(folder, "SELECT 1 AS a, 2 AS a") == [{"a": 1, "a_2": 2}]


def shown(columns, rows, width=80):
    out = io.StringIO()
    console = Console(file=out, width=width)
    console.print(answer(console, columns, rows))
    return out.getvalue().splitlines()


def test_an_answer_fits_the_terminal():
    columns = (("name", "VARCHAR"), ("pps", "DOUBLE"))
    lines = shown(columns, [("a long place " * 20, 1234567.8)])
    assert max(map(len, lines)) <= 80
    assert "1,234,568" in lines[1]
    many = tuple((f"column_{number}", "DOUBLE") for number in range(30))
    blocks = shown(many, [range(30)])
    assert len(blocks) == 30
    assert max(map(len, blocks)) <= 80


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (True, "yes"),
        (0.00012345, "0.0001234"),
        (9876543.2, "9,876,543"),
        ({"a": 1.0, "b": 30.25}, "b 30.25, a 1"),
        ({}, "–"),
        (float("nan"), "nan"),
    ],
)
def test_cells(value, text):
    assert cell(value) == text


def test_csv_has_figures_unrounded():
    lines = list(csv_lines(("a", "b"), [(1 / 3, {"x": 1}), (None, 'say "x"')]))
    assert list(csv.reader(lines))[1:] == [[str(1 / 3), '{"x": 1}'], ["", 'say "x"']]


def linerate_of(*words):
    return run_command(words, Path.cwd(), {})


def test_the_command(folder, tmp_path):
    place = ["--dataset", str(folder)]
    done = linerate_of("query", "SELECT count(*) AS n FROM trials", *place, "--json")
    result = json.loads(done.stdout)["result"]
    assert result == {"columns": [{"name": "n", "type": "BIGINT"}], "rows": [{"n": 6}]}
    done = linerate_of("query", "--ready", "cycles", "--set", "old=1.0", *place, "--csv")
    assert done.stdout.splitlines()[1].startswith("standard,router,ip4-lookup,50.0,62.0,12.0")
    refused = linerate_of("query", "COPY trials TO 'x'", *place)
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    refused = linerate_of("query", "--ready", "cycles", "--set", "odl=1.0", *place)
    assert refused.returncode == 2
    assert "has no value 'odl'" in refused.stderr
    done = linerate_of("dataset", "list", *place, "--json")
    assert [part["trials"] for part in json.loads(done.stdout)["result"]["parts"]] == [3, 3]
    added = ["dataset", "add", "tests/data/runs-0.1/base", "--to", str(tmp_path / "new")]
    assert "4 trials of 1 runs added" in linerate_of(*added).stdout
    assert "1 there already" in linerate_of(*added).stdout
    refused = linerate_of("dataset", "add", str(tmp_path), "--to", str(tmp_path / "new"))
    assert refused.returncode == 1
    assert refused.stderr.startswith("left out: ")
    assert linerate_of("query", "SELECT 1", "--dataset", str(tmp_path / "no")).returncode == 1
