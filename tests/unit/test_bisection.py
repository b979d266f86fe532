"""Bisections: what was planted is found in few builds, seldom anything else, and gone on with."""

import random
from itertools import pairwise

import pytest
from tests.unit.bisected import COMMITS, Device, as_recorded, bisected, moved, normal

from linerate.model.bisection import LeftOut
from linerate.results.bisection.accounts import WHOLE
from linerate.results.bisection.answer import centre, growth_found, noise, outcome, shift
from linerate.results.bisection.looks import looks
from linerate.results.bisection.search import Asked, Bisection

FIRST = 23
BUILDS = 8
SEEDS = range(6)


def place_found(made: Bisection) -> int:
    """Place of the commit that was found, the first being 1."""
    assert outcome(made) == "found"
    return made.high + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_4_percent_from_commit_23_of_40_are_found_in_8_builds(seed):
    device = Device(as_recorded(FIRST), seed)
    made = bisected(device)
    assert place_found(made) == FIRST
    assert len(device.built) <= BUILDS
    assert made.followed is not None
    assert made.followed.account.name == "burn"
    growth = growth_found(made)
    assert growth is not None
    assert growth.percent.low <= growth.percent.value <= growth.percent.high
    assert growth.percent.value == pytest.approx(4.0, abs=2.0)


@pytest.mark.parametrize("first", range(2, len(COMMITS) + 1))
def test_each_place_is_found(first):
    device = Device(as_recorded(first), seed=first)
    assert place_found(bisected(device)) == first
    assert len(device.built) <= BUILDS


def test_two_commits_are_a_line_of_one_step():
    made = Bisection(COMMITS[:1] + COMMITS[-1:], Asked())
    device = Device(as_recorded(2), 1)
    while (wanted := made.wanted) is not None:
        made.take(device.event(wanted))
    assert (outcome(made), made.low, made.high) == ("found", 0, 1)
    assert device.built == {1, len(COMMITS)}


def test_equal_ends_are_alike_and_say_what_would_do():
    made = bisected(Device(normal(99, 4.0, noise_percent=1.0), 1))
    assert outcome(made) == "alike"
    why = noise(made)
    assert why is not None
    assert why.rounds == len(made.ends) <= made.asked.rounds_max
    assert why.rounds_to_tell is not None
    assert why.spread_percent == pytest.approx(1.4, abs=0.7)
    noisy = noise(bisected(Device(normal(99, 4.0, noise_percent=10.0), 1)))
    assert noisy is not None
    assert (noisy.rounds_to_tell or 1000) > 4 * why.rounds_to_tell


def test_equal_ends_are_seldom_taken_for_different():
    asked = Asked(least_percent=0.0)
    wrong = [
        seed
        for seed in range(60)
        if outcome(bisected(Device(normal(99, 0.0, noise_percent=5.0), seed), asked)) != "alike"
    ]
    assert len(wrong) <= 3


def test_a_wrong_commit_is_seldom_found_where_noise_is_as_large_as_the_change():
    """Each step errs seldom, though the noise of a round is half the change."""
    found = [bisected(Device(normal(FIRST, 4.0, noise_percent=1.6), seed)) for seed in range(40)]
    places = [made.high + 1 for made in found if outcome(made) == "found"]
    assert len(places) >= 10
    assert sum(place != FIRST for place in places) <= 2
    ranges = [made for made in found if outcome(made) == "range"]
    assert sum(not made.low < FIRST - 1 <= made.high for made in ranges) <= 2


def test_what_can_not_be_placed_is_a_range_and_more_pairs_would_do():
    made = bisected(Device(normal(FIRST, 4.0, noise_percent=2.0), 3))
    assert outcome(made) == "range"
    assert made.low < FIRST - 1 <= made.high
    why = noise(made)
    assert why is not None
    assert why.rounds_to_tell is not None
    assert why.percent == pytest.approx(2.0, abs=0.7)
    # The same rounds, and as many more as that allows: it goes on.
    more = Bisection(COMMITS, Asked(rounds_max=500))
    for one in [*made.ends, *(one for some in made.rounds.values() for one in some)]:
        more.take(one)
    assert (more.low, more.high, more.followed) == (made.low, made.high, made.followed)
    assert outcome(more) == "unfinished"


