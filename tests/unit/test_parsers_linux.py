"""Outputs of a Linux host's own tools, in their layout."""

from linerate.model.evidence import Evidence
from linerate.parsers.files import evidence_of_text
from linerate.parsers.text import text_of


def evidence(content: str) -> Evidence:
    found = evidence_of_text(text_of(content, "pasted"))
    assert found is not None
    return found


MPSTAT = """\
Linux 6.1.0-25-amd64 (box) \t11/24/2026 \t_x86_64_\t(2 CPU)

10:15:01 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
10:15:02 AM  all    0.50    0.00    0.50    0.50    0.00   48.00    0.50    0.00    0.00   50.00
10:15:02 AM    0    1.00    0.00    1.00    0.00    0.00   97.00    1.00    0.00    0.00    0.00
10:15:02 AM    1    0.00    0.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00   99.00

Average:     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
Average:     all    0.50    0.00    0.50    0.50    0.00   45.50    0.50    0.00    0.00   52.50
Average:       0    1.00    0.00    1.00    0.00    0.00   92.00    1.00    0.00    0.00    5.00
Average:       1    0.00    0.00    0.00    2.00    0.00    0.00    0.00    0.00    0.00   98.00
"""
SAR = """\
Linux 6.1.0-25-amd64 (box) \t11/24/26 \t_x86_64_\t(2 CPU)

10:15:01        CPU     %user     %nice   %system   %iowait    %steal     %idle
10:15:02        all      1,00      0,00      2,00      1,00      3,00     93,00
10:15:02          0      2,00      0,00      4,00      2,00      6,00     86,00
10:15:03          0      2,00      0,00      4,00      2,00      6,50     85,50
"""


def test_cpu_usage_is_the_average_or_the_last_interval():
    found = evidence(MPSTAT)
    times = [(t.cpu, t.busy_percent, t.softirq_percent, t.steal_percent) for t in found.cpu_times]
    assert times == [(0, 95.0, 92.0, 1.0), (1, 0.0, 0.0, 0.0)]
    assert not found.unread
    assert found.cpu_times[0].quote.line == 10
    (one,) = evidence(SAR).cpu_times
    assert (one.cpu, one.busy_percent, one.softirq_percent, one.steal_percent) == (
        0,
        12.5,
        None,
        6.5,
    )


TOP = """\
top - 10:15:01 up 3 days,  2:11,  2 users,  load average: 1.00, 0.80, 0.60
Threads: 250 total,   3 running, 247 sleeping,   0 stopped,   0 zombie
%Cpu0  :  0.0 us,  1.0 sy,  0.0 ni, 19.0 id,  0.0 wa,  0.0 hi, 80.0 si,  0.0 st
%Cpu1  :  5.0 us,  0.0 sy,  0.0 ni, 93.0 id,  1.0 wa,  0.0 hi,  0.0 si,  1.0 st
MiB Mem :   3912.5 total,    312.1 free,    812.9 used,   2787.5 buff/cache
MiB Swap:      0.0 total,      0.0 free,      0.0 used.   2814.1 avail Mem

    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
     14 root      20   0       0      0      0 R  99.3   0.0   1:02.33 ksoftirqd/0
    812 root      20   0   66.2g  41236  20112 R  99.9   1.0  61:12.01 vpp_wk_0
"""


def test_top_names_busy_cpus_and_softirq_threads_alone():
    found = evidence(TOP.replace("80.0 si", "5.0 si").replace("99.3", " 3.3") + "\n" + TOP)
    times = [(t.name, t.cpu, t.busy_percent, t.softirq_percent) for t in found.cpu_times]
    assert times == [("", 0, 81.0, 80.0), ("", 1, 6.0, 0.0), ("ksoftirqd/0", 0, 99.3, None)]
    assert not found.unread
    whole = evidence("%Cpu(s):  0,2 us,  0,1 sy,  0,0 ni, 49,7 id,  0,0 wa,  0,0 hi, 50,0 si, 0,0 st")
    assert [(t.cpu, t.busy_percent) for t in whole.cpu_times] == [(None, 50.3)]
