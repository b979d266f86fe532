"""Repeats: the rank test against all permutations of trials, and the report of a run."""

import io
from itertools import combinations
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from linerate.base.published import plain
from linerate.report import bench, repeats
from linerate.report.render import terminal as screen
from linerate.results.statistics import (
    SIGNIFICANCE,
    Rates,
    least_p,
    p_text,
    rank_test,
    repeated,
    repeats_needed,
)

# Few values: some trials are equal.
TRIALS = st.lists(st.integers(1, 12).map(float), min_size=2, max_size=5)


def wins(base, other):
    """Mann–Whitney's U: pairs in which the other is faster, equal ones counting half."""
    return sum((b > a) + (b == a) / 2 for a in base for b in other)


def brute_force(base, other):
    """Twice the share of all ways to share the trials out that part them at least as far."""
    both = [*base, *other]
    seen = wins(base, other)
    ways = [set(way) for way in combinations(range(len(both)), len(base))]
    found = [
        wins([both[at] for at in way], [both[at] for at in range(len(both)) if at not in way])
        for way in ways
    ]
    tails = (sum(one <= seen for one in found), sum(one >= seen for one in found))
    return min(1.0, 2 * min(tails) / len(ways))


@settings(max_examples=25)
@given(TRIALS, TRIALS)
def test_the_test_is_exact_with_equal_trials_too(base, other):
    assert rank_test(base, other).p == pytest.approx(brute_force(base, other), abs=1e-9)


@settings(max_examples=25)
@given(TRIALS, TRIALS)
def test_which_is_first_does_not_matter(base, other):
    assert rank_test(base, other).p == pytest.approx(rank_test(other, base).p)


@settings(max_examples=25)
@given(TRIALS, TRIALS, st.floats(1.5, 1e6))
def test_only_the_order_counts(base, other, times):
    stretched = rank_test([one * times for one in base], [one * times for one in other])
    assert stretched.p == pytest.approx(rank_test(base, other).p)


@pytest.mark.parametrize("count", range(1, 8))
def test_how_many_repeats_can_tell_at_all(count):
    separate = rank_test([float(n) for n in range(count)], [100.0 + n for n in range(count)])
    assert separate.p == pytest.approx(least_p(count, count))
    assert separate.tells == (count >= repeats_needed())
    assert (f"at least {repeats_needed()} repeats" in separate.text) == (not separate.can_tell)


def test_four_are_the_least():
    assert repeats_needed() == 4
    assert least_p(4, 4) < SIGNIFICANCE < least_p(3, 3)
    assert p_text(1e-9) == "< 0.0001"


def test_many_equal_trials_are_reported_too():
    assert rank_test([1.0] * 30 + [2.0], [2.0] * 30 + [3.0]).tells
    assert rank_test([5.0] * 40, [5.0] * 40).p == 1


def test_medians_and_spreads_are_in_table_and_json(run, result, evidence):
    trials = [result("U2", evidence(losses={"here": n}), repeat=n + 1) for n in (0, 1, 2)]
    bad = result("U2", evidence(unexplained=1), repeat=4)
    one_run = run(*trials, bad, result("U1"))
    (found,) = repeated(one_run)
    rates = [one.received_pps for one in trials]
    assert (found.test, found.invalid) == ("U2", 1)
    assert found.rates == Rates(tuple(rates))
    assert found.rates.middle == median(rates)
    out = io.StringIO()
    screen.show(Console(file=out, width=80), bench.document(one_run, Path("runs/r")))
    assert "3 (1 invalid)" in out.getvalue()
    document = plain(repeats.fields(one_run))
    assert document["repeats"]["U2"]["median_pps"] == median(rates)
    assert "U1" not in document["repeats"]


def test_a_provisional_trial_is_no_repeat_where_there_are_others(result, run):
    """It would drag the median to what a disturbed machine left."""
    good = [result("U2", repeat=n) for n in (1, 2)]
    whole = good[0].received_pps
    shaky = result("U2", repeat=3).model_copy(update={"received_pps": 2e6, "provisional": True})
    again = shaky.model_copy(update={"repeat": 4})
    (found,) = repeated(run(*good, shaky))
    assert found.rates.trials == (whole, whole)
    assert not found.provisional
    (found,) = repeated(run(shaky, again))
    assert found.rates.trials == (2e6, 2e6)
    assert found.provisional
    assert repeats.rows(run(shaky, again))[0][0] == "U2‡"
