"""Open vSwitch's outputs, pasted: threads, ports and drops of its datapath."""

from pathlib import Path

import pytest
from tests.unit.mangling import MANGLES, message, read

from linerate.analysis.explain import explain
from linerate.model.box import BoxAnswers, texts

DATA = Path(__file__).parents[1] / "data"
FIGURES = ("workers", "losses", "ports", "cpu_times")
#: The layout since version 2.10; the share of idle cycles is a test's.
STATS = """\
pmd thread numa_id 0 core_id 1:
  packets received: {packets}
  packet recirculations: 0
  avg. datapath passes per packet: 1.00
  phwol hits: 0
  emc hits: {packets}
  megaflow hits: 0
  avg. subtable lookups per megaflow hit: 0.00
  miss with success upcall: {upcalls}
  miss with failed upcall: {lost}
  avg. packets per output batch: 1.54
  idle cycles: {idle} (99.43%)
  processing cycles: {busy} (0.57%)
  avg cycles per packet: 1390252.78 (124127329054/89284)
main thread:
  packets received: 0
  miss with failed upcall: 0
"""
INTERFACE = """\
name                : {name}
statistics          : {{{statistics}}}
status              : {{driver_name=net_mlx5}}
type                : {kind}
"""


def pasted(name):
    return (DATA / "pasted" / name).read_text()


def stats(idle, packets=10_000_000, busy=1000, upcalls=0, lost=0):
    return STATS.format(idle=idle, busy=busy, packets=packets, upcalls=upcalls, lost=lost)


def interface(name="dpdk0", kind="dpdk", link="up", **counters):
    known = {"rx_packets": 10_000_000, "tx_packets": 10_000_000} | counters
    text = ", ".join(f"{key}={value}" for key, value in sorted(known.items()))
    return f"link_state          : {link}\n" + INTERFACE.format(
        name=name, kind=kind, statistics=text
    )


def losses(evidence):
    return {loss.place: (loss.cause, loss.packets) for loss in evidence.losses}


def test_the_old_layout_counts_receiving_as_polling():
    workers = read(pasted("ovs-pmd-polling.txt")).workers
    assert [one.name for one in workers] == ["pmd-c22", "pmd-c02"]
    assert [one.packets for one in workers] == [17_461_158, 14_874_381]
    assert [round(one.clocks_per_packet) for one in workers] == [814, 895]
    assert [one.saturated for one in workers] == [None, None]


def test_the_old_layout_shows_a_thread_without_time():
    text = pasted("ovs-pmd-polling.txt").replace("4948219259", "100000000")
    first, second = read(text).workers
    assert first.saturated
    assert second.saturated is None
    assert explain(read(text)).limit == "worker-cpu"


def test_a_measured_second_of_a_thread():
    (worker,) = read(pasted("ovs-pmd-perf.txt")).workers
    assert worker.seconds == 1.008
    assert worker.packets == 2_399_607
    assert worker.idle_percent == pytest.approx(15.9, abs=0.1)
    assert worker.tsc_hz == pytest.approx(2.4e9, rel=0.001)
    assert worker.clocks_per_packet == pytest.approx(848, abs=1)


def test_shares_of_the_last_minute():
    evidence = read(pasted("ovs-pmd-rxq.txt"))
    assert {one.name: one.busy_percent for one in evidence.cpu_times} == {
        "pmd-c01": 98.0,
        "pmd-c02": 10.0,
    }
    verdict = explain(evidence)
    assert (verdict.limit, verdict.confidence) == ("worker-cpu", "medium")
    assert "vdpa1" in verdict.evidence[0].text


def test_shares_with_commas_and_overhead():
    evidence = read(pasted("ovs-pmd-rxq-commas.txt"))
    assert [one.busy_percent for one in evidence.cpu_times] == [17.0, 17.0, 20.0, 54.0]
    assert {port.name: port.rx_queues for port in evidence.ports} == {"dpdk": 4}
    assert explain(evidence).limit == "unknown"


def test_threads_that_are_half_idle_limit_nothing():
    text = pasted("ovs-pmd-rxq-commas.txt").replace("53%", "40%")
    verdict = explain(read(text + interface(rx_dropped=0, tx_packets=5)))
    assert (verdict.limit, verdict.confidence) == ("none", "low")
    # Without the ports' counters a thread without time may be cut off.
    assert explain(read(text)).limit == "unknown"


