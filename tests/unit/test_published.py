"""Published outputs: no false verdict on those that rules were developed with."""

import pytest
from tests.published.cases import FOLDER, cases, judged

SURE = "high"
PARTS = ("develop", "held_out", "second", "third", "fourth")


@pytest.mark.parametrize("half", PARTS)
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
    parts = [[case.name for case in cases(part)] for part in PARTS]
    assert sorted(name for part in parts for name in part) == sorted(folders)
