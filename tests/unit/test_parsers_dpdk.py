"""DPDK's own counters as its programs print them: testpmd, telemetry, dpdk-proc-info, dumpcap."""

from pathlib import Path

import pytest
from tests.unit.mangling import MANGLES, message, read

from linerate.analysis.explain import explain

DATA = Path(__file__).parents[1] / "data"
FIGURES = ("workers", "losses", "ports", "cpu_times", "doubts")


def pasted(name):
    return (DATA / "pasted" / name).read_text()


def losses(evidence):
    return {loss.place: (loss.cause, loss.packets) for loss in evidence.losses}


def forwarded(sizes, polls, packets, burst=32):
    return f"""\
  io packet forwarding packets/burst={burst}
  ------- Forward Stats for RX Port= 0/Queue= 0 -> TX Port= 1/Queue= 0 -------
  RX-packets: {packets}        TX-packets: {packets}        TX-dropped: 0
  RX-bursts : {polls} [{sizes}]
  TX-bursts : {polls} [{sizes}]

  ---------------------- Forward statistics for port 0  ----------------------
  RX-packets: {packets}       RX-dropped: {{missed}}             RX-total: 16645920
  TX-packets: 0       TX-dropped: 0             TX-total: 16645920
  ----------------------------------------------------------------------------

  CPU cycles/packet=57.05 (total cycles=1899383145 / total RX packets={packets}) at 2600 MHz Clock
"""


@pytest.mark.parametrize(
    ("sizes", "polls", "burst", "saturated"),
    [
        ("0% of 0 pkts + 100% of 32 pkts", 312_500, 32, True),
        ("2% of 0 pkts + 95% of 32 pkts + 3% of others", 320_000, 32, True),
        ("0% of 0 pkts + 100% of 64 pkts", 156_250, 64, True),
        # A full one of half its size is none.
        ("0% of 0 pkts + 100% of 32 pkts", 312_500, 64, False),
        ("60% of 0 pkts + 30% of 4 pkts + 10% of other", 9_000_000, 32, False),
        # One queue of two may be full.
        ("50% of 0 pkts + 50% of 32 pkts", 625_000, 32, None),
    ],
)
def test_a_burst_is_full_at_its_own_size(sizes, polls, burst, saturated):
    (worker,) = read(forwarded(sizes, polls, 10_000_000, burst).format(missed=0)).workers
    assert worker.burst_packets == burst
    assert worker.saturated is saturated


@pytest.mark.parametrize(
    ("sizes", "polls", "limit"),
    [
        ("0% of 0 pkts + 100% of 32 pkts", 312_500, "worker-cpu"),
        ("60% of 0 pkts + 30% of 4 pkts + 10% of other", 9_000_000, "rx-ring"),
        ("50% of 0 pkts + 50% of 32 pkts", 625_000, "rx-ring"),
    ],
)
def test_a_full_ring_and_the_polls_of_its_reader(sizes, polls, limit):
    verdict = explain(read(forwarded(sizes, polls, 10_000_000).format(missed=500_000)))
    assert verdict.limit == limit
    assert "0.0 %" not in verdict.sentence


def test_cycles_without_bursts_say_nothing_of_the_reader():
    text = forwarded("", 1, 10_000_000).format(missed=500_000)
    cycles = "\n".join(line for line in text.splitlines() if "bursts" not in line)
    verdict = explain(read(cycles))
    assert (verdict.limit, verdict.confidence) == ("rx-ring", "low")
    assert "why is open" in verdict.sentence


def xstats(*rows, port=0):
    lines = "\n".join(rows)
    return f"###### NIC extended statistics for port {port}\nrx_good_packets: 1000000\n{lines}\n"


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        # i40e, ice: discards are imissed.
        (("rx_missed_errors: 700", "rx_dropped_packets: 700"), [("rx-ring", 700)]),
        # ixgbe: by priority.
        (("rx_missed_errors: 700", "rx_priority0_dropped: 700"), [("rx-ring", 700)]),
        # mlx5: rings; the port's own buffer before them.
        (
            ("rx_missed_errors: 700", "rx_out_of_buffer: 700", "rx_phy_discard_packets: 50"),
            [("rx-ring", 700), ("rx-ring", 50)],
        ),
        (("rx_errors: 40", "rx_crc_errors: 30"), [("damaged", 30), ("damaged", 10)]),
        (("tx_errors: 0", "pps_allowance_exceeded: 500"), [("shaper", 500)]),
        (("rx_missed_errors: 0", "rx_mbuf_allocation_errors: 8"), [("buffers", 8)]),
        # bnxt; vmxnet3.
        (("rx_missed_errors: 5", "rx_discard_pkts: 5", "rx_stat_discard: 5"), [("rx-ring", 5)]),
        (("rx_q0_drop_total: 5", "rx_q0_rx_buf_alloc_failure: 9"), [("other", 5)]),
        (("rx_q0packets: 5", "rx_q0errors: 0"), []),
        (("imissed_is_no_name_of_these: 5",), []),
    ],
)
def test_each_driver_counts_a_packet_once(rows, found):
    evidence = read(xstats(*rows))
    assert sorted((loss.cause, loss.packets) for loss in evidence.losses) == sorted(found)
    assert evidence.ports[0].rx_packets == 1_000_000


def test_queues_in_their_old_names():
    (port,) = read(xstats("rx_q0packets: 600000", "rx_q1packets: 400000")).ports
    assert port.queue_packets == {0: 600_000, 1: 400_000}


@pytest.mark.parametrize("cut", [1, 2])
def test_extended_statistics_without_their_head(cut):
    text = xstats("rx_missed_errors: 900000", "rx_q0_packets: 1000000")
    evidence = read("\n".join(text.splitlines()[cut:]))
    if cut == 1:
        assert losses(evidence) == {"port: rx_missed_errors": ("rx-ring", 900_000)}
    else:
        # As ethtool would print it.
        assert evidence is None or all(port.name != "port 0" for port in evidence.ports)


