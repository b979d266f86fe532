"""Skips for a busy host are counted, and are failures in CI."""

import os

import pytest
from tests import host
from tests.conftest import busy_is_failure
from tests.host import HOST_BUSY, HostWatch

CPUS = os.cpu_count() or 1


def report(outcome, longrepr):
    return pytest.TestReport("a", ("a.py", 1, "a"), {}, outcome, longrepr, "call")


def test_a_skip_for_a_busy_host_becomes_a_failure():
    changed = busy_is_failure(report("skipped", ("a.py", 7, f"Skipped: {HOST_BUSY}: no trial")))
    assert changed.failed
    assert "no trial" in str(changed.longrepr)


@pytest.mark.parametrize(
    ("outcome", "longrepr"),
    [
        ("skipped", ("a.py", 7, "Skipped: needs root")),
        ("passed", None),
        ("failed", f"{HOST_BUSY} is in a failure's text"),
    ],
)
def test_other_outcomes_stay(outcome, longrepr):
    assert busy_is_failure(report(outcome, longrepr)).outcome == outcome


@pytest.fixture
def watch(tmp_path, monkeypatch):
    """A watch over ten seconds in which this process used one: the rest is given in seconds."""

    def over(seconds, column):
        hundredths = [0] * 10
        clock = iter([100.0, 110.0])
        own = iter([5.0, 6.0])
        monkeypatch.setattr("tests.host.time.monotonic", lambda: next(clock))
        monkeypatch.setattr(host, "_own_seconds", lambda: next(own))
        stat = tmp_path / "stat"
        stat.write_text(f"cpu {' '.join(map(str, hundredths))}\ncpu0 1 2 3\n")
        made = HostWatch(tmp_path)
        hundredths[column] = round(seconds * CPUS * os.sysconf("SC_CLK_TCK"))
        stat.write_text(f"cpu {' '.join(map(str, hundredths))}\ncpu0 1 2 3\n")
        return made

    return over


# user, nice, system, irq, softirq, steal
@pytest.mark.parametrize("column", [0, 1, 2, 5, 6, 7])
def test_other_programs_make_a_host_busy(watch, column):
    with pytest.raises(pytest.skip.Exception, match=HOST_BUSY):
        watch(5, column).no_result("no valid trial")


# idle, iowait, guest, guest_nice
@pytest.mark.parametrize("column", [3, 4, 8, 9])
def test_an_idle_host_excuses_nothing(watch, column):
    with pytest.raises(pytest.fail.Exception, match="no valid trial"):
        watch(5, column).no_result("no valid trial")


def test_own_time_is_no_other_programs(watch):
    assert watch(1 / CPUS, 0).others_percent() == 0
