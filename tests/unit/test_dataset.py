"""A dataset has each trial once, whoever writes, and whenever a writer is killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from tests.trial_rows import made, unit

from linerate.results.dataset.dataset import Dataset, DatasetError
from linerate.results.dataset.row import SCHEMA, TrialKeys, TrialRow
from linerate.results.dataset.rows_of import rows_of, unit_key_of
from linerate.results.store import load_run

OLD_RUN = Path("tests/data/runs-0.1/base")


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=["folder", "memory"])
def url(request, tmp_path):
    return str(tmp_path / "set") if request.param == "folder" else f"memory://{tmp_path}/set"


def counted(dataset):
    """Trials in the view, and distinct ones."""
    with dataset.connect() as database:
        sql = "SELECT count(*), count(DISTINCT (unit_key, trial)) FROM trials"
        return database.execute(sql).fetchall()[0]


def test_rows_are_read_as_they_were_written(url):
    rows = [
        made("a", "U1", values={"routes": "10000"}, labels={"who": "me"}, watts=None),
        made("a", "U2", losses={}, valid=False, invalid="a; b", latency_p99_us=1.5),
    ]
    assert Dataset(url).write("a", rows)
    assert Dataset(url).rows() == rows
    assert Dataset(url).rows("trial = ?", ["U2"]) == rows[1:]


def test_a_unit_is_written_once(url):
    dataset = Dataset(url)
    assert dataset.write("a", [made("a", received_pps=1.0)])
    assert not dataset.write("a", [made("a", received_pps=2.0)])
    assert [row.received_pps for row in dataset.rows()] == [1.0]
    assert dataset.unit_keys() == {"a"}


def test_files_stand_by_scenario_and_month(url):
    dataset = Dataset(url)
    dataset.write("a", [made("a", scenario="ipv4 10%/k", started=datetime(2026, 3, 1, tzinfo=UTC))])
    (file,) = dataset.store.files()
    assert file.name == "scenario=ipv4%2010%25%2Fk/month=2026-03/a.parquet"
    assert dataset.rows()[0].scenario == "ipv4 10%/k"


@pytest.mark.parametrize("key", ["", "../a", "a/b", ".a", "compact-1", "a" * 200, "ä"])
def test_a_unit_key_is_a_plain_name(tmp_path, key):
    with pytest.raises(DatasetError, match="unit key"):
        Dataset(tmp_path / "set").write(key, [made()])


def test_an_empty_dataset_has_no_trials(url):
    dataset = Dataset(url)
    assert dataset.unit_keys() == set()
    assert dataset.rows() == []
    assert dataset.compact().trials == 0
    with pytest.raises(DatasetError, match="no trials there"):
        dataset.require()


def test_a_unit_measured_twice_is_that_of_the_first_run(url):
    """Done again elsewhere, in another month: trials of two runs are not mixed."""
    dataset = Dataset(url)
    late = datetime(2026, 2, 1, tzinfo=UTC)
    dataset.write("a", [made("a", trial, run="again", started=late) for trial in ("U1", "U2-2")])
    dataset.write("a", [made("a", trial, run="first") for trial in ("U1", "U2", "B1")])
    dataset.write("b", [made("b", "U1", started=late)])
    assert counted(dataset) == (4, 4)
    assert {row.run for row in dataset.rows("unit_key = 'a'")} == {"first"}
    dataset.compact()
    assert counted(dataset) == (4, 4)


def test_compaction_keeps_every_trial(url):
    dataset = Dataset(url)
    for number in range(40):
        dataset.write(f"unit-{number}", unit(number, trials=3))
    rows = dataset.rows()
    done = dataset.compact()
    assert (done.files_before, done.trials) == (40, 120)
    assert done.files_after == len(dataset.store.files()) == 16
    assert dataset.rows() == rows
    assert dataset.unit_keys() == {f"unit-{number}" for number in range(40)}
    assert dataset.compact().files_before == dataset.compact().files_after == 16


def test_a_unit_written_after_a_compaction_is_there_once(url):
    dataset = Dataset(url)
    for key in ("a", "b"):
        dataset.write(key, [made(key)])
    dataset.compact()
    dataset.write("a", [made("a")])
    assert counted(dataset) == (2, 2)
    dataset.compact()
    assert counted(dataset) == (2, 2)
    assert len(dataset.store.files()) == 1


def test_a_compaction_that_ends_halfway_doubles_nothing(url, monkeypatch):
    """Killed between its file and the removal of theirs: both are there."""
    dataset = Dataset(url)
    for number in range(6):
        dataset.write(f"u{number}", [made(f"u{number}", t) for t in ("U1", "U2")])
    rows = dataset.rows()
    with monkeypatch.context() as patch:
        patch.setattr(dataset.store, "remove", lambda _: None)
        dataset.compact()
    assert len(dataset.store.files()) == 7
    assert dataset.rows() == rows
    assert dataset.compact().files_after == 1
    assert dataset.rows() == rows


def test_a_store_that_loses_the_new_file_loses_no_old_one(url, monkeypatch):
    dataset = Dataset(url)
    for key in ("a", "b"):
        dataset.write(key, [made(key)])
    with monkeypatch.context() as patch:
        patch.setattr(dataset.store, "add", lambda *_: True)
        with pytest.raises(DatasetError, match="not there as it was written"):
            dataset.compact()
    assert counted(dataset) == (2, 2)


# Writers that are killed.

WRITER = """
import sys
sys.path.insert(0, ".")
from tests.trial_rows import made
from linerate.results.dataset.dataset import Dataset
dataset = Dataset(sys.argv[1])
rows = [made("same", f"U{number}", labels={"text": "x" * 2000}) for number in range(200)]
from linerate.results.dataset import dataset as module
content = module.parquet_of(rows)
module.parquet_of = lambda rows: content
print("ready", flush=True)
while True:
    dataset.write("same", rows)
