"""Trends: what was planted is found, equal commits raise no alarm, machines split a series."""

import random

import pytest
from tests.unit.trend_noise import BEGAN, commits, in_a_row, planted, row, rows

from linerate.results.trend.changes import WHOLE, Trend, family_of, trends
from linerate.results.trend.series import RATE, series_of, unplaced
from linerate.results.trend.steps import steps

SEEDS = range(20)
FIRST = 23


def _trend(found, **same) -> Trend:
    (made,) = trends(series_of(rows(found, **same)))
    return made


def _mended(found, first):
    """The same without the node from a commit on."""
    return [
        [{**one, "nodes": {k: v for k, v in one["nodes"].items() if k != "burn"}} for one in trials]
        if at >= first
        else trials
        for at, trials in enumerate(found, start=1)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_4_percent_in_one_node_are_found_within_one_commit_and_named(seed):
    made = _trend(planted(commits(seed), FIRST, "burn", 4.0))
    (change,) = made.changes
    assert abs(change.at + 1 - FIRST) <= 1
    assert change.slower
    assert change.percent == pytest.approx(4.0, abs=1.0)
    assert change.inside.nodes[0].name == "burn"
    assert change.firm


def test_40_equal_commits_raise_at_most_one_alarm_in_20_seeds():
    assert sum(bool(_trend(commits(seed)).changes) for seed in SEEDS) <= 1


def test_equal_commits_measured_in_a_row_raise_at_most_one_alarm_in_20_seeds():
    assert sum(bool(_trend(commits(seed, draw=in_a_row)).changes) for seed in SEEDS) <= 1


def test_a_change_that_was_taken_back_does_not_stand():
    slow = planted(commits(1), 15, "burn", 6.0)
    assert len(_trend(slow).standing(3.0)) == 1
    mended = _trend(_mended(slow, 30))
    assert [one.slower for one in mended.changes] == [True, False]
    assert mended.standing(3.0) == ()


def test_a_machine_change_splits_a_series_and_is_no_change():
    found = [
        [{**one, "nodes": {node: cycles * (1.2 if at > 20 else 1) for node, cycles in one["nodes"].items()}} for one in trials]
        for at, trials in enumerate(commits(3), start=1)
    ]  # fmt: skip
    made_rows = [
        one.model_copy(update={"kernel": "6.8"}) if int(one.commit[1:]) > 20 else one
        for one in rows(found)
    ]
    (made,) = trends(series_of(made_rows))
    assert made.changes == ()
    (machine,) = made.machines
    assert machine.at == 20
    assert machine.stamps == {"kernel": ("6.1", "6.8")}
    assert [(one.start, one.end) for one in made.groups] == [(0, 20), (20, 40)]


def test_commits_are_in_the_order_of_the_repository_where_all_are_known():
    found = rows(commits(1, number=4, trials=1))
    order = {"c04": 0, "c03": 1, "c02": 2, "c01": 3}
    (made,) = series_of(found, order)
    assert [one.commit for one in made.points] == ["c04", "c03", "c02", "c01"]
    del order["c03"]
    (made,) = series_of(found, order)
    assert [one.commit for one in made.points] == ["c01", "c02", "c03", "c04"]
    assert unplaced(found, order) == ["c03"]


def test_rates_are_judged_where_cycles_are_not_known():
    found = rows(commits(2, number=20), nodes={}, cycles_per_packet=None)
    slow = [
        one.model_copy(update={"received_pps": (0.8 if int(one.commit[1:]) > 10 else 1.0) * 1e6 + one.repeat})
        for one in found
    ]  # fmt: skip
    (made,) = trends(series_of(slow))
    assert made.series.figure == RATE
    (change,) = made.changes
    assert change.at == 10
    assert change.seen_in == WHOLE
    assert change.slower
    assert change.slower_percent == pytest.approx(20, abs=0.1)


def test_invalid_trials_have_no_say_and_suspect_ones_only_alone():
    (trials,) = commits(1, number=1, trials=3)
    found = [
        row(trials[0], 1, 1, valid=False),
        row(trials[1], 1, 2, suspect="steal"),
        row(trials[2], 1, 3),
        row(trials[0], 2, 1, suspect="steal"),
        row(trials[0], 3, 1, valid=False),
    ]
    (made,) = series_of(found)
    assert [(one.commit, len(one.trials), one.left_out) for one in made.points] == [
        ("c01", 1, 2),
        ("c02", 1, 0),
    ]


def test_searched_loads_are_no_series():
    (trials,) = commits(1, number=1, trials=2)
    assert series_of([row(one, 1, 1, command="search") for one in trials]) == []


def test_a_series_too_short_to_tell_knows_it():
    short = _trend(commits(1, number=2, trials=2))
    assert short.changes == ()
    assert not short.can_tell(family_of([short.series]))
    longer = _trend(commits(1, number=10, trials=5))
    assert longer.can_tell(family_of([longer.series]))


def test_limits_and_places_of_loss_are_compared():
    found = [
        [{**one, "limit": "rx-ring" if at < FIRST else "worker-cpu",
          "losses": {} if at < FIRST else {"ip4-lookup: no route": 100_000}} for one in trials]
        for at, trials in enumerate(planted(commits(4), FIRST, "burn", 4.0), start=1)
    ]  # fmt: skip
    (change,) = _trend(found).changes
    assert change.inside.limits == ("rx-ring", "worker-cpu")
    assert "ip4-lookup: no route" in {one.name for one in change.inside.places}


def test_all_nodes_alike_are_not_blamed_on_one():
    found = [
        [{**one, "nodes": {node: cycles * (1.5 if at >= FIRST else 1) for node, cycles in one["nodes"].items()}} for one in trials]
        for at, trials in enumerate(commits(5, trials=8), start=1)
    ]  # fmt: skip
    (change,) = _trend(found).changes
    assert change.inside.alike


def test_one_outlier_is_no_step():
    chance = random.Random(1)
    points = [[100 + chance.random() for _ in range(5)] for _ in range(30)]
    points[12] = [100.2, 100.3, 130, 131, 133]
    assert steps(points) == []


def test_a_step_of_the_newest_commit_is_seen_and_is_not_firm():
    found = planted(commits(6, number=20), 20, "burn", 6.0)
    (change,) = _trend(found).changes
    assert change.at == 19
    assert not change.firm
    assert change.before.commit == "c19"
    assert change.after.started > BEGAN
