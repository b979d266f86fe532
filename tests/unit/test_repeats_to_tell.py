"""Repeats that would tell a change: the number found does, nine times in ten, and half of it not."""

import random
from math import log

import pytest
from scipy import stats

from linerate.results.repeats_to_tell import KNOWN_FROM, REPEATS_MAX, of_pairs, of_sets

SIGNIFICANCE = 0.01
SIZE = log(1.03)


def gauss(chance):
    return chance.gauss(0, 0.03)


def with_tails(chance):
    """Noise of a host that moves a CPU, now and then."""
    return chance.gauss(0, 0.01) + (0.4 * chance.choice((-1, 1)) if chance.random() < 0.1 else 0)


def share_found(draw, pairs, times=150):
    """Share of times in which Wilcoxon's test finds a change of SIZE in pairs."""
    chance = random.Random(7)
    found = sum(
        stats.wilcoxon(
            [draw(chance) + SIZE for _ in range(pairs)], alternative="greater", method="exact"
        ).pvalue
        <= SIGNIFICANCE
        for _ in range(times)
    )
    return found / times


@pytest.mark.parametrize("draw", [gauss, with_tails])
def test_the_number_of_pairs_tells_and_half_of_it_does_not(draw):
    chance = random.Random(3)
    known = [draw(chance) for _ in range(300)]
    needed = of_pairs([0.0] * 300, known, SIZE, SIGNIFICANCE)
    assert needed is not None
    assert 0.82 <= share_found(draw, needed) <= 0.98
    assert share_found(draw, needed // 2) < 0.75


def test_the_number_of_repeats_of_two_sets_tells():
    chance = random.Random(3)
    base, other = ([gauss(chance) for _ in range(200)] for _ in range(2))
    needed = of_sets(base, other, SIZE, SIGNIFICANCE)
    assert needed is not None
    chance = random.Random(9)
    found = sum(
        stats.mannwhitneyu(
            [gauss(chance) + SIZE for _ in range(needed)],
            [gauss(chance) for _ in range(needed)],
            alternative="greater",
        ).pvalue
        <= SIGNIFICANCE
        for _ in range(150)
    )
    assert 0.84 <= found / 150 <= 0.99


def test_a_handful_of_pairs_gives_the_order_of_the_number():
    chance = random.Random(5)
    known = of_pairs([0.0] * 300, [gauss(chance) for _ in range(300)], SIZE, SIGNIFICANCE)
    guesses = sorted(
        of_pairs([0.0] * 12, [gauss(chance) for _ in range(12)], SIZE, SIGNIFICANCE) or REPEATS_MAX
        for _ in range(40)
    )
    assert known is not None
    assert known / 2 <= guesses[20] <= known * 2


def test_without_noise_the_fewest_that_can_tell_do():
    found = of_pairs([0.0] * 8, [1e-6 * n for n in range(8)], SIZE, SIGNIFICANCE)
    assert found is not None
    assert 2.0**-found <= SIGNIFICANCE
    assert found <= 9


def test_the_change_itself_is_no_noise():
    still = of_pairs([0.0] * 12, [0.001 * n for n in range(12)], SIZE, SIGNIFICANCE)
    grown = of_pairs([0.0] * 12, [0.001 * n + 0.5 for n in range(12)], SIZE, SIGNIFICANCE)
    assert still == grown


def test_what_no_number_tells():
    chance = random.Random(1)
    far = [chance.gauss(0, 1) for _ in range(100)]
    assert of_pairs([0.0] * 100, far, 1e-3, SIGNIFICANCE) is None
    assert of_sets(far, far, 1e-3, SIGNIFICANCE) is None
    few = [0.0] * (KNOWN_FROM - 1)
    assert of_pairs(few, few, SIZE, SIGNIFICANCE) is None
    assert of_sets(few, few, SIZE, SIGNIFICANCE) is None
    assert of_pairs([0.0] * 100, far, 0.0, SIGNIFICANCE) is None
