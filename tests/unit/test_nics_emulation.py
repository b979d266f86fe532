"""What emulation excuses of a trial: the host's CPU, never a packet."""

import pytest
from tests.nics.emulation import not_of_the_host


@pytest.mark.parametrize(
    "reason",
    [
        "tester saturated: it lost 12 packets itself",
        "tester saturated: it polled too late 3 times, 40 packets lost so",
        "offered above asked: 1,100 of 1,000 packets",
        "cut short: 0.500 of 1.000 s",
        "counters not drained: packets were still on their way",
        "packet ledger violated: 3 packets unexplained",
        "t0: link down since 0.5 s",
    ],
)
def test_what_is_about_packets_and_links_counts(reason: str) -> None:
    assert not_of_the_host([reason]) == [reason]


@pytest.mark.parametrize(
    "reason",
    [
        "offered below asked: 400 pps of 500 pps (80.00 %), the tester was saturated",
        "took too long: 1.200 s for 1.000 s",
        "duration stretched by 30.0 %: the tester was off its CPU",
        "forwarder-0 was off its CPU for 12.0 % of the trial (switched out 3 times): stop what "
        "else runs on this machine",
        "tester-0 was runnable and did not run for 9.0 % of the time: stop what else runs on this "
        "machine",
    ],
)
def test_what_is_about_the_host_does_not(reason: str) -> None:
    assert not_of_the_host([reason]) == []
