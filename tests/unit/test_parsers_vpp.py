from pathlib import Path

import pytest
from tests.unit.mangling import read

from linerate.model.ledger import NodeTime
from linerate.model.measurement import DropCount, WorkerReading
from linerate.parsers.vpp_reasons import is_passing
from linerate.report import live

DATA = Path(__file__).parents[1] / "data"


def case(name):
    """A published output."""
    return (DATA / "cases" / name).read_text()


def made(name):
    """An output that we wrote in a published form."""
    return (DATA / "made" / f"{name}.txt").read_text()


def figures(worker):
    return [
        (
            node.name,
            node.state,
            node.calls,
            node.vectors,
            node.clocks_per_packet,
            node.vectors_per_call,
        )
        for node in worker.nodes
    ]


def losses(evidence):
    return [(loss.place, loss.cause, loss.packets) for loss in evidence.losses]


# Each published file, figure by figure.


def test_a_card_that_keeps_its_worker_waiting():
    evidence = read(case("i226v-64b-unidirectional.runtime.txt"))
    (worker,) = evidence.workers
    assert (worker.name, worker.role, worker.cpu, worker.seconds) == ("vpp_wk_1", "worker", 2, 10.9)
    assert (worker.in_pps, worker.out_pps, worker.drop_pps) == (3.2814e6, 3.2814e6, 0.0)
    assert worker.loops_per_second == 68325.87
    assert worker.tsc_hz is None
    assert worker.idle_in_clocks
    active = [
        ("ethernet-input", 171.0),
        ("ip4-input-no-checksum", 65.4),
        ("ip4-load-balance", 47.0),
        ("ip4-lookup", 75.0),
        ("ip4-rewrite", 72.3),
        ("e1-output", 25.3),
        ("e1-tx", 138.0),
    ]
    assert figures(worker) == [
        ("dpdk-input", "polling", 61933, 2846586, 128.0, 45.96),
        *((name, "active", 61733, 2846586, clocks, 46.11) for name, clocks in active),
    ]
    assert [node.name for node in worker.nodes if node.polling] == ["dpdk-input"]
    assert worker.nodes[0].quote.line == 6
    assert worker.nodes[0].quote.text.startswith("dpdk-input  ")
    assert evidence.unread == ()


def test_a_full_tx_ring():
    (worker,) = read(case("cx5-rdma-1q-64b.runtime.txt")).workers
    assert (worker.name, worker.cpu, worker.seconds) == ("vpp_wk_0", 1, 321.1)
    assert (worker.in_pps, worker.out_pps) == (1.2392e7, 9.4015e6)
    assert figures(worker) == [
        ("ethernet-input", "active", 15543357, 3979099392, 27.9, 256.0),
        ("ip4-input-no-checksum", "active", 15543352, 3979098112, 12.6, 256.0),
        ("ip4-load-balance", "active", 15543357, 3979099387, 9.17, 255.99),
        ("ip4-lookup", "active", 15543357, 3979099387, 14.3, 255.99),
        ("ip4-rewrite", "active", 15543357, 3979099387, 16.9, 255.99),
        ("rdma-input", "polling", 15543357, 3979099392, 25.7, 256.0),
        ("xxv1-output", "active", 15543357, 3979099387, 5.03, 255.99),
        ("xxv1-tx", "active", 15543357, 3018807035, 43.5, 194.22),
    ]


def test_errors_of_a_full_tx_ring():
    evidence = read(case("cx5-rdma-1q-64b.errors.txt"))
    assert losses(evidence) == [
        ("null-node: blackholed packets", "configuration", 3334),
        # The packets that requests were for, dropped while the next hop had no address.
        ("ip4-arp: ARP requests throttled", "configuration", 7421),
        ("ip4-arp: ARP requests sent", "configuration", 3),
        ("xxv1-tx: no free tx slots", "tx-ring", 1454511616),
        ("null-node: blackholed packets", "configuration", 16),
    ]
    assert [loss.quote.line for loss in evidence.losses] == [2, 3, 4, 5, 6]
    assert evidence.unread == ()


