"""`linerate explain` as its user runs it."""

from pathlib import Path

import pytest
from tests.command import result_of

from linerate.results.store import RunFolder

CASES = Path(__file__).parents[1] / "data" / "cases"
MISSED = "card0 port 0: rx missed (ring full)"


@pytest.fixture
def run_folder(tmp_path, evidence, result, run):
    """A run of two trials on disk, with its evidence."""
    folder = RunFolder.create(tmp_path / "runs", "router")
    results = []
    for test, losses in (("U2", {MISSED: 20_000_000}), ("U1", {})):
        measured = evidence(losses=losses, idle=0.0)
        results.append(result(test, measured))
        folder.save_measurement(test, measured)
    folder.save(run(*results))
    return folder.path


def test_files(linerate):
    done = linerate("explain", str(CASES / "cx5-rdma-1q-64b.runtime.txt"))
    assert done.returncode == 0
    assert "tx-ring" in done.stdout
    assert "cx5-rdma-1q-64b.runtime.txt:12" in done.stdout
    assert all(len(line.rstrip()) <= 80 for line in done.stdout.splitlines())


def test_json_of_files(linerate):
    done = linerate("explain", str(CASES / "pcie.dmesg.txt"), "--json")
    document = result_of(done.stdout)
    verdict = document["verdict"]
    assert set(verdict) >= {
        "limit", "also", "confidence", "sentence", "evidence", "ceilings", "try",
    }  # fmt: skip
    assert verdict["limit"] == "pcie"
    assert all(set(quote) == {"source", "line", "text"} for quote in verdict["evidence"])
    assert all({"name", "pps", "derivation"} <= set(one) for one in verdict["ceilings"])
    assert [quote["line"] for quote in document["unread"]] == [2, 7, 8]


def test_a_run(linerate, run_folder):
    done = linerate("explain", str(run_folder))
    assert done.returncode == 0
    assert done.stdout.index("U2") < done.stdout.index("U1")
    assert "worker-cpu" in done.stdout
    only = linerate("explain", str(run_folder), "--test", "u1", "--json")
    assert [trial["verdict"]["limit"] for trial in result_of(only.stdout)] == ["line"]


def test_evidence_of_a_run_points_at_its_lines(linerate, run_folder):
    done = linerate("explain", str(run_folder), "--test", "U2", "--json")
    (trial,) = result_of(done.stdout)
    missed = next(
        quote for quote in trial["verdict"]["evidence"] if quote["text"].startswith(MISSED)
    )
    lines = (run_folder / missed["source"]).read_text().splitlines()
    # The entry's brace; what it says follows.
    assert "20000000" in "".join(lines[missed["line"] - 1 : missed["line"] + 4])


@pytest.mark.parametrize(
    ("arguments", "text", "code"),
    [
        (["nowhere.txt"], "no such file", 1),
        (["runs"], "no such file", 1),
        ([str(Path(__file__))], "nothing that linerate can read", 1),
        (["/bin/true"], "not a text", 1),
        ([], "Missing argument", 2),
    ],
)
def test_mistakes_are_one_line(linerate, tmp_path, arguments, text, code):
    (tmp_path / "runs").mkdir(exist_ok=True)
    done = linerate("explain", *arguments)
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_a_test_that_was_not_measured(linerate, run_folder):
    done = linerate("explain", str(run_folder), "--test", "B9")
    assert done.returncode == 1
    assert "no loadtest 'B9'; U2, U1 was measured" in done.stderr
