"""FreeBSD and RouterOS: ports, queues, CPUs, in their own units and commands."""

import re
from pathlib import Path

import pytest
from tests.unit.mangling import indent, lose_indent, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data" / "pasted_host"


def sample(name):
    return (DATA / name).read_text()


def losses(evidence):
    return [(one.place, one.cause, one.packets, one.offered) for one in evidence.losses]


def quoted(text):
    return "".join(f"> {line}\n" for line in text.splitlines())


PASTES = [
    lambda text: text,
    quoted,
    lambda text: "\n".join(indent(text.splitlines())),
    lambda text: "\n".join(lose_indent(text.splitlines())),
]


@pytest.mark.parametrize("paste", [*PASTES, lambda text: re.sub(" +", " ", text)])
def test_rows_of_netstat_are_added_up_and_errors_leave_open_which(paste):
    evidence = read(paste(sample("freebsd-netstat.txt")))
    assert losses(evidence) == [("all ports: rx errs", "other", 1_812_000, 2_914_000)]
    assert not evidence.unread
    verdict = explain(evidence)
    assert verdict.limit == "unknown"
    assert "62.2 % of what came there" in verdict.sentence
    assert "sysctl dev.IF.N" in verdict.sentence
    assert "under load: top -b -HSP" in verdict.send_next
    assert explain(read(paste(sample("freebsd-netstat-cxgbe.txt")))).limit == "unknown"


def test_an_interface_has_its_name_and_input_drops_are_a_full_ring():
    text = """\
root@pfsense:~ # netstat -I ix0 -w 1 -d
            input           ix0           output
   packets  errs idrops      bytes    packets  errs      bytes colls drops
    100000     0   9000    6400000      90000     0    5400000     0     7
"""
    for one in (
        text,
        "\n".join(text.splitlines()[1:]),
        text.replace("           ix0  ", " (Total)  "),
    ):
        evidence = read(one)
        assert losses(evidence) == [
            ("ix0: rx idrops", "rx-ring", 9000, 109_000),
            ("ix0: tx drops", "other", 7, 90_007),
        ]
    verdict = explain(read(text))
    assert (verdict.limit, verdict.confidence) == ("rx-ring", "low")
    assert "top -HSP" in verdict.try_[0]


NETISR = """\
Configuration:
Setting                        Current        Limit
Thread count                         2            2
Workstreams:
WSID CPU   Name     Len WMark   Disp'd  HDisp'd   QDrops   Queued  Handled
   0   0   ip         0   248        0  5453456   700000  1110055  6563511
   1   1   ip         0   248        0  5453456        0  1110055  6563511
"""
TOP = """\
CPU 0:   0.0% user,  0.0% nice,  0.0% system,  100% interrupt,  0.0% idle
CPU 1:   0.0% user,  0.0% nice,  0.4% system,  0.0% interrupt, 99.6% idle
    0 root        -76    -     0B   896K CPU1     1  20:53  99.56% kernel{if_io_tqg_1}
   11 root        155 ki31     0B    64K CPU0     0  12:34 100.00% idle{idle: cpu0}
"""


@pytest.mark.parametrize("paste", PASTES)
def test_queues_of_netisr_and_a_cpu_that_is_full(paste):
    evidence = read(paste(NETISR))
    assert losses(evidence) == [("netisr ip of CPU 0: QDrops", "rx-ring", 700_000, 7_263_511)]
    assert not evidence.unread
    assert explain(evidence).limit == "rx-ring"
    verdict = explain(read(paste(NETISR + TOP)))
    assert verdict.limit == "worker-cpu"
    assert "CPU 0 spends 100 % of its time on packets" in verdict.sentence
    assert "ethtool" not in " ".join(verdict.try_)
    idle = TOP.replace("99.56", "12.00").replace("100% interrupt,  0.0%", "1% interrupt, 99.0%")
    assert explain(read(paste(idle))).limit == "unknown"


