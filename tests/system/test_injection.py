"""Limits that are injected are named, and nothing is invented.

By default every strength is tried with one loadtest; marked `slow`, with all of them. Trials
without a result are repeated; `make injection` prints the whole matrix.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.host import HostWatch
from tests.injection.matrix import Strength, matrix, one_trial_each
from tests.injection.report import RIGHT_MIN, Score, confusion
from tests.injection.runner import Outcome, Runner, run_all

SECONDS = 0.5
#: Largest number of measurements of a strength, until all its cases have a result.
ROUNDS = 3
#: More cases without a result show nothing of the whole.
WITHOUT_RESULT_SHARE_MAX = 0.15


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path, SECONDS, lambda text: None)


def test_the_injected_limit_is_named(runner: Runner, summary: list[str]) -> None:
    check(runner, one_trial_each(matrix(runner.clock())), summary)


@pytest.mark.slow
def test_the_injected_limit_is_named_with_each_loadtest(runner: Runner, summary: list[str]) -> None:
    check(runner, matrix(runner.clock()), summary)


def check(runner: Runner, strengths: Iterable[Strength], summary: list[str]) -> None:
    """Measure all; fail for wrong verdicts, and for too few results on an idle host."""
    host = HostWatch()
    outcomes: list[Outcome] = []
    for strength in strengths:
        outcomes += measured(runner, strength)
    score = Score(outcomes)
    summary += [*confusion(outcomes).splitlines(), "", *score.sentence.splitlines()]
    wrong = "\n".join(one.text for one in score.wrong)
    assert not score.clean_wrong, wrong
    assert score.share_right >= RIGHT_MIN or not score.injected, wrong
    if len(score.without_result) > WITHOUT_RESULT_SHARE_MAX * len(outcomes):
        host.no_result(" ".join(score.sentence.splitlines()))


def measured(runner: Runner, strength: Strength) -> list[Outcome]:
    """Outcomes of a strength, of the last round if none had all results."""
    for _ in range(ROUNDS):
        outcomes = list(run_all(runner, [strength]))
        if not any(one.no_result for one in outcomes):
            break
    return outcomes
