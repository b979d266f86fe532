"""Counters of drivers in more shapes: plain diff, sysfs, and more drivers' names."""

import pytest
from tests.unit.mangling import collapse_blanks, read

from linerate.analysis.explain import explain

DIFF = """\
$ diff before after
3,4c3,4
<      rx_packets: 1000
<      rx_missed_errors: 40
---
>      rx_packets: 11000
>      rx_missed_errors: 2040
9c9
<      rx_queue_0_packets: 1000
---
>      rx_queue_0_packets: 11000
"""


def losses(evidence):
    return [(one.place, one.cause, one.packets) for one in evidence.losses]


@pytest.mark.parametrize(
    "paste",
    [
        lambda text: text,
        lambda text: "\n".join(collapse_blanks(text.splitlines())),
        lambda text: "Hi,\n\nhere it is:\n\n" + text + "\nThanks\n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\n".join(text.splitlines()[1:]),
    ],
    ids=["whole", "blanks", "mail", "CRLF", "cut"],
)
def test_a_plain_diff_is_two_readings(paste):
    evidence = read(paste(DIFF))
    assert losses(evidence) == [("NIC: rx_missed_errors", "rx-ring", 2000)]
    (port,) = evidence.ports
    assert port.rx_packets == 10_000
    assert explain(evidence).limit == "rx-ring"


def test_a_mail_with_marks_is_no_diff():
    quoted = "".join(
        f"> {line}\n" for line in ("NIC statistics:", "rx_packets: 5", "rx_missed_errors: 3")
    )
    assert losses(read("12a13\n" + quoted + "\n")) != []
    assert losses(read(quoted)) == [("NIC: rx_missed_errors", "rx-ring", 3)]


GREPPED = """\
/sys/class/net/eth2/statistics/rx_packets:2059646370
/sys/class/net/eth2/statistics/rx_dropped:0
/sys/class/net/eth2/statistics/rx_missed_errors:7142467
"""
CAT = """\
$ cat /sys/class/net/eth2/statistics/rx_dropped
0
$ cat /sys/class/net/eth2/statistics/rx_missed_errors
7142467
"""
IFCONFIG = """\
eth2      Link encap:Ethernet  HWaddr 52:54:00:12:34:56
          RX packets:2059646370 errors:0 dropped:7142467 overruns:0 frame:0
"""


def test_counters_of_sysfs_by_grep_and_by_cat():
    for text in (GREPPED, CAT):
        assert losses(read(text)) == [("eth2: rx_missed_errors", "rx-ring", 7142467)]
    later = GREPPED.replace("7142467", "7142500")
    assert losses(read(GREPPED + later)) == [("eth2: rx_missed_errors", "rx-ring", 33)]
    assert read("$ cat /etc/hostname\n12\n") is None


def test_old_ifconfig_counts_missed_packets_as_dropped_too():
    assert losses(read(IFCONFIG + CAT)) == [("eth2: rx_missed_errors", "rx-ring", 7142467)]
    more = IFCONFIG.replace("dropped:7142467", "dropped:9142467")
    assert ("eth2: rx dropped", "other", 9142467) in losses(read(more + CAT))


@pytest.mark.parametrize(
    ("counters", "packets", "lost"),
    [
        ("rx_packets: 900\nrx0_packets: 900\nrx0_dropped: 7\n", 900, [("rx0_dropped", "other", 7)]),
        (
            "rx_ucast_packets: 900\nrx_mcast_packets: 5\nrx_bcast_packets: 1\nrx_discards: 9\n",
            906,
            [("rx_discards", "rx-ring", 9)],
        ),
        ("InPackets: 500\nInDroppedDma: 4\n", 500, [("InDroppedDma", "rx-ring", 4)]),
        (
            "rxq0: rx_pkts: 70\nrxq1: rx_pkts: 30\nrxq0: rx_drops_no_frags: 2\n",
            100,
            [("rxq0: rx_drops_no_frags", "rx-ring", 2)],
        ),
        (
            "rx_packets: 50\nrx_no_buffers_posted[0]: 3\nrx_drops_packet_over_mru[0]: 4\n",
            50,
            [
                ("rx_no_buffers_posted[0]", "rx-ring", 3),
                ("rx_drops_packet_over_mru[0]", "configuration", 4),
            ],
        ),
        (
            "tx_no_memory: 2\ntx_no_space: 8\nvf_tx_dropped: 1\nrx_queue_0_packets: 60\n",
            60,
            [
                ("tx_no_memory", "buffers", 2),
                ("vf_tx_dropped", "tx-ring", 1),
                ("tx_no_space", "tx-ring", 8),
            ],
        ),
    ],
    ids=["mlx4", "tg3", "atlantic", "be2net", "gve", "hv_netvsc"],
)
def test_each_driver_has_its_names(counters, packets, lost):
    for head in ("NIC statistics:\n", "$ ethtool -S eth0\n"):
        evidence = read(head + counters)
        (port,) = evidence.ports
        assert port.rx_packets == packets
        assert losses(evidence) == [(f"{port.name}: {name}", *rest) for name, *rest in lost]
