"""All runs as a list and as tables: whatever stands in their folders."""

import json
import multiprocessing
import os
import shutil

import duckdb
import pytest
from tests.command import result_of
from tests.many_runs import make_many

from linerate.results.index import CACHE, Index, Query, QueryError
from linerate.results.index.tables import TABLES
from linerate.results.store import StoreError, load_run
from linerate.ui.serve.library import Library

#: Whatever else the machine has to do; a process that hangs is reported.
PATIENCE_SECONDS = 300

HOSTILE = "'; DROP TABLE runs; --"


@pytest.fixture
def runs(tmp_path):
    make_many(tmp_path / "runs", 20)
    return tmp_path / "runs"


def say_running(folder, **message):
    """Let a run be measured still, and its live.jsonl say what."""
    file = folder / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"status": "running"}))
    if message:
        (folder / "live.jsonl").write_text(json.dumps(message) + "\n")


def index_of(runs):
    index = Index(runs)
    index.refresh()
    return index


def names(index, *filters, sort="name"):
    return [row["name"] for row in index.select(Query(tuple(filters), sort))]


def test_each_run_is_a_row_with_its_figures(runs):
    index = index_of(runs)
    (row,) = index.select(Query(("name=20261001-000000",)))
    run = load_run(runs / row["name"])
    best = max(result.received_pps for result in run.reported() if result.valid)
    assert row["received_pps"] == pytest.approx(best)
    assert row["loadtests"] == ",".join(run.tests)
    assert row["started"] == "2026-10-01T00:00:00Z"
    assert (row["dut"], row["wire"], row["status"]) == ("router", "card", "complete")


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (("dut=router",), 4),
        (("dut!=router",), 16),
        (("DUT=Router",), None),
        (("dut=ROUTER", "started>=2026-10-06"), 3),
        (("date=2026-10-06",), 1),
        (("started<2026-10-06",), 5),
        (("macswap",), 4),
        (("mpps>1e9",), 0),
        ((HOSTILE,), 0),
        ((f"dut={HOSTILE}",), 0),
        (("trials>=0",), 20),
    ],
)
def test_filters(runs, filters, count):
    index = index_of(runs)
    if count is None:
        with pytest.raises(QueryError):
            names(index, *filters)
        return
    assert len(names(index, *filters)) == count == index.count(Query(tuple(filters)))


@pytest.mark.parametrize("word", ["nothing=1", "mpps=much", "dut>router", "started>today"])
def test_what_is_no_filter_is_reported_so(runs, word):
    with pytest.raises(QueryError, match=r"expected|no such column"):
        names(index_of(runs), word)
    with pytest.raises(QueryError, match="no such column"):
        names(index_of(runs), sort="nothing; DROP TABLE runs")


def test_order_and_pages(runs):
    index = index_of(runs)
    rates = [row["received_pps"] for row in index.select(Query(sort="-mpps"))]
    assert rates == sorted(rates, reverse=True)
    first = index.select(Query(sort="name", limit=8))
    rest = index.select(Query(sort="name", limit=100, offset=8))
    assert [row["name"] for row in first + rest] == sorted(path.name for path in runs.glob("2*"))


def test_a_broken_run_is_a_row_that_says_why(runs):
    (runs / "empty").mkdir()
    (runs / "no-json").mkdir()
    (runs / "no-json" / "run.json").write_text("{")
    (runs / "old").mkdir()
    (runs / "old" / "run.json").write_text('{"schema_version": 1}')
    (runs / "deep").mkdir()
    (runs / "deep" / "run.json").write_text("[" * 100_000)
    (runs / "a-file").write_text("")
    for index in (index_of(runs), index_of(runs)):
        rows = {row["name"]: row for row in index.select(Query(("status=broken",)))}
        assert rows.keys() == {"empty", "no-json", "old", "deep"}
        assert "no such file" in rows["empty"]["problem"]
        assert "expected JSON" in rows["no-json"]["problem"]
        assert "schema 1" in rows["old"]["problem"]
        assert index.count(Query()) == 24


