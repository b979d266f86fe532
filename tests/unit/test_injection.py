"""The injection matrix itself: it covers what it says, and its score can be bad."""

import pytest
from tests.injection.matrix import STANDARD, Clock, Strength, make_testbed, matrix
from tests.injection.report import WITHOUT_RESULT_MAX, Score, confusion, strengths
from tests.injection.runner import Outcome

from linerate.analysis.explain import LIMITS, Verdict

#: Verdicts that are no limit to inject. Devices that lose by configuration or in silence:
#: tests/system/test_lost_in_silence.py; links before a box: tests/boxes.
#: Limits of boxes (tests.boxes) and of pasted text, which a card of ours can't have.
NOT_INJECTED = {"unknown", "configuration", "unexplained", "link", "shaper", "descheduled"}
MATRIX = matrix(Clock(2.5e9))


def outcome(injected, named, no_result=False):
    strength = Strength(injected, "some", make_testbed())
    verdict = Verdict(limit=named, confidence="high", sentence="because")
    return Outcome(strength, STANDARD[0], verdict, 1e6, 1, no_result)


def test_every_limit_is_injected_at_several_strengths():
    made = [one.injected for one in MATRIX]
    made += [one.closed_box for one in MATRIX if one.closed_box]
    assert set(made) == set(LIMITS) - NOT_INJECTED
    assert min(made.count(limit) for limit in made) >= 2


def test_each_limit_meets_all_eight_loadtests():
    for limit in {one.injected for one in MATRIX} - {"invalid", "flow-offload"}:
        names = {test.name for one in MATRIX if one.injected == limit for test in one.loadtests}
        assert names >= {test.name for test in STANDARD}


def test_rules_of_a_card_meet_traffics_of_flows():
    names = {
        test.name for one in MATRIX if one.injected == "flow-offload" for test in one.loadtests
    }
    assert names == {"imix-on", "syn-on", "zipf-on"}


@pytest.mark.parametrize(
    ("outcomes", "good"),
    [
        ([outcome("pcie", "pcie")] * 19 + [outcome("pcie", "unknown")], True),
        ([outcome("pcie", "pcie")] * 18 + [outcome("pcie", "unknown")], False),
        ([outcome("pcie", "pcie"), outcome("pcie", "invalid", no_result=True)], True),
        ([outcome("pcie", "pcie")] * 99 + [outcome("none", "pcie")], False),
        ([outcome("pcie", "pcie"), outcome("line", "line")], True),
    ],
)
def test_the_score_is_of_what_had_a_result(outcomes, good):
    assert Score(outcomes).good == good


def test_too_few_results_show_nothing():
    missing = [outcome("pcie", "invalid", no_result=True)]
    assert not Score(missing * WITHOUT_RESULT_MAX).too_busy
    assert Score(missing * (WITHOUT_RESULT_MAX + 1)).too_busy


def test_the_confusion_names_what_was_named_instead():
    outcomes = [outcome("pcie", "pcie"), outcome("pcie", "unknown"), outcome("none", "none")]
    lines = confusion(outcomes).splitlines()
    assert lines[1].split() == ["pcie", "2", "1", "0", "1", "unknown"]
    assert lines[2].split() == ["none", "1", "1", "0"]
    assert "1/2" in strengths(outcomes)
