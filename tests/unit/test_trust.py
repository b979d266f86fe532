"""The measures of our own trust: what they draw can be drawn again, and a broken law is seen."""

import random

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
