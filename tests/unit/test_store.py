"""Runs on disk: whole files, read again as they were written."""

import json
from datetime import UTC, datetime

import pytest

from linerate.base.atomic_write import write_whole
from linerate.model.testbed import parse
from linerate.results.store import RunFolder, StoreError, load_measurement, load_run

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def test_a_run_is_read_as_it_was_written(tmp_path, run, result):
    folder = RunFolder.create(tmp_path, "router", NOW)
    written = run(result("U1"), result("U2"), testbed=parse({"link": "25G", "card": "cx5-en"}, "x"))
    folder.save(written)
    assert load_run(folder.path) == written
    assert load_run(folder.path / "run.json") == written


def test_evidence_is_read_as_it_was_written(tmp_path, evidence):
    folder = RunFolder.create(tmp_path, "router", NOW)
    measured = evidence(losses={"PCIe": 5})
    folder.save_measurement("U2", measured)
    assert load_measurement(folder.path, "U2") == measured


def test_two_runs_in_a_second_have_two_folders(tmp_path):
    first = RunFolder.create(tmp_path / "runs", "io", NOW)
    second = RunFolder.create(tmp_path / "runs", "io", NOW)
    assert first.path != second.path
    assert second.path.name == first.path.name + "-2"


def test_the_last_attempt_is_reported(run, result, evidence):
    measured = run(result("U1", evidence(unexplained=1)), result("U2"), result("U1", attempt=2))
    assert [(r.test, r.attempt, r.valid) for r in measured.reported()] == [
        ("U1", 2, True),
        ("U2", 1, True),
    ]
    assert [r.trial for r in measured.results] == ["U1", "U2", "U1-2"]


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    file = tmp_path / "run.json"
    write_whole(file, "first")

    def full_disk(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_whole(file, "second")
    assert file.read_text() == "first\n"
    assert list(tmp_path.iterdir()) == [file]


def test_runs_that_can_not_be_read(tmp_path, run, result):
    folder = RunFolder.create(tmp_path, "router", NOW)
    with pytest.raises(StoreError, match="no such file"):
        load_run(folder.path)
    folder.save(run(result()))
    file = folder.path / "run.json"
    document = json.loads(file.read_text())
    for changed, text in (
        (
            document | {"schema_version": 99},
            "schema 99, this version reads 2 to 3: written by a newer",
        ),
        (document | {"suite": None}, "suite: input should be a valid string"),
        ([], "schema None, this version reads 2 to 3: no run.json of linerate"),
    ):
        file.write_text(json.dumps(changed))
        with pytest.raises(StoreError, match=text):
            load_run(folder.path)
    file.write_text("{")
    with pytest.raises(StoreError, match="line 1: expected JSON"):
        load_run(folder.path)
    with pytest.raises(StoreError, match="no such file"):
        load_measurement(folder.path, "U9")
