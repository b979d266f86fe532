"""One strength of each limit that can be injected is named, and nothing is invented.

`make injection` runs all strengths.
"""

from pathlib import Path

import pytest
from tests.injection.matrix import matrix, one_of_each
from tests.injection.report import RIGHT_MIN, Score, confusion
from tests.injection.runner import Outcome, Runner, run_all

SECONDS = 0.5


def test_the_injected_limit_is_named(tmp_path: Path, summary: list[str]) -> None:
    runner = Runner(tmp_path, SECONDS, lambda text: None)
    outcomes: list[Outcome] = []
    score = Score(outcomes)
    for outcome in run_all(runner, one_of_each(matrix(runner.clock()))):
        outcomes.append(outcome)
        if score.too_busy:
            break
    summary += [*confusion(outcomes).splitlines(), "", *score.sentence.splitlines()]
    if score.too_busy:
        pytest.skip("the machine is too busy: " + " ".join(score.sentence.splitlines()))
    wrong = "\n".join(one.text for one in score.wrong)
    assert not score.clean_wrong, wrong
    assert score.share_right >= RIGHT_MIN, wrong
