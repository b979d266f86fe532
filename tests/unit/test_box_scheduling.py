"""Time in which threads were ready and had no CPU, as scheduler and control groups count it."""

import pytest

from linerate.parsers.boxes._scheduling import SHELL, waited


def read(seconds: float, ran: int, ready: int, *lines: str) -> str:
    return "\n".join((f"{seconds} 1.0", f"pmd-c01/id:8 {ran} {ready} 3", *lines))


def test_waiting_and_quota_are_added_up():
    before = read(1.0, 0, 0, "sleeps 1 1 1", "throttled_usec 100000")
    after = read(2.0, 500_000_000, 200_000_000, "sleeps 1 1 1", "throttled_usec 300000")
    both = waited(before, after, 99.0)
    assert both["sleeps"].percent == 0
    one = both["pmd-c01/id:8"]
    assert one.ran_percent == pytest.approx(50)
    assert one.percent == pytest.approx(40)
    assert one.quota_percent == pytest.approx(20)


def test_no_thread_waits_while_it_runs():
    """The scheduler of some kernels counts a quota's time as waiting, too."""
    after = read(2.0, 700_000_000, 300_000_000, "throttled_time 300000000")
    one = waited(read(1.0, 0, 0), after, 1.0)["pmd-c01/id:8"]
    assert one.percent == pytest.approx(30)


def test_without_a_clock_the_answers_times_are_taken():
    before, after = ("pmd-c01/id:8 0 0 0", "pmd-c01/id:8 0 1000000000 9")
    assert waited(before, after, 2.0)["pmd-c01/id:8"].percent == pytest.approx(50)
    assert waited(before, after, 0.0) == {}


@pytest.mark.parametrize("text", ["", "x", "1 2 3 4", "a b c d e", "throttled_usec x", "\n\n1.0"])
def test_other_text_says_nothing(text):
    assert waited(text, text, 1.0).get("pmd-c01/id:8") is None


def test_the_question_is_one_line():
    assert "\n" not in SHELL
