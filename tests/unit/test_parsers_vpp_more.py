"""VPP: traces, queues of threads, rings of memif, buffers, names with slashes."""

from pathlib import Path

import pytest
from tests.unit.mangling import read

PASTED = Path(__file__).parents[1] / "data" / "pasted"


def pasted(name):
    return (PASTED / name).read_text()


def losses(evidence):
    return [(loss.place, loss.cause, loss.packets) for loss in evidence.losses]


def drops(evidence):
    return [(one.place, one.cause, one.packets, one.traced) for one in evidence.traced_drops]


def test_a_trace_names_where_its_packets_end():
    evidence = read(pasted("vpp-trace-vlan.txt"))
    assert drops(evidence) == [("ethernet-input: unknown vlan", "configuration", 1, 1)]
    assert not evidence.unread
    assert not evidence.losses


def test_a_trace_of_packets_that_go_on_has_no_drop():
    evidence = read(pasted("vpp-trace-mixed.txt"))
    assert drops(evidence) == [("ip4-local: unknown ip protocol", "configuration", 2, 3)]


def test_a_trace_without_reasons_names_the_node_before():
    text = "00:00:01:000001: dpdk-input\n00:00:01:000002: ip4-frob\n00:00:01:000003: drop\n"
    assert drops(read(text)) == [("ip4-frob: dropped", "other", 1, 1)]
    assert drops(read(text * 3)) == [("ip4-frob: dropped", "other", 3, 3)]


def test_a_trace_alone_is_read():
    text = "00:00:01:000001: dpdk-input\n00:00:01:000002: e1-tx\n"
    assert read(text) is not None


def test_queues_of_threads():
    evidence = read(pasted("vpp-rx-placement.txt"))
    ports = {port.name: port for port in evidence.ports}
    assert {name: port.rx_queues for name, port in ports.items()} == {
        "GigabitEthernet7/0/0": 1,
        "VirtualEthernet0/0/12": 4,
        "VirtualEthernet0/0/13": 4,
        "GigabitEthernet7/0/1": 1,
    }
    assert ports["VirtualEthernet0/0/12"].counters == {
        "rx queues of vpp_wk_0": 2,
        "rx queues of vpp_wk_1": 2,
    }
    assert not evidence.unread


def test_rings_of_memif():
    text = (
        "interface memif1/0\n"
        '  remote-name "DPDK 22.11.11"\n'
        "  socket-id 1 id 0 mode ethernet\n"
        "  flags admin-up connected\n"
        "  num-s2m-rings 1 num-m2s-rings 1 buffer-size 0 num-regions 1\n"
        "    master-to-slave ring 0:\n"
        "      region 0 offset 16512 ring-size 1024 int-fd 23\n"
        "    slave-to-master ring 0:\n"
        "      region 0 offset 0 ring-size 64 int-fd 21\n"
    )
    (port,) = read(text).ports
    assert (port.up, port.rx_descriptors, port.tx_descriptors) == (True, 64, 1024)
    (port,) = read(text.replace("admin-up connected", "admin-up slave connected")).ports
    assert (port.rx_descriptors, port.tx_descriptors) == (1024, 64)


@pytest.mark.parametrize(("free", "doubts"), [(0, 1), (15000, 0)])
def test_a_pool_without_buffers_is_doubted(free, doubts):
    text = (
        "Pool Name            Index NUMA  Size  Data Size  Total  Avail  Cached   Used\n"
        f"default-numa-0         0     0   2496     2048    16800  {free}    0    16800\n"
    )
    assert len(read(text).doubts) == doubts


def test_blocks_of_avf():
    evidence = read(pasted("vpp-hardware-avf.txt"))
    ports = {port.name: port for port in evidence.ports}
    avf = ports["avf-0/5e/a/0"]
    assert (avf.rx_packets, avf.tx_packets, avf.link_bps) == (20301, 636, 40 * 10**9)
    assert (avf.rx_bytes, avf.counters["tx errors"]) == (1697788, 1381)
    assert losses(evidence) == []


def test_frames_that_a_card_missed_are_counted_once():
    hardware = "e1 2 up e1\n  Link speed: 10 Gbps\n    rx frames ok 90\n    rx missed 10\n"
    assert losses(read(hardware)) == [("e1: rx missed", "rx-ring", 10)]
    interface = "e1 2 up 9000/0/0/0 rx packets 90\nrx-miss 10\n"
    assert losses(read(hardware + interface)) == [("e1: rx-miss", "rx-ring", 10)]


def test_an_expired_packet_is_counted_once():
    head = "Count Node Reason Severity\n"
    message = "7 ip4-icmp-error error message dropped error\n"
    decided = "9 ip4-input ip4 ttl <= 1 error\n"
    assert losses(read(head + decided + message)) == [
        ("ip4-input: ip4 ttl <= 1", "configuration", 9)
    ]
    assert len(read(head + message).losses) == 1


def test_hand_offs_are_no_losses():
    text = (
        "Count Node Reason\n"
        "66554242 nat44-in2out-worker-handoff same worker\n"
        "1299 nat44-in2out-worker-handoff do handoff\n"
        "12 nat44-in2out-worker-handoff congestion drop\n"
    )
    assert losses(read(text)) == [
        ("nat44-in2out-worker-handoff: congestion drop", "handoff-ring", 12)
    ]


def test_names_with_slashes_in_the_stats_segment():
    text = (
        "[0]: local0 /if/names\n"
        "[1]: TenGigabitEthernet5/0/0 /if/names\n"
        "[1 @ 1]: 7 packets /if/rx-miss\n"
        "[1 @ 1]: 7 packets /interfaces/TenGigabitEthernet5_0_0/rx-miss\n"
        "[0 @ 1]: 5 packets /err/TenGigabitEthernet5/0/0-tx/no_free_tx_slots\n"
        "[0 @ 1]: 4 packets /err/ip4-input/time_expired\n"
        "[0 @ 1]: 3 packets /err/arp-reply/replies_sent\n"
        "[0 @ 1]: 10 packets /nodes/TenGigabitEthernet5/0/0-output/vectors\n"
        "[0 @ 1]: 1 packets /nodes/TenGigabitEthernet5/0/0-output/calls\n"
    )
    evidence = read(text)
    assert losses(evidence) == [
        ("TenGigabitEthernet5/0/0: rx-miss", "rx-ring", 7),
        ("TenGigabitEthernet5/0/0-tx: no free tx slots", "tx-ring", 5),
        ("ip4-input: time expired", "configuration", 4),
    ]
    (worker,) = evidence.workers
    assert [node.name for node in worker.nodes] == ["TenGigabitEthernet5/0/0-output"]