def test_a_saturated_worker_beside_the_main_thread():
    evidence = read(case("vpp-26.10-saturated.runtime.txt"))
    main, worker = evidence.workers
    assert (main.name, main.role, main.cpu) == ("vpp_main", "main", 0)
    assert [(node.name, node.state, node.suspends) for node in main.nodes] == [
        ("fib-walk", "any wait", 2),
        ("ip4-full-reassembly-expire-wal", "any wait", 60),
        ("ip6-full-reassembly-expire-wal", "any wait", 60),
        ("ip6-mld-process", "any wait", 3),
        ("ip6-ra-process", "any wait", 3),
        ("startup-config-process", "not started", 0),
        ("unix-cli-new-session", "any wait", 7),
        ("unix-cli-process-0", "running", 7),
    ]
    assert (worker.name, worker.role, worker.cpu) == ("vpp_wk_0", "worker", 1)
    expected = [
        ("ethernet-input", "active", 4.8),
        ("ip4-input", "active", 8.13),
        ("ip4-lookup", "active", 8.6),
        ("ip4-rewrite", "active", 9.5),
        ("pg-input", "polling", 49.6),
        ("pg1-output", "active", 2.27),
        ("pg1-tx", "active", 6.48),
    ]
    assert figures(worker) == [
        (name, state, 339828, 86995968, clocks, 256.0) for name, state, clocks in expected
    ]
    assert evidence.unread == ()


def test_an_empty_table_of_errors():
    evidence = read(case("vpp-26.10-saturated.errors.txt"))
    assert evidence is not None
    assert (evidence.losses, evidence.unread) == ((), ())


def test_interfaces():
    evidence = read(case("vpp-26.10-saturated.interface.txt"))
    local, pg_1, pg0, pg1 = evidence.ports
    assert (local.name, local.up, local.rx_packets) == ("local0", False, None)
    assert (pg_1.name, pg_1.up) == ("pg-1", True)
    assert (pg0.rx_packets, pg0.rx_bytes, pg0.counters) == (87026688, 5569708032, {"ip4": 87026688})
    assert (pg1.tx_packets, pg1.tx_bytes, pg1.counters) == (87026944, 5569724416, {})
    assert (evidence.losses, evidence.unread) == ((), ())


def test_hardware_of_no_known_speed():
    evidence = read(case("vpp-26.10.hardware-interfaces.txt"))
    assert [(port.name, port.up, port.link_bps, port.driver) for port in evidence.ports] == [
        ("local0", False, None, "local"),
        ("pg-1", True, None, ""),
        ("pg0", True, None, ""),
        ("pg1", True, None, ""),
    ]
    assert evidence.unread == ()


def test_rings_of_ours_are_read_as_they_are_shown():
    rows = [
        {"name": "handoff-0-1-normal", "size": 1024, "used": 3, "free": 1021,
         "enqueued": 5_000_000_000, "dropped": 17, "dequeued": 4_999_999_997,
         "from": "forwarder-0", "to": "forwarder-1", "priority": "normal"},
        {"name": "card0_port1_rx0", "size": 1024, "used": 0, "free": 1024, "enqueued": 9,
         "dropped": 5, "dequeued": 9, "from": "", "to": "", "priority": ""},
        {"name": "card0_port0_tx1", "size": 1024, "used": 0, "free": 1024, "enqueued": 9,
         "dropped": 0, "dequeued": 9, "from": "", "to": "", "priority": ""},
    ]  # fmt: skip
    shown = live.rings(rows)
    assert all(len(line) <= 80 for line in shown.splitlines())
    evidence = read(shown)
    (ring,) = evidence.rings
    assert (ring.source, ring.destination, ring.priority) == (
        "forwarder-0",
        "forwarder-1",
        "normal",
    )
    assert (ring.used, ring.size, ring.enqueued, ring.dropped) == (3, 1024, 5_000_000_000, 17)
    assert losses(evidence) == [
        ("forwarder-0 → forwarder-1 normal: ring full", "handoff-ring", 17),
        ("card0:1 → rx0: rx missed (ring full)", "rx-ring", 5),
    ]
    assert evidence.unread == ()