def test_a_link_in_a_circle_is_no_folder(runs):
    (runs / "circle").symlink_to("circle")
    assert len(names(index_of(runs))) == 20


def test_a_folder_whose_name_is_no_text_is_broken(runs):
    (runs / os.fsdecode(b"caf\xe9")).mkdir()
    for index in (index_of(runs), index_of(runs)):
        (row,) = index.select(Query(("status=broken",)))
        assert row["name"] == r"caf\xe9"
        assert "not UTF-8" in row["problem"]


def test_a_pipe_delays_no_other(runs):
    """Nobody writes into it: whoever opened it as a file would wait for ever."""
    piped, live = names(index_of(runs))[:2]
    (runs / piped / "run.json").unlink()
    os.mkfifo(runs / piped / "run.json")
    say_running(runs / live)
    os.mkfifo(runs / live / "live.jsonl")
    index = index_of(runs)
    assert "not a regular file" in index.row(piped)["problem"]
    assert live in index.running()


def test_what_changed_is_read_again_and_what_is_gone_forgotten(runs):
    index = index_of(runs)
    name = names(index)[0]
    document = json.loads((runs / name / "run.json").read_text())
    document["status"], document["problem"] = "failed", "somebody pulled a cable"
    (runs / name / "run.json").write_text(json.dumps(document))
    gone = names(index)[1]
    (runs / gone / "run.json").unlink()
    (runs / gone).rmdir()
    for later in (index, Index(runs)):
        later.refresh()
        assert names(later, "status=failed", "cable") == [name]
        assert gone not in later
        assert later.folder(gone) is None
        assert later.folder("../runs") is None


def test_only_what_changed_is_read(runs, monkeypatch):
    index_of(runs)
    monkeypatch.setattr(
        "linerate.results.index.load_run", lambda path, _runs: pytest.fail(f"reads {path}")
    )
    assert len(names(index_of(runs))) == 20


@pytest.mark.parametrize(
    "kept",
    [b"", b"\xff\xfe", b"{}\n{}", b'{"version": 1}\n{"name": 1}', b'{"version": 1}\n[1]', b"["],
)
def test_kept_rows_that_are_nonsense_are_read_anew(runs, kept):
    (runs / CACHE).write_bytes(kept)
    assert len(names(index_of(runs))) == 20


def test_a_run_whose_process_is_gone_was_killed(runs, monkeypatch):
    index = index_of(runs)
    dead, unknown, begun = names(index)[:3]
    say_running(runs / dead, pid=2**22 + 1)
    for name in (unknown, begun):
        say_running(runs / name)
    # A new run records its process right after its start: one without is dead.
    os.utime(runs / unknown / "run.json", (0, 0))
    os.utime(runs / begun / "run.json", (2**33, 2**33))
    monkeypatch.setattr("linerate.results.index.row.time.time", lambda: 2**33 + 1)
    index.refresh()
    for name in (dead, unknown):
        assert index.row(name)["status"] == "killed"
    assert index.running() == [begun]


def test_a_run_that_has_just_ended_keeps_no_other_from_starting(runs):
    (name,) = names(index_of(runs))[:1]
    file = runs / name / "run.json"
    whole = file.read_text()
    file.write_text(json.dumps(json.loads(whole) | {"status": "running"}))
    library = Library(runs)
    assert library.running() == name
    file.write_text(whole)
    assert library.running_now() is None


def processes(count):
    """New ones: what a forked one inherits of this process's threads are their locks."""
    return multiprocessing.get_context("spawn").Pool(count)


def _list(runs):
    return len(index_of(runs).select(Query(("dut=io",))))


def test_many_processes_at_once(runs):
    with processes(4) as pool:
        assert pool.map_async(_list, [runs] * 12).get(PATIENCE_SECONDS) == [4] * 12
    assert len(names(index_of(runs))) == 20


