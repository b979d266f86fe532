"""The measures of our own trust: what they draw can be drawn again, and a broken law is seen."""

import random
import sys

import pytest
from tests.trust import __main__ as program
from tests.trust import faults, pages, stops, trials
from tests.trust.measure import BrokenError
from tests.trust.trials import Sums, drawn, impossible, judge

SEED = 7


def test_a_seed_draws_the_same_again():
    first, again = ([drawn(random.Random(SEED + n)).name for n in range(20)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 15


def test_a_clean_trial_breaks_no_law(evidence):
    sums = Sums()
    judge(sums, drawn(random.Random(SEED)), evidence())
    assert (sums.trials, sums.valid, sums.broken) == (1, 1, [])


def test_broken_laws_are_seen(evidence):
    case = drawn(random.Random(SEED))
    for wrong in ({"unexplained": 7}, {"sent": 90_000_000}):
        sums = Sums()
        judge(sums, case, evidence(**wrong))
        assert sums.broken, wrong
    assert impossible(evidence(sent=90_000_000)) == ["120.9600 % of the line"]


def test_each_fault_happens_to_what_has_it():
    """Every kind is drawn, and an interface is only taken from a wire that has some."""
    cases = [faults.drawn(random.Random(seed)) for seed in range(300)]
    assert {case.fault for case in cases} == set(faults.FAULTS)
    assert all(case.wire == "veth" for case in cases if "interface" in case.fault)


def test_what_a_server_took_is_a_row_a_minute():
    """The first minute fills caches: growth is counted from the second."""
    seen = [
        pages.Minute(n, threads=10 + n, files=20, rss_bytes=10**8 + n * 10**6, runs=6 + n,
                     answers=500, worst_ms=12.3, wrong=n == 3)
        for n in range(1, 5)
    ]  # fmt: skip
    lines = list(pages.rows(seen))
    assert len({len(line) for line in lines[:5]}) == 1
    assert lines[-1] == (
        "\nfrom minute 2 to 4: +2 threads, +0 files, +2.0 MB, +2 runs; 1 wrong answers"
    )


def test_answers_are_counted_by_the_minute():
    asked = pages.Asked()
    for status in (200, 503, 500, 0):
        asked.note(status, status / 1e4)
    assert asked.taken() == (4, 50.3, 2)
    assert asked.taken() == (0, 0.0, 0)


def test_clients_ask_for_every_page_of_the_runs_there_are():
    paths = pages.addresses(["first", "last"])
    assert "/live" in paths
    assert any("first" in path for path in paths)
    assert any("last" in path for path in paths)


def test_stops_are_one_row():
    header, row = stops.rows([(0.002, 0.5), (0.004, 1.5), (3.0, 9.0)])
    assert len(header) == len(row)
    assert row.split() == ["3", "4", "3,000", "1.5", "9.0"]
    assert list(stops.rows([])) == [header]


def test_a_broken_law_is_exit_code_1(monkeypatch, capsys):
    def broken(_runs, _cases, _seed):
        raise BrokenError("the table")

    monkeypatch.setitem(program.MEASURES, "trials", (broken, 1))
    monkeypatch.setattr(sys, "argv", ["trust", "trials"])
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 1
    assert capsys.readouterr().out == "the table\n"


def test_a_trial_that_breaks_a_law_ends_the_measure_so(tmp_path, monkeypatch, evidence):
    monkeypatch.setattr(trials, "measured", lambda *_words: iter([evidence(unexplained=7)]))
    with pytest.raises(BrokenError, match=r"1 broken laws; 0 engines lost; seed 7"):
        trials.table(tmp_path, 1, SEED)


def test_a_fault_that_ends_wrong_is_kept_and_can_be_done_again(tmp_path, monkeypatch):
    cases = []

    def wrong(case, folder, _draw):
        cases.append(case)
        (folder / "out").write_text("its output")
        return ["hung"]

    monkeypatch.setattr(faults, "wrong", wrong)
    monkeypatch.setattr(faults, "KEPT", tmp_path)
    with pytest.raises(BrokenError, match=rf"0 of 2 runs .*seed {SEED}\n") as broken:
        faults.table(tmp_path, 2, SEED)
    assert f"seed {SEED + 1}" in str(broken.value)
    assert (tmp_path / f"fault-{SEED + 1}/out").read_text() == "its output"
    with pytest.raises(BrokenError):
        faults.table(tmp_path, 1, SEED + 1)
    assert cases[2] == cases[1]


def test_a_trial_that_its_evidence_speaks_against_is_published(tmp_path, evidence, result):
    (tmp_path / "evidence").mkdir()
    sound, wrong = evidence(), evidence(unexplained=7)
    for measured, is_wrong in ((sound, False), (wrong, True)):
        (tmp_path / "evidence/U2.json").write_text(measured.model_dump_json())
        assert faults._published(result(), tmp_path) is is_wrong