def test_a_node_that_was_replaced_is_no_change_by_itself():
    for seed in SEEDS:
        made = bisected(Device(moved(at=10, first=30), seed))
        assert place_found(made) == 30
        assert made.followed is not None
        assert set(made.followed.account.nodes) == {"ip4-lookup", "ip4-lookup-fast"}


def test_a_change_of_all_nodes_together_is_found_too():
    made = bisected(Device(normal(FIRST, 10.0, noise_percent=2.0), 1))
    assert place_found(made) == FIRST
    assert made.followed is not None
    assert made.followed.account.name in ("forward", WHOLE.name)
    assert made.followed.percent == pytest.approx(10.0, abs=2.0)


def test_smaller_changes_than_the_precision_are_none():
    made = bisected(Device(as_recorded(FIRST), 1), Asked(least_percent=20.0))
    assert outcome(made) == "alike"


@pytest.mark.parametrize("unbuilt", [[20], [19, 20, 21], [5, 6, 7, 8, 9, 10]])
def test_neighbours_of_commits_that_can_not_be_built_are_taken(unbuilt):
    device = Device(as_recorded(FIRST), 2, unbuilt)
    made = bisected(device)
    assert place_found(made) == FIRST
    assert set(made.left_out) <= {place - 1 for place in unbuilt}


def test_the_answer_is_a_range_where_it_may_be_one_of_those():
    made = bisected(Device(as_recorded(FIRST), 1, [21, 22, 23, 24]))
    assert outcome(made) == "range"
    assert (made.low + 1, made.high + 1) == (20, 25)
    assert set(made.left_out) == {20, 21, 22, 23}
    assert noise(made) is None


def test_commits_outside_are_not_left_out():
    made = bisected(Device(as_recorded(FIRST), 1), rounds=30)
    before = (made.low, made.high, made.wanted)
    made.take(LeftOut(commit=COMMITS[made.low], reason="none"))
    made.take(LeftOut(commit="f" * 40, reason="none"))
    assert (made.low, made.high, made.wanted) == before


def test_looks_share_the_error_out():
    for error, family in ((0.02, 20), (0.004, 1)):
        some = [next_look for next_look, _ in zip(looks(error, family), range(200), strict=False)]
        assert sum(share for _, share in some) <= error
        assert all(2.0**-rounds <= share / family for rounds, share in some)
        assert all(late > early for (early, _), (late, _) in pairwise(some))


def test_steps_share_the_error_out_however_many_they_are():
    """Each commit in the middle is good: as skewed as a line can be."""
    made = Bisection(COMMITS, Asked())
    device = Device(as_recorded(40), 1, unbuilt=range(3, 39))
    shares: dict[str, float] = {}
    while (wanted := made.wanted) is not None:
        if wanted.commit:
            shares.setdefault(wanted.commit, made.error * 2)
        made.take(device.event(wanted))
    assert sum(shares.values()) <= 0.05 * 38  # those left out give theirs back
    assert shares[COMMITS[1]] + shares.get(COMMITS[38], 0) <= 0.03


def test_intervals_hold_what_they_are_of():
    chance, held = random.Random(1), 0
    for _ in range(200):
        some = [chance.gauss(5, 1) for _ in range(11)]
        others = [chance.gauss(2, 1) for _ in range(9)]
        assert centre(some).low < centre(some).value < centre(some).high
        held += centre(some).low <= 5 <= centre(some).high
        held += shift(others, some).low <= 3 <= shift(others, some).high
    assert held >= 0.92 * 400