@pytest.mark.parametrize(
    ("idle", "counters", "limit"),
    [
        (10, {"rx_missed_errors": 500_000}, "worker-cpu"),
        (10, {}, "worker-cpu"),
        (3000, {"rx_missed_errors": 500_000}, "rx-ring"),
        (3000, {}, "none"),
        # So few find a ring full in most trials.
        (3000, {"rx_missed_errors": 500}, "none"),
        (3000, {"ovs_rx_qos_drops": 500_000, "rx_dropped": 500_000}, "configuration"),
        (3000, {"ovs_tx_failure_drops": 500_000, "tx_dropped": 500_000}, "tx-ring"),
        (3000, {"rx_dropped": 500_000}, "rx-ring"),
    ],
)
def test_threads_and_ports_together(idle, counters, limit):
    evidence = read(stats(idle) + interface(**counters))
    assert explain(evidence).limit == limit


def test_a_ring_that_was_full_in_unknown_time_is_not_sure():
    verdict = explain(read(stats(3000) + interface(rx_missed_errors=500_000)))
    assert verdict.confidence == "medium"
    assert "since its counters were cleared" in verdict.sentence


def test_a_full_ring_without_its_reader_asks_for_the_threads():
    verdict = explain(read(interface(rx_missed_errors=500_000)))
    assert (verdict.limit, verdict.confidence) == ("rx-ring", "low")
    assert "pmd-stats-show" in verdict.try_[0]
    assert all("mpstat" not in one for one in (*verdict.try_, *verdict.send_next))


def test_a_guest_that_takes_nothing_has_no_card():
    verdict = explain(read(interface("vhu1", "dpdkvhostuserclient", tx_dropped=900_000)))
    assert verdict.limit == "tx-ring"
    assert not any("driver" in one for one in verdict.try_)


@pytest.mark.parametrize(
    ("kind", "link", "cause"),
    [
        ("internal", "up", "other"),
        ("dpdkvhostuserclient", "down", "configuration"),
        ('""', "up", "other"),
    ],
)
def test_what_a_port_dropped_has_the_reason_of_its_kind(kind, link, cause):
    evidence = read(interface("p1", kind, link, tx_dropped=900_000))
    ((found, packets),) = losses(evidence).values()
    assert (found, packets) == (cause, 900_000)


def test_parts_of_a_sum_are_no_losses_once_more():
    evidence = read(
        interface(rx_dropped=90, rx_missed_errors=50, rx_mbuf_allocation_errors=10,
                  ovs_rx_qos_drops=25)
    )  # fmt: skip
    assert losses(evidence) == {
        "dpdk0: rx_missed_errors": ("rx-ring", 50),
        "dpdk0: rx_mbuf_allocation_errors": ("buffers", 10),
        "dpdk0: ingress policer drops": ("configuration", 25),
        "dpdk0: rx_dropped": ("other", 5),
    }


def test_packets_without_a_flow_are_a_doubt_and_no_loss():
    evidence = read(stats(3000, upcalls=3_000_000))
    assert evidence.losses == ()
    assert "30 % of the packets had no flow" in evidence.doubts[0].text


def test_packets_that_no_flow_was_found_for_are_lost():
    evidence = read(stats(3000, lost=3_000_000))
    assert losses(evidence) == {"pmd-c01: upcall lost": ("other", 3_000_000)}
    assert explain(evidence).limit == "unknown"


def test_two_readings_of_a_thread_are_subtracted():
    (worker,) = read(stats(3000, packets=1000) + stats(3100, packets=5000, busy=1900)).workers
    assert worker.packets == 4000
    assert worker.idle_percent == pytest.approx(10.0)


def test_two_readings_of_ports_are_subtracted():
    text = interface(rx_missed_errors=100) + interface(rx_missed_errors=350)
    assert losses(read(text)) == {"dpdk0: rx_missed_errors": ("rx-ring", 250)}


def test_a_map_that_a_mail_wrapped():
    text = interface(rx_missed_errors=500_000).replace(", ", ",\n    ")
    assert losses(read(text)) == {"dpdk0: rx_missed_errors": ("rx-ring", 500_000)}


def test_the_name_of_a_port_is_that_of_the_command():
    text = (
        "$ ovs-vsctl get Interface vhu-7 statistics\n{rx_packets=9, tx_dropped=4, tx_packets=5}\n"
    )
    (port,) = read(text).ports
    assert (port.name, port.rx_packets, port.tx_packets) == ("vhu-7", 9, 5)


