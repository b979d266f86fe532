"""The measures of our own trust: what they draw can be drawn again, and a broken law is seen."""

import random

from tests.trust import faults
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