def test_rings_between_cores():
    evidence = read(case("riot.ring-stats.txt"))
    assert len(evidence.rings) == 14
    assert {(ring.used, ring.size) for ring in evidence.rings} == {(0, 2047)}
    full = {
        (ring.source, ring.destination, ring.priority): (ring.enqueued, ring.dropped, ring.dequeued)
        for ring in evidence.rings
        if ring.dropped
    }
    assert full == {
        ("io0", "wk0", "Nor"): (563939705, 540781888, 563939705),
        ("io0", "wk1", "Nor"): (690692078, 462224315, 690692078),
        ("io1", "wk0", "Nor"): (660735738, 540798300, 660735738),
        ("io1", "wk1", "Nor"): (759268034, 462197224, 759268034),
    }
    assert losses(evidence)[0] == ("io0 → wk0 Nor: ring full", "handoff-ring", 540781888)
    assert len(evidence.losses) == 4
    assert evidence.unread == ()


def test_misses_that_are_no_count_of_packets():
    evidence = read(case("riot.port-extended-stats.txt"))
    assert [(port.name, port.rx_packets, port.tx_packets) for port in evidence.ports] == [
        ("io lcore 4", 2257698292, 796031485),
        ("io lcore 5", 2423487707, 573143789),
    ]
    assert evidence.losses == ()
    assert [doubt.line for doubt in evidence.doubts] == [4, 5]
    assert "5,033 times" in evidence.doubts[0].text
    assert evidence.unread == ()


# Other forms of the same outputs.


def test_misses_that_can_be_are_losses():
    text = case("riot.port-extended-stats.txt").replace("11363390296418", "1128849146")
    assert losses(read(text)) == [("io lcore 4: rx_misses", "rx-ring", 1128849146)]


def test_bare_numbers_are_read_below_their_head_only():
    row = case("riot.port-extended-stats.txt").splitlines()[3]
    assert read(row) is None


def test_a_vpp_without_workers_does_its_work_in_its_one_thread():
    text = "\n".join(case("i226v-64b-unidirectional.runtime.txt").splitlines()[2:])
    (worker,) = read(text).workers
    assert (worker.name, worker.role, len(worker.nodes)) == ("vpp_main", "worker", 8)


def test_rows_without_their_head():
    text = "\n".join(case("i226v-64b-unidirectional.runtime.txt").splitlines()[5:])
    (worker,) = read(text).workers
    assert (worker.role, len(worker.nodes), worker.in_pps) == ("worker", 8, None)


def test_a_row_broken_in_two():
    text = case("i226v-64b-unidirectional.runtime.txt").replace(
        " 0          1.28e2", " 0\n   1.28e2"
    )
    evidence = read(text)
    assert figures(evidence.workers[0])[0][4:] == (128.0, 45.96)
    assert evidence.unread == ()


def test_thousands_have_separators():
    text = case("i226v-64b-unidirectional.runtime.txt").replace("2846586", "2,846,586")
    assert {node.vectors for node in read(text).workers[0].nodes} == {2846586}


@pytest.mark.parametrize("state", ["interrupt wait", "event wait", '"any wait"', '"not started'])
def test_states_of_two_words(state):
    row = f"virtio-input {state} 12 24 3 1.50e2 2.00"
    assert read(row).workers[0].nodes[0].state == state.strip('"')


def test_a_long_name_touches_its_quoted_state():
    row = 'ip4-full-reassembly-expire-wal"not started     1     0      0   3.77e3    0.00'
    (node,) = read(row).workers[0].nodes
    assert (node.name, node.state) == ("ip4-full-reassembly-expire-wal", "not started")


def test_the_rates_of_before_2001():
    text = (
        "Time 21.7, average vectors/node 163.79, last 128 main loops 0.00 per node 0.00\n"
        "  vector rates in 2.4838e6, out 2.4838e6, drop 0.0000e0, punt 0.0000e0\n"
        "dpdk-input polling 111303914 53909489 0 4.77e2 .48\n"
    )
    (worker,) = read(text).workers
    assert (worker.seconds, worker.in_pps, worker.loops_per_second) == (21.7, 2.4838e6, None)