"""

COMPACTOR = """
import sys
from linerate.results.dataset.dataset import Dataset
print("ready", flush=True)
Dataset(sys.argv[1]).compact()
"""


def asked(sql):
    relation = duckdb.sql(sql)
    assert relation is not None
    return relation


@contextlib.contextmanager
def started(program, folder):
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdout=subprocess.PIPE
    ) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == b"ready\n"
        try:
            yield one
        finally:
            one.kill()


def test_two_writers_of_a_unit_make_one_whole_file(tmp_path):
    """Both at once, each killed: whatever was there, readers find all rows or none."""
    folder = tmp_path / "set"
    dataset = Dataset(folder)
    with started(WRITER, folder) as one, started(WRITER, folder) as other:
        for _ in range(10):
            until = time.monotonic() + 10
            while not dataset.store.files() and time.monotonic() < until:
                time.sleep(0.001)
            assert counted(dataset) == (200, 200)
            # The next round writes it anew.
            for file in dataset.store.files():
                (folder / file.name).unlink()
        os.kill(one.pid, signal.SIGKILL)
        os.kill(other.pid, signal.SIGKILL)
        one.wait()
        other.wait()
    rows = [made("same", f"U{number}") for number in range(200)]
    dataset.write("same", rows)
    assert counted(dataset) == (200, 200)
    (file,) = dataset.store.files()
    assert file.name.endswith("/same.parquet")


def test_what_a_killed_writer_leaves_is_no_row_and_goes_later(tmp_path):
    dataset = Dataset(tmp_path / "set")
    dataset.write("a", [made("a")])
    (file,) = (tmp_path / "set").rglob("*.parquet")
    half = file.with_name(".b.parquet-x1y2")
    half.write_bytes(file.read_bytes()[:100])
    assert counted(dataset) == (1, 1)
    dataset.compact()
    assert half.exists(), "its writer may still be there"
    os.utime(half, (1, 1))
    dataset.compact()
    assert not half.exists()


def test_a_compaction_killed_at_any_moment_loses_and_doubles_nothing(tmp_path):
    folder = tmp_path / "set"
    dataset = Dataset(folder)
    for number in range(48):
        dataset.write(f"unit-{number}", unit(number, trials=2))
    expected = counted(dataset)
    assert expected == (96, 96)
    for delay in (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6):
        with started(COMPACTOR, folder) as one:
            time.sleep(delay)
            os.kill(one.pid, signal.SIGKILL)
            one.wait()
        assert counted(dataset) == expected
        assert len(dataset.unit_keys()) == 48
    with started(COMPACTOR, folder) as one, started(COMPACTOR, folder) as other:
        assert (one.wait(), other.wait()) == (0, 0)
    assert counted(dataset) == expected


# Files of others.


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    dataset = Dataset(tmp_path / "set")
    dataset.write("a", [made("a")])
    (file,) = (tmp_path / "set").rglob("a.parquet")
    file.with_name("b.parquet").write_text("hello")
    with pytest.raises(DatasetError, match=r"b\.parquet"):
        dataset.rows()


def test_other_tables_are_no_dataset(tmp_path):
    folder = tmp_path / "set" / "scenario=x" / "month=2026-01"
    folder.mkdir(parents=True)
    asked("SELECT 1 AS a").write_parquet(str(folder / "a.parquet"))
    with pytest.raises(DatasetError, match="no column"):
        Dataset(tmp_path / "set").rows()


def test_links_in_a_dataset_are_not_followed(tmp_path):
    dataset = Dataset(tmp_path / "set")
    dataset.write("a", [made("a")])
    (file,) = (tmp_path / "set").rglob("a.parquet")
    elsewhere = tmp_path / "elsewhere.parquet"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert dataset.rows() == []
    (tmp_path / "set" / "scenario=other").symlink_to(tmp_path)
    with pytest.raises(DatasetError, match="not a link"):
        dataset.write("b", [made("b", scenario="other")])


def test_columns_of_later_versions_survive_a_compaction(tmp_path):
    dataset = Dataset(tmp_path / "set")
    for key in ("a", "b"):
        dataset.write(key, [made(key)])
    (file,) = (tmp_path / "set").rglob("a.parquet")
    later = asked(f"SELECT *, 7 AS of_later FROM read_parquet('{file}', hive_partitioning=false)")
    later.write_parquet(str(tmp_path / "later"))
    (tmp_path / "later").replace(file)
    assert counted(dataset) == (2, 2)
    dataset.compact()
    (file,) = (tmp_path / "set").rglob("*.parquet")
    found = asked(f"SELECT of_later FROM '{file}' ORDER BY unit_key").fetchall()
    assert found == [(7,), (None,)]


def test_a_dataset_of_the_first_schema_opens(tmp_path):
    """Kept as version 1 wrote it: later ones read it, its unknown columns as unknown."""
    dataset = Dataset("tests/data/dataset-1")
    rows = dataset.rows()
    assert {row.schema_version for row in rows} == {1}
    assert [(row.unit_key, row.trial) for row in rows] == [("kept-1", "U1"), ("kept-1", "U2")]
    assert rows[0].losses == {"card0 port 0: rx missed (ring full)": 5_380_000}
    assert SCHEMA >= 1


def test_a_dataset_with_fewer_columns_opens(tmp_path):
    """As an older one would be: what it has not is unknown."""
    dataset = Dataset(tmp_path / "set")
    dataset.write("a", [made("a")])
    dataset.write("b", [made("b")])
    (file,) = (tmp_path / "set").rglob("a.parquet")
    old = asked(
        f"SELECT * EXCLUDE (watts, losses, command) FROM read_parquet('{file}', hive_partitioning=false)"
    )
    old.write_parquet(str(tmp_path / "old"))
    (tmp_path / "old").replace(file)
    first, second = dataset.rows()
    assert (first.watts, first.losses, first.command) == (None, {}, "")
    assert second.watts == 20.0
    dataset.compact()
    assert dataset.rows() == [first, second]


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("nosuch://x/y", "nosuch"),
        ("zip::s3://x", "one store"),
        ("memory://{tmp}/a*b", ""),
        ("{tmp}/a*b", "rename it"),
    ],
)
def test_places_that_are_none(tmp_path, url, line):
    if line:
        with pytest.raises(DatasetError, match=line):
            Dataset(url.format(tmp=tmp_path))
    else:
        assert Dataset(url.format(tmp=tmp_path)).rows() == []


def test_a_login_is_not_printed():
    with pytest.raises(DatasetError) as raised:
        Dataset("nosuch://me:secret@host/x")
    assert "secret" not in str(raised.value)


# Rows of runs.


def test_an_old_run_as_rows():
    run = load_run(OLD_RUN)
    rows = rows_of(run, OLD_RUN)
    assert [row.trial for row in rows] == [result.trial for result in run.results]
    second = next(row for row in rows if row.trial == "U2")
    assert second.losses == {"card0 port 0: rx missed (ring full)": 20_000_000}
    assert second.limit == "worker-cpu"
    assert second.cycles_per_packet == pytest.approx(sum(second.nodes.values()))
    assert (second.device, second.scenario, second.load) == ("router", "standard", "line")
    assert {row.unit_key for row in rows} == {unit_key_of(run, OLD_RUN)}


def test_keys_go_before_labels_and_labels_before_the_run():
    run = load_run(OLD_RUN)
    run = run.model_copy(update={"labels": {"version": "of label", "commit": "of label"}})
    row = rows_of(run, OLD_RUN, TrialKeys(version="of keys", load="40 %", repeat=3))[0]
    assert (row.version, row.commit, row.load, row.repeat) == ("of keys", "of label", "40 %", 3)


def test_another_kernel_is_another_machine():
    run = load_run(OLD_RUN)
    other = run.environment.model_copy(update={"kernel": "6.2"})
    rows = [
        rows_of(one, OLD_RUN)[0] for one in (run, run.model_copy(update={"environment": other}))
    ]
    assert rows[0].machine != rows[1].machine


def test_every_column_has_a_row_in_the_document():
    page = Path("docs/dataset.md").read_text(encoding="utf-8")
    missing = [name for name in TrialRow.model_fields if f"`{name}`" not in page]
    assert not missing
