"""The intended load: lowered only by undisturbed shortfalls of the tester."""

import pytest

from linerate.analysis.validity import doubts
from linerate.experiments.asked_load import AskedLoad

#: Packets of a trial of 5 s at 10 Gb/s and 64 bytes.
LINE_PACKETS = 74_404_762


def test_the_first_is_the_lines_or_nearly_the_testers():
    assert AskedLoad.first(14.88e6, None) == AskedLoad(1_000_000)
    assert AskedLoad.first(14.88e6, 60e6).scale_ppm == 1_000_000
    assert AskedLoad.first(10e6, 5e6).scale_ppm == 475_000


def test_it_is_lowered_once_two_attempts_agree(evidence):
    asked = AskedLoad(1_000_000, 40e6)
    short = evidence(sent=LINE_PACKETS // 2)
    again = asked.after(short)
    assert again.scale_ppm == 1_000_000
    lower = again.after(evidence(sent=round(LINE_PACKETS * 0.51)))
    assert lower.scale_ppm == pytest.approx(950_000 * 0.51, abs=1)
    assert lower.ceiling_pps == pytest.approx(0.51 * 14.88e6, rel=1e-3)
    assert lower.tried == 0
    assert len(lower.fell_short_pps) == 2


def test_attempts_that_disagree_lower_it_to_the_best_and_are_reported(evidence):
    asked = AskedLoad(1_000_000, 40e6)
    for share in (0.9, 0.5, 0.7):
        assert asked.scale_ppm == 1_000_000
        asked = asked.after(evidence(sent=round(LINE_PACKETS * share)))
    assert asked.scale_ppm == pytest.approx(950_000 * 0.9, abs=1)
    good = evidence()
    load = good.load.model_copy(update={"fell_short_pps": asked.fell_short_pps})
    (text,) = doubts(good.model_copy(update={"load": load}))
    assert "managed 7.440 Mpps to 13.393 Mpps in 3 attempts" in text


def test_what_the_machine_disturbed_says_nothing_of_the_tester(evidence):
    asked = AskedLoad(1_000_000, 40e6)
    disturbed = evidence(sent=LINE_PACKETS // 2, progress={"paused_us": 1_000_000})
    for _ in range(5):
        asked = asked.after(disturbed)
    assert asked == AskedLoad(1_000_000, 40e6)
    assert asked.after(evidence(unexplained=1)) == asked


def test_a_first_failure_counts_when_a_device_warms_up(evidence):
    asked = AskedLoad(1_000_000, 40e6)
    assert asked.after_warmup(evidence()) == asked
    lower = asked.after_warmup(evidence(sent=LINE_PACKETS // 2))
    assert lower.scale_ppm == pytest.approx(475_000, abs=1)


@pytest.mark.parametrize("scale_ppm", [1, 100_000, 1_000_000])
def test_it_never_grows(evidence, scale_ppm):
    asked = AskedLoad(scale_ppm)
    for _ in range(3):
        asked = asked.after(evidence(sent=LINE_PACKETS - 100_000))
    assert 1 <= asked.scale_ppm <= scale_ppm
