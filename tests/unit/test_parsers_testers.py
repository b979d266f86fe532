"""Outputs of iperf3, MoonGen and DPDK's examples, in their own layout."""

from pathlib import Path

import pytest

from linerate.analysis.explain import explain
from linerate.parsers.files import evidence_of_text
from linerate.parsers.text import text_of

PASTED = Path(__file__).parents[1] / "data" / "pasted"
UDP = """\
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec  0.012 ms  100/1000 (10%)
[  5]   1.00-2.00   sec  12.0 MBytes   101 Mbits/sec  0.012 ms  100/1000 (10%)
- - - - - - - - - - - - - - - - - - - - - - - - -
[  5]   0.00-2.00   sec  24.0 MBytes   101 Mbits/sec  0.000 ms  0/2000 (0%)  sender
[  5]   0.00-2.00   sec  24.0 MBytes   101 Mbits/sec  0.012 ms  {lost}/2000 ({percent}%)  receiver
"""
JSON = """\
"end": {{ "sum": {{
        "jitter_ms": 0.005,
        "lost_packets": {lost},
        "packets": 2000,
        "lost_percent": 1.2
}} }}
"""
TCP = """\
[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec    0             sender
[  5]   0.00-10.00  sec  1.10 GBytes   940 Mbits/sec                  receiver
"""
L2FWD = """\
Port statistics ====================================
Statistics for port 0 ------------------------------
Packets sent:                  1000
Packets received:             100000
Packets dropped:                  {first}
Statistics for port 1 ------------------------------
Packets sent:                 100000
Packets received:               1000
Packets dropped:                   0
Aggregate statistics ===============================
Total packets sent:           101000
====================================================
Port statistics ====================================
Statistics for port 0 ------------------------------
Packets sent:                  2000
Packets received:             200000
Packets dropped:                  {last}
Statistics for port 1 ------------------------------
Packets sent:                 200000
Packets received:               2000
Packets dropped:                   0
"""


def read(text):
    return evidence_of_text(text_of(text, "pasted"))


@pytest.mark.parametrize(("lost", "limit"), [(200, "unexplained"), (0, "none"), (1, "none")])
@pytest.mark.parametrize("form", [UDP, JSON])
def test_datagrams_that_a_receiver_lost(form, lost, limit):
    evidence = read(form.format(lost=lost, percent=lost / 20))
    (tester,) = evidence.testers
    assert (tester.sent_packets, tester.received_packets) == (2000, 2000 - lost)
    assert explain(evidence).limit == limit


def test_streams_are_added_up_where_there_is_no_sum():
    evidence = read(UDP.format(lost=200, percent=10) + UDP.replace("[  5]", "[  7]").format(
        lost=100, percent=5))  # fmt: skip
    assert evidence.testers[0].sent_packets == 4000
    assert evidence.testers[0].received_packets == 3700


def test_tcp_says_nothing_of_packets():
    evidence = read(TCP)
    assert evidence.testers[0].sent_packets is None
    assert explain(evidence).limit == "unknown"


@pytest.mark.parametrize(
    ("received", "limit"), [(4_222_134, "none"), (4_000_000, "unexplained"), (0, "unexplained")]
)
def test_devices_of_moongen(received, limit):
    evidence = read(
        "[Device: id=0] TX: 0.52 Mpps, 297 Mbit/s (379 Mbit/s with framing)\n"
        "[Device: id=1] RX: 0.00 (StdDev 0.00) Mpps, 0 (StdDev 0) Mbit/s (0 Mbit/s with framing), "
        f"total {received} packets with 0 bytes (incl. CRC)\n"
        "[Device: id=0] TX: 0.52 (StdDev 0.03) Mpps, 297 (StdDev 19) Mbit/s (379 Mbit/s with "
        "framing), total 4222134 packets with 303993648 bytes (incl. CRC)\n"
    )
    assert evidence.testers[0].sent_packets == 4_222_134
    assert evidence.testers[0].received_packets == received
    assert explain(evidence).limit == limit


def test_two_screens_of_an_example_program_are_subtracted():
    evidence = read(L2FWD.format(first=7, last=17))
    assert [port.rx_packets for port in evidence.ports] == [100_000, 1000]
    assert [(loss.place, loss.packets) for loss in evidence.losses] == [("port 0: dropped", 10)]
    # 10 of 101,000 are noted.
    assert explain(evidence).limit == "none"


def pktgen(sent, received, tx=(0, 0), rx=(0, 0), missed=0):
    mbps = tx[0] // 1000
    return f"""\
  Flags:Port        : P------Single      :0 P------Single      :1
Link State          :         <UP-10000-FD>         <UP-10000-FD>      ---Total Rate---
Pkts/s Max/Rx       :            9/{rx[0]}            9/{rx[1]}            9/{sum(rx)}
       Max/Tx       :            9/{tx[0]}            9/{tx[1]}            9/{sum(tx)}
MBits/s Rx/Tx       :                0/{mbps}                 0/0                 0/0
Errors Rx/Tx/missed :               0/0/0         0/0/{missed}
Total Rx Pkts       :                     0              {received:,}
      Tx Pkts       :              {sent:,}                     0
"""


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (pktgen(10_000_000, 10_000_000), "none"),
        (pktgen(10_000_000, 9_000_000), "unexplained"),
        (pktgen(10_000_000, 0), "unexplained"),
        # Its own card had them.
        (pktgen(10_000_000, 9_000_000, missed=999_000), "tester"),
        (pktgen(10_000_000, 8_000_000, missed=1_000), "unexplained"),
        # The link is full, and all is received.
        (pktgen(10_000_000, 10_000_000, tx=(9_990_000, 0), rx=(0, 9_990_000)), "line"),
        (pktgen(10_000_000, 9_000_000, tx=(9_990_000, 0), rx=(0, 8_900_000)), "unexplained"),
        # Packets counted before the test are no loss.
        (pktgen(10_000_000, 9_000_000, tx=(1_000, 0), rx=(0, 1_000)), "unknown"),
    ],
)
def test_the_screen_of_pktgen(text, limit):
    assert explain(read(text)).limit == limit


def test_a_finished_test_of_pktgen_on_a_full_line():
    text = (PASTED / "pktgen-loopback.txt").read_text()
    evidence = read(text)
    (tester,) = evidence.testers
    assert (tester.sent_packets, tester.received_packets) == (10_000_000, 10_000_000)
    assert tester.line_percent == 100.0
    assert explain(evidence).limit == "line"
    assert evidence.unread == ()
    # The rate of other sizes shows no line.
    other = text.replace(
        "              10000000\n      65-127", "                     5\n      65-127"
    )
    assert read(other).testers[0].line_percent is None


def test_totals_of_pktgen_that_are_older_than_the_test():
    evidence = read((PASTED / "pktgen-virtio.txt").read_text())
    (tester,) = evidence.testers
    assert (tester.tx_pps, tester.rx_pps) == (148_576, 148_042)
    assert tester.sent_packets is None
    assert evidence.doubts
    assert explain(evidence).limit == "unknown"


def test_one_side_of_pktgen_shows_no_loss():
    evidence = read((PASTED / "pktgen-rates-split.txt").read_text())
    (tester,) = evidence.testers
    assert (tester.rx_pps, tester.received_packets) == (27_544_447, 2_276_554_957)
    assert explain(evidence).limit == "unknown"
