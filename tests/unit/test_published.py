"""Published outputs: no false verdict on those that rules were developed with."""

import pytest
from tests.published.cases import FOLDER, cases, judged

SURE = "high"


@pytest.mark.parametrize("half", ["develop", "held_out"])
def test_no_verdict_is_false(half):
    graded = {case.name: judged(case) for case in cases(half)}
    assert {name: one.limit for name, one in graded.items() if one.grade == "false"} == {}


def test_what_is_sure_is_right():
    graded = {case.name: judged(case) for case in cases("develop")}
    sure = {name: one.grade for name, one in graded.items() if one.confidence == SURE}
    assert sure
    assert set(sure.values()) <= {"right", "acceptable"}


def test_each_case_is_in_one_half():
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    halves = [{case.name for case in cases(half)} for half in ("develop", "held_out")]
    assert halves[0] | halves[1] == folders
    assert not halves[0] & halves[1]