PROC_INFO = """\
  ######################## NIC statistics for port 0  ########################
  RX-packets: 1000          RX-errors:  0          RX-bytes:  64000
  RX-nombuf:  0
  TX-packets: 900          TX-errors:  0          TX-bytes:  57600
  Stats reg  0 RX-packets: 400          RX-errors:  0          RX-bytes:  0
  Stats reg  1 RX-packets: 600          RX-errors:  0          RX-bytes:  0
  ############################################################################
###### NIC extended statistics for port 0 #########
####################################################
rx_good_packets: 1000
rx_missed_errors: 50
####################################################
"""


def test_tables_of_proc_info():
    evidence = read(PROC_INFO)
    (port,) = evidence.ports
    assert (port.rx_packets, port.tx_packets) == (1000, 900)
    assert losses(evidence) == {"port 0: rx_missed_errors": ("rx-ring", 50)}
    assert evidence.unread == ()


def test_a_session_of_telemetry():
    evidence = read(pasted("dpdk-telemetry-knet.txt"))
    (port,) = evidence.ports
    assert (port.name, port.rx_packets, port.queue_packets[0]) == ("port 0", 2_392_249, 2_392_249)
    assert evidence.unread == ()
    verdict = explain(evidence)
    assert (verdict.limit, verdict.confidence) == ("rx-ring", "low")
    assert "/eal/lcore/usage" in verdict.try_[0]


def test_time_of_lcores():
    evidence = read(pasted("dpdk-lcore-usage.txt"))
    assert {one.name: round(one.busy_percent, 1) for one in evidence.cpu_times} == {
        "lcore-1": 79.5,
        "lcore-2": 79.6,
        "lcore-3": 80.0,
    }
    assert explain(evidence).limit == "unknown"


STATS = '--> /ethdev/stats,0\n{{"/ethdev/stats": {{"ipackets": {packets}, "imissed": {missed}}}}}\n'
LCORES = (
    '--> /eal/lcore/usage\n{{"/eal/lcore/usage": {{"lcore_ids": [1, 2], '
    '"total_cycles": [{total}, {total}], "busy_cycles": [{busy}, 0]}}}}\n'
)


@pytest.mark.parametrize(
    ("busy", "missed", "limit", "confidence"),
    [
        (999, 50_000, "worker-cpu", "medium"),
        (999, 0, "worker-cpu", "medium"),
        (300, 50_000, "rx-ring", "low"),
        (930, 50_000, "rx-ring", "low"),
        (300, 0, "none", "low"),
        (700, 0, "unknown", "low"),
    ],
)
def test_lcores_and_ports_together(busy, missed, limit, confidence):
    text = STATS.format(packets=1_000_000, missed=missed) + LCORES.format(total=1000, busy=busy)
    verdict = explain(read(text))
    assert (verdict.limit, verdict.confidence) == (limit, confidence)


def test_two_readings_are_subtracted():
    text = "".join(
        STATS.format(packets=packets, missed=missed) + LCORES.format(total=total, busy=busy)
        for packets, missed, total, busy in ((1000, 5, 10_000, 100), (5000, 9, 11_000, 1090))
    )
    evidence = read(text)
    assert evidence.ports[0].rx_packets == 4000
    assert losses(evidence) == {"port 0: imissed": ("rx-ring", 4)}
    assert [one.busy_percent for one in evidence.cpu_times] == [99.0]


@pytest.mark.parametrize(
    "text",
    [
        '{"/eal/lcore/info": {"lcore_id": 3, "socket": 0, "role": "RTE", "cpuset": [3], '
        '"busy_cycles": 800, "total_cycles": 1000, "usage_ratio": 80}}\n',
        "lcore 3, socket 0, role RTE, cpuset 3, busy cycles 800/1000 (ratio 80.00%)\n",
        "lcore 3, socket 0, role RTE, cpuset 3, busy cycles 800/1000\n",
    ],
)
def test_one_lcore_as_it_is_printed_elsewhere(text):
    (time,) = read(text).cpu_times
    assert (time.name, time.cpu, time.busy_percent) == ("lcore-3", 3, 80.0)


def test_a_capture_with_gaps_is_no_loss():
    evidence = read("Packets received/dropped on interface '0000:82:00.0': 98000/2000 (98.0)\n")
    assert not evidence.losses
    assert "2,000 of 100,000 packets are not in the capture" in evidence.doubts[0].text
    assert explain(evidence).limit == "unknown"


@pytest.mark.parametrize(
    "text",
    [
        pasted("dpdk-telemetry-knet.txt"),
        pasted("dpdk-lcore-usage.txt"),
        pasted("testpmd-xstats-two-queues.txt"),
        PROC_INFO,
    ],
)
def test_pasting_changes_nothing(text):
    whole = message(read(text), *FIGURES)
    for mangle in MANGLES:
        changed = "\n".join(mangle(text.splitlines()))
        assert message(read(changed), *FIGURES) == whole, mangle.__name__
    quoted = "Hi,\n" + "\n".join(f"> {line}" for line in text.splitlines())
    assert message(read(quoted), *FIGURES) == whole


def test_an_answer_that_is_wrapped_or_cut():
    text = pasted("dpdk-telemetry-knet.txt").replace(", ", ",\n       ")
    assert losses(read(text)) == {"port 0: imissed": ("rx-ring", 21_168)}
    cut = text[: text.index('"oerrors"')] + "...\n"
    assert losses(read(cut)) == {"port 0: imissed": ("rx-ring", 21_168)}