def test_a_thread_printed_twice_has_its_last_word():
    text = case("cx5-rdma-1q-64b.runtime.txt")
    evidence = read(text + text.replace("15543357", "25543357"))
    (worker,) = evidence.workers
    assert worker.nodes[0].calls == 25543357
    assert [doubt.text for doubt in evidence.doubts] == [
        "vpp_wk_0 is printed more than once: the last one counts"
    ]


def test_maxima_have_no_calls():
    text = (
        "Thread 1 vpp_wk_0 (lcore 1)\n"
        "Time 3.0, 10 sec internal node vector rate 256.00 loops/sec 112770.68\n"
        "  vector rates in 2.8914e7, out 2.8914e7, drop 0.0000e0, punt 0.0000e0\n"
        "Name Max Node Clocks Vectors at Max Max Clocks Avg Clocks Avg Vectors/Call\n"
        "ip4-lookup 6.70e3 256 2.62e1 1.10e1 2.56e2\n"
    )
    evidence = read(text)
    assert evidence.workers[0].nodes == ()
    assert evidence.workers[0].in_pps == 2.8914e7
    assert "neither calls nor vectors" in evidence.doubts[0].text
    assert evidence.unread == ()


def test_our_own_runtime():
    text = (
        "Thread 1 forwarder-0 (lcore 1)\n"
        "Time 5.0, 5.0 sec internal node vector rate 12.00 loops/sec 1000.00\n"
        "  vector rates in 1.0000e6, out 1.0000e6, drop 0.0000e0, punt 0.0000e0\n"
        "ip4-lookup fused 100 25600 0 1.40e1 256.00\n"
        "port-rx-0 polling 100 25600 0 2.00e1 256.00\n"
        "port-rx-0 (idle) polling 900 0 0 4.00e1 0.00\n"
        "cycles: 40.0 % in nodes, 50.0 % in idle polls, 3.5 % in the loop, 1.5 % descheduled, "
        "5.0 % asleep\n"
    )
    evidence = read(text)
    (worker,) = evidence.workers
    assert not worker.idle_in_clocks
    assert (worker.spare_percent, worker.away_percent) == (55.0, 1.5)
    assert [node.name for node in worker.nodes] == ["ip4-lookup", "port-rx-0"]
    assert evidence.unread == ()


def test_errors_without_severities():
    text = (
        "     Count                    Node                  Reason\n"
        "        52               dpdk-input               no error\n"
        "         3                arp-input               ARP replies sent\n"
        "       782                llc-input               unknown llc ssap/dsap\n"
        "   1685570         GigabitEthernet0/5/0-tx        Tx packet drops (dpdk tx failure)\n"
        "  53909489                l2-output               L2 output packets\n"
        "         5            ip4-reassembly              drops due to internal reassembly error\n"
    )
    evidence = read(text)
    assert losses(evidence) == [
        ("llc-input: unknown llc ssap/dsap", "other", 782),
        ("GigabitEthernet0/5/0-tx: Tx packet drops (dpdk tx failure)", "tx-ring", 1685570),
        ("ip4-reassembly: drops due to internal reassembly error", "other", 5),
    ]
    assert evidence.unread == ()


def test_errors_without_their_head():
    text = "12 ip4-input ip4 ttl <= 1 error\n5 lines of text error\n7 e1-tx no free tx slots\n"
    evidence = read(text)
    assert losses(evidence) == [
        ("ip4-input: ip4 ttl <= 1", "configuration", 12),
        ("e1-tx: no free tx slots", "tx-ring", 7),
    ]
    assert [quote.line for quote in evidence.unread] == [2]


