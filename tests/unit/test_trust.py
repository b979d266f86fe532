"""The measures of our own trust: what they draw can be drawn again, and a broken law is seen."""

import random

from tests.trust import faults, pages, stops
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
