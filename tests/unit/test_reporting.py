"""`linerate report` and `linerate compare` as a user runs them."""

import shutil

import pytest
from tests.command import result_of

from linerate.cli.completion import complete_run
from linerate.results.store import RunFolder


@pytest.fixture
def folder(tmp_path, run, result, evidence):
    """A run on disk."""
    made = RunFolder.create(tmp_path / "runs", "router")
    made.save(run(result("U1"), result("U2", evidence(losses={"PCIe": 5}))))
    for trial in ("U1", "U2"):
        made.save_measurement(trial, evidence())
    return made.path


def test_several_runs_have_a_page_each(linerate, folder):
    second = shutil.copytree(folder, folder.with_name("second"))
    done = linerate("report", str(folder), str(second))
    assert done.returncode == 0, done.stderr
    assert (folder / "report.html").stat().st_size > 0
    assert (second / "report.html").stat().st_size > 0


def test_a_page_is_made_in_the_run(linerate, folder):
    done = linerate("report", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{folder}/report.html\n"
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_text_goes_to_standard_output(linerate, folder, tmp_path):
    assert linerate("report", str(folder), "--format", "csv").stdout.startswith("test,text,")
    assert linerate("report", str(folder), "--format", "markdown").stdout.startswith("# router")
    written = linerate("report", str(folder), "--format", "markdown", "-o", "run.md")
    assert written.stdout == "run.md\n"
    assert (tmp_path / "run.md").read_text().startswith("# router")
    assert linerate("compare", str(folder), str(folder), "--format", "markdown").returncode == 0


def test_runs_are_compared(linerate, folder, tmp_path):
    done = linerate("compare", str(folder), str(folder), "--json")
    assert result_of(done.stdout)[0]["tests"][0]["judgement"] == "unknown"
    done = linerate("compare", str(folder), str(folder))
    assert "too few repeats" in done.stdout
    html = ("--format", "html", "-o", "c.html")
    assert linerate("compare", str(folder), str(folder), *html).stdout == "c.html\n"
    assert (tmp_path / "c.html").read_text().startswith("<!DOCTYPE html>")
    text = linerate("compare", str(folder), str(folder), "-o", "c.txt")
    assert text.stdout == "c.txt\n"
    assert "too few repeats" in (tmp_path / "c.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["report", "nowhere"], "nowhere: no such file or directory", 1),
        (["report", "{run}", "-o", "no/such.html"], "no/such.html: no such file or directory", 1),
        (["compare", "{run}"], "these runs are of one device: nothing to compare it with", 1),
        (["compare", "{run}", "{run}", "--format", "html"], "needs -o FILE.html", 2),
    ],
)
def test_what_can_not_be_done_is_one_line(linerate, folder, arguments, message, code):
    done = linerate(*(word.format(run=folder) for word in arguments))
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_broken_run_is_one_line(linerate, folder):
    (folder / "evidence" / "U1.json").write_text("{}")
    done = linerate("report", str(folder))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("U1.json: no evidence that this version reads\n")
    assert not (folder / "report.html").exists()
    (folder / "run.json").write_bytes(b"\xff\xfe")
    done = linerate("report", str(folder))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_the_newest_run_is_completed_first(tmp_path, monkeypatch):
    for name in ("20260101-a", "20270101-b", "20260601-c"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").touch()
    monkeypatch.chdir(tmp_path)
    assert complete_run("") == ["runs/20270101-b", "runs/20260601-c", "runs/20260101-a"]
    assert complete_run("runs/2026") == ["runs/20260601-c", "runs/20260101-a"]