def test_vmstat_is_read_and_limits_nothing():
    text = "interrupt   total  rate\nirq264: igb0:que 0   123456   789\nTotal  123456  789\n"
    evidence = read(text)
    assert not evidence.unread
    assert explain(evidence).limit == "unknown"


#: static.xtremeownage.com, a slow 100G link; the last columns of the second row filled in.
STATS = """\
[admin@sw-100g] > /interface print stats
Flags: R - RUNNING; S - SLAVE
Columns: NAME, RX-BYTE, TX-BYTE, RX-PACKET, TX-PACKET, RX-DROP, TX-DROP, TX-QUEUE-DROP, RX-ERROR, TX-ERROR
 #    NAME                  RX-BYTE            TX-BYTE      RX-PACKET      TX-PACKET  RX-DROP  TX-DROP  TX-QUEUE-DROP  RX-ERROR  TX-ERROR
 0 R  ether1            201 163 444      3 040 455 588      2 264 797      2 543 603        0        0              1         0         0
;;; Kube01: 100G
 1 RS qsfp28-1-1  2 969 461 776 402  3 316 576 813 413  1 381 885 242  1 640 058 300        0        0              0         0         0
"""


@pytest.mark.parametrize("paste", PASTES)
def test_thousands_of_routeros_are_one_number(paste):
    evidence = read(paste(STATS))
    ports = {port.name: (port.rx_packets, port.tx_packets) for port in evidence.ports}
    assert ports == {
        "ether1": (2_264_797, 2_543_603),
        "qsfp28-1-1": (1_381_885_242, 1_640_058_300),
    }
    assert losses(evidence) == [("ether1: tx-queue-drop", "other", 1, 2_543_604)]
    assert not evidence.unread
    assert explain(evidence).limit == "unknown"


def test_columns_that_look_like_thousands_are_not_read():
    assert read(re.sub(" +", " ", STATS)) is None


ETHERNET = """\
                      name:       ether1       ether2
                 rx-packet:    1 802 975      900 000
              rx-fcs-error:            0       50 000
               rx-overflow:      300 000            0
                 tx-packet:      310 485            0
            tx-drop-packet:            0            0
"""


def test_counters_of_ethernet_ports_have_a_column_each():
    evidence = read(ETHERNET)
    assert losses(evidence) == [
        ("ether1: rx-overflow", "rx-ring", 300_000, 2_102_975),
        ("ether2: rx-fcs-error", "damaged", 50_000, 950_000),
    ]
    verdict = explain(evidence)
    assert (verdict.limit, verdict.confidence) == ("rx-ring", "low")
    assert "/tool profile" in verdict.try_[0]
    one = "           rx-fcs-error:      1\n         tx-drop-packet:      100 054\n"
    verdict = explain(read("            name: ether2\n" + one))
    assert verdict.limit == "unknown"
    assert "100,054 at ether2: tx-drop-packet" in verdict.sentence


PROFILE = """\
[admin@MikroTik] > /tool profile cpu=all
Columns: NAME, CPU, USAGE
NAME        CPU  USAGE
firewall      0  40.5%
networking    0  50%
ethernet      0  9%
total         0  100%
networking    1  2%
total         1  3%
"""


@pytest.mark.parametrize("paste", [*PASTES, lambda text: re.sub(" +", " ", text)])
def test_a_profile_names_the_cpu_and_what_takes_it(paste):
    evidence = read(paste(PROFILE))
    times = [(one.cpu, one.busy_percent, one.softirq_percent) for one in evidence.cpu_times]
    assert times == [(0, 100.0, 99.5), (1, 3.0, 2.0)]
    verdict = explain(evidence)
    assert verdict.limit == "worker-cpu"
    assert "networking 26 %, firewall 20 %" in verdict.sentence
    assert "perf" not in " ".join(verdict.try_)
    management = PROFILE.replace("networking    0", "management    0")
    assert explain(read(paste(management))).limit == "unknown"