def test_lines_of_a_map():
    (port,) = read(pasted("ovs-statistics-lines.txt")).ports
    assert (port.name, port.rx_packets, port.tx_packets) == ("dpdk0", 5_553_474, 39_406_658_924)


def test_ports_of_openflow():
    evidence = read(pasted("ovs-dump-ports.txt"))
    assert {port.name: port.rx_packets for port in evidence.ports} == {
        "LOCAL": 8,
        "dpdk1": 133_059,
        "sytest": 0,
        "dpdkvhostuser0": 0,
    }
    assert evidence.unread == ()
    assert explain(evidence).limit == "unknown"


def test_a_bridge_that_is_down_is_no_full_ring():
    evidence = read(pasted("ovs-dump-ports-vdpa.txt"))
    assert losses(evidence) == {"LOCAL: tx_dropped": ("other", 109_364_229)}
    assert explain(evidence).limit == "unknown"


def test_a_port_counts_once_in_the_database_and_in_openflow():
    text = interface(rx_missed_errors=500_000, rx_dropped=500_000) + (
        "OFPST_PORT reply (OF1.5) (xid=0x2): 1 ports\n"
        "  port  1: rx pkts=10000000, bytes=5, drop=500000, errs=0, frame=?, over=?, crc=?\n"
        "           tx pkts=10000000, bytes=5, drop=0, errs=0, coll=?\n"
    )
    assert sum(loss.packets for loss in read(text).losses) == 500_000


COVERAGE = """\
Event coverage, avg rate over last: 5 seconds, last minute, last hour,  hash=6c5d6bd0:
netdev_received            0.0/sec   963.167/sec       16.0528/sec   total: {batches}
drop_action_of_pipeline    0.0/sec   100.000/sec       16.0528/sec   total: {drops}
datapath_drop_upcall_error 0.0/sec     0.000/sec        0.0000/sec   total: {lost}
poll_create_node          87.6/sec   274.100/sec        4.5683/sec   total: 17455
105 events never hit
"""


@pytest.mark.parametrize(
    ("drops", "lost", "limit"),
    [
        (500_000, 0, "configuration"),
        (0, 500_000, "unknown"),
        (5000, 0, "unknown"),
        (0, 0, "unknown"),
    ],
)
def test_drops_between_ports(drops, lost, limit):
    evidence = read(COVERAGE.format(batches=9_000_000, drops=drops, lost=lost))
    assert explain(evidence).limit == limit
    assert evidence.unread == ()


@pytest.mark.parametrize(("lost", "known"), [(4419, 0), (4_419_000_000, 4_419_000_000)])
def test_lookups_of_a_kernels_datapath(lost, known):
    evidence = read(
        f"System@ovs-system:\n    Lookups: hit:68166908035 missed:65130584 lost:{lost}\n"
        "    flows: 490\n    masks: hit:541048459085 total:12 hit/pkt:7.93\n"
    )
    assert sum(loss.packets for loss in evidence.losses) == known
    assert evidence.unread == ()


@pytest.mark.parametrize(
    "text", [stats(30) + interface(rx_missed_errors=500_000), pasted("ovs-pmd-perf.txt")]
)
def test_pasting_changes_nothing(text):
    whole = message(read(text), *FIGURES)
    for mangle in MANGLES:
        pasted_text = "\n".join(mangle(text.splitlines()))
        assert message(read(pasted_text), *FIGURES) == whole, mangle.__name__
    quoted = "Hi,\n" + "\n".join(f"> {line}" for line in text.splitlines())
    assert message(read(quoted), *FIGURES) == whole


def test_a_cut_head_leaves_the_threads_that_are_whole():
    text = stats(10) + stats(10).replace("core_id 1", "core_id 2")
    cut = "\n".join(text.splitlines()[3:])
    assert [one.name for one in read(cut).workers] == ["pmd-c02"]


def test_a_recorded_box_says_the_same_pasted():
    path = DATA / "boxes/ovs/drop.json"
    box = BoxAnswers.model_validate_json(path.read_text(encoding="utf-8"))
    first, last = box.batches("load")[0], box.batches("load")[-1]
    both = "".join(texts(one)["pmd-stats-show"] for one in (first, last))
    (worker,) = read(both).workers
    assert worker.name == "pmd-c01"
    assert 0 < worker.packets < 10_000_000
    assert 0 < (worker.idle_percent or 0.0) < 100
