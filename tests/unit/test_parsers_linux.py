"""Outputs of a Linux host's own tools, in their layout."""

import pytest

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
    whole = evidence(
        "%Cpu(s):  0,2 us,  0,1 sy,  0,0 ni, 49,7 id,  0,0 wa,  0,0 hi, 50,0 si, 0,0 st"
    )
    assert [(t.cpu, t.busy_percent) for t in whole.cpu_times] == [(None, 50.3)]


IP_LINK = """\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
    64000 1000      3       7     {missed}       0
    RX errors:  length    crc   frame    fifo overrun
    0      3       0       0       0
    TX:  bytes packets errors dropped carrier collsns
    6400 100      0       5       9       9
"""
IFCONFIG = """\
eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500
        RX packets 1000  bytes 64000 (62.5 KiB)
        RX errors 0  dropped 7  overruns 40  frame 0
        TX packets 100  bytes 6400 (6.2 KiB)
        TX errors 0  dropped 5 overruns 0  carrier 9  collisions 9
"""
IFCONFIG_OLD = """\
eth0      Link encap:Ethernet  HWaddr 52:54:00:12:34:56
          RX packets:1000 errors:0 dropped:7 overruns:40 frame:0
          TX packets:100 errors:0 dropped:5 overruns:0 carrier:9
          collisions:9 txqueuelen:1000
          RX bytes:64000 (62.5 KiB)  TX bytes:6400 (6.2 KiB)
"""
NET_DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
  eth0:   64000    1000    0    7   40     0          0         0     6400     100    0    5    0     9       9          0
"""
NETSTAT = """\
Kernel Interface table
Iface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg
eth0      1500     1000      0      7 40          100      0      5      0 BMRU
"""


@pytest.mark.parametrize(
    ("content", "ring"),
    [
        (IP_LINK.format(missed=40), "missed"),
        (IFCONFIG, "overrun"),
        (IFCONFIG_OLD, "overrun"),
        (NET_DEV, "fifo"),
        (NETSTAT, "overrun"),
    ],
    ids=["ip", "ifconfig", "old ifconfig", "proc", "netstat"],
)
def test_links_lose_at_rings_and_carrier_is_no_loss(content, ring):
    found = evidence(content)
    (port,) = found.ports
    assert (port.name, port.rx_packets, port.tx_packets) == ("eth0", 1000, 100)
    losses = [(loss.place, loss.cause, loss.packets) for loss in found.losses]
    damaged = [("eth0: rx errors", "damaged", 3)] if content.startswith("2:") else []
    assert losses == [
        (f"eth0: rx {ring}", "rx-ring", 40),
        ("eth0: rx dropped", "other", 7),
        *damaged,
        ("eth0: tx dropped", "tx-ring", 5),
    ]


def test_two_readings_of_a_link_are_subtracted():
    found = evidence(IP_LINK.format(missed=40) + IP_LINK.format(missed=52))
    assert [(loss.place, loss.packets) for loss in found.losses] == [("eth0: rx missed", 12)]


def test_tables_of_one_link_count_once():
    driver = "NIC statistics:\n     rx_packets: 1000\n     rx_missed_errors: 40\n"
    both = evidence(f"{NET_DEV}\n{IP_LINK.format(missed=40)}\n$ ethtool -S eth0\n{driver}")
    rings = [loss.place for loss in both.losses if loss.cause == "rx-ring"]
    assert rings == ["eth0: rx_missed_errors"]
    settings = "Ring parameters for eth0:\nCurrent hardware settings:\nRX:\t\t256\n"
    found = evidence(f"{IP_LINK.format(missed=40)}\n{settings}")
    assert ("eth0: rx missed", 40) in [(loss.place, loss.packets) for loss in found.losses]


def test_a_full_flow_table_of_the_kernel_loses():
    row = "cpu={}   \tfound=1 invalid=9 insert=0 insert_failed={} drop={} early_drop=0 error=0\n"
    found = evidence(row.format(0, 0, 5) + row.format(1, 2, 0) + row.format(0, 0, 8))
    losses = [(loss.place, loss.cause, loss.packets) for loss in found.losses]
    assert losses == [
        ("conntrack of CPU 0: drop", "flow-table", 3),
        ("conntrack of CPU 1: insert_failed", "other", 2),
    ]
