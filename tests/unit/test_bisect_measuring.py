"""A bisection's trials, on the fake engine: one engine a trial, the tester's ceiling found once."""

import os
from pathlib import Path

import pytest

from linerate.experiments.bench import Bench
from linerate.experiments.bisection.measuring import Measurer, NoTrialError
from linerate.experiments.plan import suite_plan
from linerate.model.suites import select
from linerate.model.testbed import Testbed


def measurer(made: list[Bench], first: list[Bench]) -> Measurer:
    """Notes each bench that it makes, and those that are the first of an engine."""

    def make(*given):
        made.append(Bench(*given))
        return made[-1]

    def make_first(*given):
        first.append(make(*given))
        return first[-1]

    plan = suite_plan(Testbed(), "standard", select("standard", "U2"), 0.05, ("linerate",))
    return Measurer(plan, make, make_first)


def engines(tmp_path: Path) -> list[Path]:
    """Two engines at places of their own."""
    found = []
    for name in ("good", "bad"):
        path = tmp_path / name
        path.symlink_to(os.environ["LINERATE_ENGINE"])
        found.append(path)
    return found


def test_trials_have_figures_and_leave_nothing(fake_environment, tmp_path):
    made: list[Bench] = []
    first: list[Bench] = []
    before = os.environ["LINERATE_ENGINE"]
    measures, work = measurer(made, first), tmp_path / "trial"
    work.mkdir()
    (work / "left by a killed one").touch()
    for engine in engines(tmp_path) * 2:
        trial = measures.trial(engine, work)
        assert trial.packet_ns > 0
        assert sum(trial.nodes.values()) > 0
        assert not work.exists()
        assert os.environ["LINERATE_ENGINE"] == before
    assert list(fake_environment.iterdir()) == []
    assert [len(bench.run.ceilings) for bench in made] == [1, 0, 0, 0]
    assert first == made[:2]


def test_a_trial_without_a_result_says_why_and_leaves_nothing(
    fake_environment, tmp_path, monkeypatch
):
    monkeypatch.setenv("FAKE_UNDRAINED", "1")
    work = tmp_path / "trial"
    with pytest.raises(NoTrialError, match="counters not drained"):
        measurer([], []).trial(engines(tmp_path)[0], work)
    with pytest.raises(NoTrialError, match="no such program"):
        measurer([], []).trial(tmp_path / "nowhere", work)
    assert not work.exists()
    assert list(fake_environment.iterdir()) == []