def test_verbose_errors_by_thread():
    text = (
        "Count Node Reason Index\n"
        "Thread 1 (vpp_wk_0):\n"
        "7 ip4-input ip4 ttl <= 1 312\n"
        "Total:\n"
        "7 ip4-input ip4 ttl <= 1 312\n"
    )
    (loss,) = read(text).losses
    assert (loss.place, loss.worker, loss.packets) == ("ip4-input: ip4 ttl <= 1", "vpp_wk_0", 7)
    assert loss.cause == "configuration"


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("ip4 destination lookup miss", "configuration"),
        ("ip4 unicast source check fails", "configuration"),
        ("Multicast RPF check failed", "configuration"),
        ("input ACL table-miss drops", "configuration"),
        ("ip4 MTU exceeded and DF set", "configuration"),
        ("interface is down", "configuration"),
        ("l3 mac mismatch", "configuration"),
        ("unknown vlan", "configuration"),
        ("MPLS DROP DPO", "configuration"),
        ("bad ip4 checksum", "damaged"),
        ("ip4 length > l2 length", "damaged"),
        ("tx ring overrun", "tx-ring"),
        ("tx packet drops (no available descriptors)", "tx-ring"),
        ("Tx packet drops (no buffers)", "buffers"),
        ("congestion drop", "handoff-ring"),
        ("handoff queue full", "handoff-ring"),
        ("too many sessions to add new", "flow-table"),
        ("no translation", "configuration"),
        ("full rx queue (driver tx drop)", "rx-ring"),
    ],
)
def test_what_a_reason_means(reason, cause):
    text = f"Count Node Reason Severity\n12 some-node {reason} error"
    assert losses(read(text)) == [(f"some-node: {reason}", cause, 12)]


@pytest.mark.parametrize(
    "reason",
    ["no error", "valid ip4 packets", "L2 input packets", "good packets encapsulated", "Echo replies sent",
     "ARP requests sent", "neighbor solicitations sent", "hop limit exceeded response sent",
     "Packets buffered", "new sessions added", "input ACL misses", "IPSec policy protect",
     "same worker", "do handoff", "packets handed off processed", "hand-off", "next in2out",
     "Good in2out packets processed", "sflow packets dropped", "timed out block", "valid packets"],
)  # fmt: skip
def test_what_goes_on_is_no_loss(reason):
    assert is_passing(reason)
    assert read(f"Count Node Reason Severity\n12 some-node {reason} error").losses == ()


@pytest.mark.parametrize(
    "reason", ["blackholed packets", "bad packets received", "malformed packets"]
)
def test_what_ends_is_a_loss(reason):
    assert not is_passing(reason)


def test_losses_of_an_interface():
    text = (
        "e1 2 up 9000/0/0/0 rx packets 1,000\n"
        "rx bytes 64000\nrx-miss 77\nrx-no-buf 8\ntx-error 9\ndrops 4\n"
        "e2.100 3 down 0/0/0/0\n"
    )
    evidence = read(text)
    assert losses(evidence) == [
        ("e1: rx-miss", "rx-ring", 77),
        ("e1: rx-no-buf", "buffers", 8),
        ("e1: tx-error", "tx-ring", 9),
    ]
    first, second = evidence.ports
    assert (first.rx_packets, first.counters["drops"], second.up) == (1000, 4, False)


def test_what_a_card_refused_is_counted_once():
    interface = "e1 2 up 9000/0/0/0 tx packets 1000\ntx-error 9\n"
    errors = "Count Node Reason Severity\n9 e1-tx Tx packet drops (dpdk tx failure) error\n"
    assert losses(read(interface)) == [("e1: tx-error", "tx-ring", 9)]
    reasons = [("e1-tx: Tx packet drops (dpdk tx failure)", "tx-ring", 9)]
    assert losses(read(interface + errors)) == reasons


def test_hardware_of_a_card():
    evidence = read(made("vpp-hardware"))
    (port,) = evidence.ports
    assert (port.link_bps, port.driver, port.device) == (
        2_500_000_000,
        "Intel i225 (igc)",
        "0000:06:00.0",
    )
    assert (port.rx_queues, port.rx_descriptors) == (2, 1024)
    assert (port.tx_queues, port.tx_descriptors) == (3, 512)
    assert port.queue_packets == {0: 900, 1: 100}
    assert (port.rx_packets, port.counters["rx missed"]) == (1000, 250)
    assert evidence.unread == ()


