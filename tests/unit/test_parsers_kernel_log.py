"""A kernel's log: what happened, and that a number of lines is no number of packets."""

from pathlib import Path

import pytest
from tests.unit.mangling import collapse_blanks, lose_indent, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data" / "pasted_host"
FULL = """\
[38775494.392631] nf_conntrack: nf_conntrack: table full, dropping packet
[38775494.393661] nf_conntrack: nf_conntrack: table full, dropping packet
[38775499.393661] net_ratelimit: 812 callbacks suppressed
"""
MISSED = """\
NIC statistics:
     rx_packets: 1000000
     rx_missed_errors: 50000
"""


def test_links_have_a_speed_and_a_driver():
    ports = {port.name: port for port in read((DATA / "dmesg-links.txt").read_text()).ports}
    assert {name: (one.link_bps, one.up, one.driver) for name, one in ports.items()} == {
        "eth0": (10**9, True, "e1000e"),
        "eth1": (10**8, True, ""),
        "enp5s0": (10**10, True, "ixgbe"),
        "eth2": (None, True, "mlx5_core"),
        "enp2s0": (None, False, "r8169"),
        "ens1f0": (25 * 10**9, True, "bnxt_en"),
    }
    assert ports["enp5s0"].device == "0000:05:00.0"


@pytest.mark.parametrize(
    "paste",
    [
        lambda text: text,
        lambda text: "\n".join(collapse_blanks(text.splitlines())),
        lambda text: "\n".join(lose_indent(text.splitlines())),
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: text.replace("full, dropping", "full,\ndropping"),
        lambda text: "".join(
            f"Feb 23 16:44:36 jobs kernel: {line}\n" for line in text.splitlines()
        ),
    ],
    ids=["whole", "blanks", "indent", "mail", "wrapped", "syslog"],
)
def test_a_full_table_is_a_setting_and_its_lines_count_no_packets(paste):
    evidence = read(paste(FULL))
    assert evidence.losses == ()
    assert not evidence.unread
    verdict = explain(evidence)
    assert (verdict.limit, verdict.confidence) == ("configuration", "medium")
    assert "nf_conntrack_max" in verdict.sentence
    assert "logged 2 times" in verdict.sentence
    assert "how many is open" in verdict.sentence
    assert "conntrack -S" in verdict.try_[0]


def test_a_counted_loss_comes_before_a_line_of_a_log():
    verdict = explain(read(FULL + MISSED))
    assert (verdict.limit, verdict.also) == ("rx-ring", ("configuration",))


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        (
            "NETDEV WATCHDOG: eth0 (r8169): transmit queue 0 timed out",
            "tx-timeout",
            "a tx queue of eth0 hung and its card was reset",
        ),
        (
            "NETDEV WATCHDOG: CPU: 3: enp1s0 (ice): transmit queue 12 timed out 5032 ms",
            "tx-timeout",
            "a tx queue of enp1s0 hung and its card was reset",
        ),
        (
            "neighbour: arp_cache: neighbor table overflow!",
            "table-full",
            "the kernel's neighbour table (gc_thresh3) was full and packets were dropped",
        ),
        ("Neighbour table overflow.", "table-full", None),
        (
            "ksoftirqd/0: page allocation failure: order:0, mode:0x20",
            "no-memory",
            "ksoftirqd/0 found no memory for a page",
        ),
        (
            "mce: CPU3: Core temperature above threshold, cpu clock throttled (total events = 12)",
            "throttled",
            "CPU 3 was slowed down for its heat",
        ),
    ],
)
def test_events_are_named_and_limit_nothing_alone(line, kind, text):
    evidence = read(f"[  15.012345] {line}\n")
    (remark,) = evidence.remarks
    assert remark.kind == kind
    assert text is None or remark.text == text
    assert bool(evidence.suspect) == (kind == "throttled")
    verdict = explain(evidence)
    assert verdict.limit == ("configuration" if kind == "table-full" else "unknown")
    assert remark.text in verdict.sentence


def test_a_link_that_went_down_once_is_no_event_and_thrice_is():
    down = "[ 12.012345] r8169 0000:02:00.0 enp2s0: Link is Down\n"
    assert read(down).remarks == ()
    (remark,) = read(3 * down).remarks
    assert remark.text == "the link of enp2s0 went down 3 times"
    assert explain(read(3 * down)).limit == "unknown"
