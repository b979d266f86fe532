"""Searches of devices that are a formula: what is found is what the formula says.

The search is the product's, MLRsearch and all; its trials are computed here, without an engine.
"""

import random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.conftest import make_evidence

from linerate.experiments.retry import lost_of
from linerate.experiments.search import How, _Measurer, _searched
from linerate.lab.trial import TrialError
from linerate.model.measurement import Load
from linerate.model.run_records import Search

LINK_BPS = 10**10
MAX_PPS = LINK_BPS / (84 * 8)
MIN_PPS = MAX_PPS * 2e-4
MISSED = "card0 port 0: rx missed (ring full)"
#: Share of one packet in the smallest trial.
EXACT = 1e-3


def capacity(pps):
    """A device that forwards so much and loses the rest."""
    return lambda offered_pps, seconds: max(0, round((offered_pps - pps) * seconds))


def random_loss(share):
    """A device that loses a share of whatever comes."""
    return lambda offered_pps, seconds: round(offered_pps * seconds * share)


def noisy(pps, seed, chance):
    """The same as one with a capacity, which now and then loses a tenth below it too."""
    dice = random.Random(seed)
    steady = capacity(pps)

    def lost(offered_pps, seconds):
        spurious = round(0.1 * offered_pps * seconds) if dice.random() < chance else 0
        return max(steady(offered_pps, seconds), spurious)

    return lost


class Simulated:
    """Stands for the bench and for its attempts at a load."""

    def __init__(self, lost, how):
        self.how = how
        self._lost = lost
        self.lost_by_host = {}
        self.learnt_goals = 0

    def begin(self, name, message, seconds):
        assert name.startswith("U2.")
        assert seconds > 0

    def learnt(self, points, lost_by_host):
        self.learnt_goals += 1

    def tried(self, name, load_pps, seconds):
        load = Load(
            frame_bytes=64,
            directions=1,
            link_bps=LINK_BPS,
            scale_ppm=1_000_000,
            duration_us=round(seconds * 1e6),
        )
        sent = round(load_pps * seconds)
        measurement = make_evidence(
            sent=sent, losses={MISSED: self._lost(load_pps, seconds)}, load=load
        )
        lost, sent = lost_of(measurement)
        return SimpleNamespace(
            loss_ratio=lost / sent, trial=name, lost=lost, measurement=measurement
        )


def searched(lost, how=None, max_pps=MAX_PPS):
    """The goals that are found, and the points that were measured for them."""
    how = how or How()
    about = Search(
        loadtest="U2",
        text="simulated",
        frame_bytes=64,
        width=how.width,
        duration_seconds=how.duration_seconds,
        min_pps=MIN_PPS,
        max_pps=max_pps,
        line_pps=MAX_PPS,
    )
    device = Simulated(lost, how)
    step = SimpleNamespace(loadtest=SimpleNamespace(name="U2"))
    measurer = _Measurer(cast(Any, device), cast(Any, step), cast(Any, device))
    goals = _searched(measurer, how, about)
    assert device.learnt_goals == len(measurer.points)
    return goals, measurer.points


rates = st.floats(MIN_PPS * 2, MAX_PPS * 0.98)


@given(pps=rates)
@settings(max_examples=40)
def test_a_capacity_lies_between_the_two_loads(pps):
    goals, points = searched(capacity(pps))
    for goal in goals:
        allowed = pps / (1 - goal.loss_ratio)
        if allowed > MAX_PPS:
            continue
        assert goal.lower_pps <= allowed * (1 + EXACT)
        assert goal.upper_pps >= allowed * (1 - EXACT)
        assert goal.lower_pps >= goal.upper_pps * (1 - How().width * 1.01)
        assert goal.forwarded_pps == pytest.approx(min(pps, goal.lower_pps), rel=EXACT)
    assert len(points) < 40


@given(
    pps=rates,
    ratios=st.lists(st.sampled_from([0, 1e-4, 1e-3, 5e-3, 0.02]), min_size=1, unique=True),
)
@settings(max_examples=25)
def test_goals_that_allow_more_loss_are_no_lower(pps, ratios):
    goals, _ = searched(capacity(pps), How(loss_ratios=tuple(sorted(ratios))))
    lower = [goal.lower_pps for goal in goals]
    assert lower == sorted(lower)


def test_a_device_faster_than_the_line_holds_the_line():
    goals, _ = searched(capacity(2 * MAX_PPS))
    assert [(goal.lower_pps, goal.upper_pps) for goal in goals] == [(MAX_PPS, None)] * 2


def test_a_device_that_forwards_nothing_has_no_lower_load():
    goals, _ = searched(capacity(0))
    assert [goal.lower_pps for goal in goals] == [None, None]
    assert all(goal.upper_pps == pytest.approx(MIN_PPS) for goal in goals)


def test_random_loss_fails_the_goals_below_it_alone():
    how = How(loss_ratios=(0, 0.001, 0.005))
    ndr, tenth, pdr = searched(random_loss(0.002), how)[0]
    assert (ndr.lower_pps, tenth.lower_pps) == (None, None)
    assert (pdr.lower_pps, pdr.upper_pps) == (MAX_PPS, None)


@given(pps=rates, seed=st.integers(0, 2**16), chance=st.floats(0, 0.3))
@settings(max_examples=40)
def test_whatever_a_device_does_each_load_is_backed_by_its_trial(pps, seed, chance):
    try:
        goals, points = searched(noisy(pps, seed, chance))
    except TrialError:
        # Too many trials: nothing held still. No figure is given then.
        return
    by_trial = {point.trial: point for point in points}
    for goal in goals:
        if goal.lower_pps is not None:
            held = by_trial[goal.lower_trial]
            assert held.pps == goal.lower_pps
            assert held.loss_ratio <= goal.loss_ratio
            assert held.seconds == How().seconds_at(held.pps, How().duration_seconds)
            assert goal.lower_pps <= pps / (1 - goal.loss_ratio) * (1 + EXACT)
        if goal.upper_pps is not None:
            failed = by_trial[goal.upper_trial]
            assert failed.pps == goal.upper_pps
            assert failed.loss_ratio > goal.loss_ratio
        if None not in (goal.lower_pps, goal.upper_pps):
            assert goal.lower_pps < goal.upper_pps


@pytest.mark.parametrize("width", [0.001, 0.005, 0.05])
def test_the_two_loads_are_as_close_as_asked(width):
    (ndr, _), points = searched(capacity(3e6), How(width=width))
    assert ndr.lower_pps >= ndr.upper_pps * (1 - width * 1.01)
    # No closer than asked, either: each further step is a trial of full length.
    assert ndr.lower_pps < ndr.upper_pps * (1 - width / 4)
    assert points


def test_what_the_library_gets_is_what_was_measured():
    device = Simulated(capacity(1e6), How())
    step = SimpleNamespace(loadtest=SimpleNamespace(name="U2"))
    measured = _Measurer(cast(Any, device), cast(Any, step), cast(Any, device)).measure(1.0, 3e6)
    tried = device.tried("U2.1", 3e6, 1.0)
    assert (measured.loss_count, measured.offered_count) == lost_of(tried.measurement)
    assert measured.loss_ratio == pytest.approx(2 / 3)