def test_rows_of_hardware_without_their_head():
    evidence = read("e1 2 up e1\n  Link speed: 10 Gbps\neth0 1 up something\n")
    assert [(port.name, port.link_bps) for port in evidence.ports] == [("e1", 10**10)]
    assert [quote.line for quote in evidence.unread] == [3]


def test_hardware_of_old():
    text = (
        "TenGigabitEthernet6/0/0 1 up TenGigabitEthernet6/0/0\n"
        "  Ethernet address 90:e2:ba:00:00:01\n"
        "  Intel 82599\n"
        "    carrier up full duplex speed 10000 mtu 9216\n"
        "    rx queues 4, rx desc 1024, tx queues 5, tx desc 512\n"
    )
    evidence = read(text)
    (port,) = evidence.ports
    assert (port.driver, port.link_bps) == ("Intel 82599", 10**10)
    assert (port.rx_queues, port.rx_descriptors) == (4, 1024)
    assert (port.tx_queues, port.tx_descriptors) == (5, 512)
    assert evidence.unread == ()


@pytest.mark.parametrize("name", ["vpp-stats", "vpp-machine", "vpp-papi"])
def test_the_stats_segment(name):
    evidence = read(made(name))
    (worker,) = evidence.workers
    assert (worker.name, worker.role) == ("vpp_wk_0", "worker")
    assert figures(worker) == [("dpdk-input", "polling", 100, 25600, 20.0, 256.0)]
    assert losses(evidence) == [
        ("xxv0: rx-miss", "rx-ring", 55),
        ("xxv1-tx: no free tx slots", "tx-ring", 234),
    ]
    ports = {port.name: port for port in evidence.ports}
    assert (ports["xxv0"].rx_packets, ports["xxv0"].rx_bytes) == (1234, 78976)
    assert (ports["xxv1"].tx_packets, ports["xxv1"].tx_bytes) == (1010, 64640)
    assert evidence.unread == ()


def test_errors_that_python_prints():
    text = "ERRORS:\n/err/xxv1-tx/no free tx slots                    234\n"
    evidence = read(text)
    assert losses(evidence) == [("xxv1-tx: no free tx slots", "tx-ring", 234)]
    assert evidence.unread == ()


def test_what_linerate_shows_it_reads():
    nodes = {
        "drop": NodeTime(calls=2, vectors=50, clocks=500),
        "ip4-lookup": NodeTime(calls=10, vectors=1000, clocks=14000),
        "port-rx-e0-0": NodeTime(
            calls=10, vectors=1000, clocks=30000, idle_calls=90, idle_clocks=50_000_000
        ),
    }
    reading = WorkerReading(
        name="forwarder-0",
        cpu=1,
        tid=9,
        role="forwarder",
        tsc_hz=10**9,
        tsc=100_000_500,
        loops=100,
        overhead_clocks=900,
        nodes=nodes,
        polling=("port-rx-e0-0",),
    )
    drops = (
        DropCount(worker="forwarder-0", node="ip4-lookup", reason="no route", packets=50),
        DropCount(worker="forwarder-0", node="arp", reason="asked", severity="info", packets=3),
    )
    tester = reading.model_copy(update={"name": "tester-0"})
    evidence = read(live.runtime([(reading, 500), (tester, 500)]) + "\n\n" + live.errors(drops))
    assert [(worker.name, worker.role) for worker in evidence.workers] == [
        ("forwarder-0", "worker"),
        ("tester-0", "tester"),
    ]
    assert figures(evidence.workers[0]) == [
        ("drop", "active", 2, 50, 10.0, 25.0),
        ("ip4-lookup", "active", 10, 1000, 14.0, 100.0),
        ("port-rx-e0-0", "polling", 10, 1000, 30.0, 100.0),
    ]
    assert not evidence.workers[0].idle_in_clocks
    assert evidence.workers[0].spare_percent == 50.0
    assert losses(evidence) == [("ip4-lookup: no route", "configuration", 50)]
    assert evidence.unread == ()
