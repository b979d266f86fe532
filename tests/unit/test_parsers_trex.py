"""TRex's console and the screen of its server."""

from pathlib import Path

import pytest
from tests.unit.mangling import read

PASTED = Path(__file__).parents[1] / "data" / "pasted"


def pasted(name):
    return (PASTED / name).read_text()


def test_tui():
    evidence = read(pasted("trex-tui-upf.txt"))
    (tester,) = evidence.testers
    assert (tester.sent_packets, tester.received_packets) == (2687830, 1739130)
    assert (tester.tx_pps, tester.rx_pps) == (150_070, 93_650)
    assert (tester.cpu_percent, tester.queue_full, tester.line_percent) == (1.68, 12034, 0.91)
    assert [(port.name, port.up, port.link_bps) for port in evidence.ports] == [
        ("0", True, 200 * 10**9),
        ("1", True, 200 * 10**9),
    ]
    assert [(loss.cause, loss.packets) for loss in evidence.losses] == [("other", 948700)]
    assert evidence.losses[0].quote.text.startswith("opackets")


def test_the_server_screen():
    evidence = read(pasted("trex-server-dns.txt"))
    (tester,) = evidence.testers
    assert (tester.sent_packets, tester.received_packets) == (198555591, 198555787)
    assert (tester.tx_pps, tester.cpu_percent, tester.queue_full) == (2e6, 81.6, None)
    assert not evidence.losses
    assert not evidence.unread


def test_no_packets_are_made_of_a_drop_rate():
    evidence = read(pasted("trex-stats-200g.txt"))
    (tester,) = evidence.testers
    assert (tester.sent_packets, tester.received_packets) == (None, None)
    assert (tester.queue_full, tester.cpu_percent) == (1155005236, 100.0)
    assert not evidence.losses


def test_of_several_screens_the_last_one_counts():
    first = pasted("trex-tui-upf.txt")
    evidence = read(first + first.replace("1739130", "2687830"))
    assert evidence.testers[0].received_packets == 2687830
    assert not evidence.losses


def test_without_a_way_back_no_loss_is_known():
    text = pasted("trex-tui-upf.txt").replace("1739130", "0")
    evidence = read(text)
    assert not evidence.losses
    assert [quote.text for quote in evidence.doubts] == [
        "TRex received none of its 2687830 packets: how many were lost is not known"
    ]


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        (" Total-tx-pkt         : 528 pkts\n Total-rx-pkt         : 520 pkts\n", 528),
        ("cpu_util.    : 0.03% @ 1 cores   total_rx     : 0 bps\n", None),
    ],
)
def test_totals_alone(line, sent):
    (tester,) = read(line).testers
    assert tester.sent_packets == sent


def test_line_use_of_the_busiest_port():
    stats = {
        str(number): {"opackets": 10, "ipackets": 10, "tx_util": util}
        for number, util in enumerate((40.0, 99.9))
    }
    (tester,) = read(repr(stats | {"total": {"opackets": 20, "ipackets": 20}})).testers
    assert tester.line_percent == 99.9
