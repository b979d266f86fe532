"""Screens of XDP samples: queues between CPUs, and threads that never sleep."""

import pytest

from linerate.analysis.explain import explain
from linerate.parsers.files import evidence_of_text
from linerate.parsers.text import text_of

SCREEN = """\
Running XDP/eBPF prog_name:xdp_cpu_map0
XDP-cpumap      CPU:to  pps            drop-pps    extra-info
XDP-RX          4       17,904,077     0           0
XDP-RX          total   17,904,077     0
cpumap-enqueue    4:2   17,904,076     {dropped}     8.00       bulk-average
cpumap-enqueue  sum:2   17,904,076     {dropped}     8.00       bulk-average
cpumap_kthread  2       17,485,954     0           {slept}      sched
cpumap_kthread  total   17,485,954     0           {slept}      sched-sum
redirect_err    total   0              0
"""


def evidence(dropped, slept):
    return evidence_of_text(text_of(SCREEN.format(dropped=dropped, slept=slept), "screen"))


def test_a_queue_between_cpus_is_a_ring():
    found = evidence("418,122", "35,139")
    (ring,) = found.rings
    assert (ring.source, ring.destination, ring.dropped) == ("CPU 4", "CPU 2", 418_122)
    assert ring.enqueued == 17_485_954
    assert found.ports[0].rx_packets == 17_904_077
    assert found.cpu_times == ()


@pytest.mark.parametrize(
    ("dropped", "slept", "limit"),
    [
        ("418,122", "35,139", "handoff-ring"),
        ("418,122", "0", "worker-cpu"),
        ("84", "35,139", "unknown"),
        ("0", "0", "unknown"),
    ],
)
def test_a_thread_that_never_sleeps_has_no_time(dropped, slept, limit):
    assert explain(evidence(dropped, slept)).limit == limit