def test_a_run_that_is_being_written_is_listed_and_then_whole(runs):
    """run.json comes late and is replaced whole; what is half there is broken until it is not."""
    whole = (runs / names(index_of(runs))[0] / "run.json").read_text()
    new = runs / "20261201-000000-new"
    new.mkdir()
    index = index_of(runs)
    assert index.row(new.name)["status"] == "broken"
    (new / "run.json").write_text(whole[: len(whole) // 2])
    index.refresh()
    assert "expected JSON" in index.row(new.name)["problem"]
    (new / "run.json").write_text(whole)
    index.refresh()
    assert index.row(new.name)["status"] == "complete"
    # A broken entry was not kept for others either.
    assert index_of(runs).row(new.name)["status"] == "complete"


def test_a_server_and_a_list_at_once_hold_no_lock(runs):
    """Both have the folder open all the time, with tables loaded: neither waits nor fails."""
    server = index_of(runs)
    assert server.count(Query()) == 20
    with processes(1) as pool:
        assert pool.apply_async(_list, [runs]).get(PATIENCE_SECONDS) == 4
        gone = names(server)[0]
        shutil.rmtree(runs / gone)
        server.refresh()
        assert server.count(Query()) == 19
        pool.apply_async(_list, [runs]).get(PATIENCE_SECONDS)
    server.refresh()
    assert gone not in server
    assert not list(runs.glob("*.duckdb*"))


def test_runs_that_may_only_be_read(runs, monkeypatch):
    def refuse(path, text):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("linerate.results.index.write_whole", refuse)
    assert len(names(index_of(runs))) == 20
    assert not (runs / CACHE).exists()
    # As root a folder's mode says nothing: what it refuses is what the kernel says of it.
    monkeypatch.setattr("os.scandir", lambda path: refuse(path, ""))
    with pytest.raises(StoreError, match="permission denied"):
        index_of(runs)


def test_a_folder_that_is_not_there_has_no_runs(tmp_path):
    assert names(index_of(tmp_path / "none")) == []


def test_a_thousand_runs(tmp_path):
    make_many(tmp_path, 1000)
    index = index_of(tmp_path)
    assert index.count(Query()) == 1000
    assert index.count(Query(("dut=macswap",))) == 200
    assert len(index.select(Query(limit=100))) == 100


def test_the_command_lists_and_says_what_is_wrong(linerate, runs, tmp_path):
    done = linerate("runs", "--runs", str(runs), "--filter", "dut=io", "--json")
    assert {row["dut"] for row in result_of(done.stdout)} == {"io"}
    assert linerate("runs", "--runs", str(runs)).stdout.count("\n") == 21
    for words, code in ((["--filter", "x=1"], 2), (["--runs", str(tmp_path / "none")], 1)):
        done = linerate("runs", "--runs", str(runs), *words)
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (code, 1, "")


def test_tables_hold_what_the_runs_hold(linerate, runs, tmp_path):
    (runs / "broken").mkdir()
    done = linerate("export", "--runs", str(runs), "--filter", "dut!=io",
                    "--parquet", "out", "--csv", "out")  # fmt: skip
    assert (done.returncode, done.stderr.count("left out")) == (0, 2), done.stderr
    measured = [load_run(runs / name) for name in names(index_of(runs), "dut!=io", "status!=bro")]
    results = [result for run in measured for result in run.results]
    wanted = {
        "runs": len(measured),
        "results": len(results),
        "labels": sum(len(run.labels) for run in measured),
        "goals": sum(len(search.goals) for run in measured for search in run.searches),
        "losses": sum(len(result.packets.losses) for result in results),
        "node_cycles": sum(len(worker.nodes) for result in results for worker in result.time),
    }
    with duckdb.connect(":memory:") as database:
        for table, count in wanted.items():
            for form in ("parquet", "csv"):
                found = database.sql(f"SELECT * FROM '{tmp_path / 'out' / table}.{form}'")
                assert found.columns == list(TABLES[table])
                assert len(found.fetchall()) == count
                if form == "csv":
                    assert b"\r" not in (tmp_path / "out" / f"{table}.csv").read_bytes()
        ((total,),) = database.sql(
            f"SELECT sum(packets) FROM '{tmp_path}/out/losses.parquet'"
        ).fetchall()
    lost = sum(sum(result.packets.losses.values()) for result in results)
    assert total == lost
    assert linerate("export", "--runs", str(runs)).returncode == 2
