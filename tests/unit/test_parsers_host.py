import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.mangling import damaged, mangled, message, read

CASES = Path(__file__).parents[1] / "data" / "cases"
FILES = (
    "linux-6.18.interrupts.txt",
    "linux-6.18.softnet_stat.txt",
    "pcie.dmesg.txt",
    "testpmd.io-2q.null.txt",
    "testpmd.txonly.ring.txt",
    "trex-stats.sample.json",
    "veth.ethtool.txt",
    "virtio.ethtool.txt",
    "virtio.lspci.txt",
)
FIGURES = ("workers", "losses", "ports", "pcie", "cpus", "testers", "doubts")

LSPCI = """\
00:1c.4 PCI bridge: Intel Corporation Device a33c (rev f0) (prog-if 00 [Normal decode])
\t\tLnkCap:\tPort #5, Speed 8GT/s, Width x4, ASPM L1, Exit Latency L1 <16us
\t\tLnkSta:\tSpeed 5GT/s (downgraded), Width x4 (ok)

05:00.0 Ethernet controller: Intel Corporation 82599ES 10-Gigabit SFI/SFP+ Network Connection (rev 01)
\tSubsystem: Intel Corporation Ethernet Server Adapter X520-2
\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0, Latency L0s <512ns, L1 <64us
\t\tDevCtl:\tCorrErr- NonFatalErr- FatalErr- UnsupReq-
\t\t\tMaxPayload 256 bytes, MaxReadReq 512 bytes
\t\tLnkCap:\tPort #0, Speed 5GT/s, Width x8, ASPM L0s, Exit Latency L0s <1us
\t\tLnkSta:\tSpeed 5GT/s (ok), Width x4 (downgraded)
\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-
\tKernel driver in use: ixgbe
"""
SYSFS = """\
/sys/bus/pci/devices/0000:0e:00.0/current_link_speed:8.0 GT/s PCIe
/sys/bus/pci/devices/0000:0e:00.0/current_link_width:4
/sys/bus/pci/devices/0000:0e:00.0/max_link_speed:8.0 GT/s PCIe
/sys/bus/pci/devices/0000:0e:00.0/max_link_width:8
"""
MLX5 = """\
NIC statistics:
     rx_packets: 900
     rx_packets_phy: 1000
     rx_discards_phy: 70
     rx_out_of_buffer: 30
     rx_steer_missed_packets: 2
     rx0_packets: 500
     rx1_packets: 400
"""
IXGBE = """\
NIC statistics:
     rx_packets: 900
     rx_missed_errors: 12
     rx_no_buffer_count: 99
     rx_queue_0_packets: 850
     rx_queue_1_packets: 50
"""


def case(name):
    return (CASES / name).read_text()


def losses(evidence):
    return [(loss.place, loss.cause, loss.packets) for loss in evidence.losses]


def link(evidence):
    (one,) = evidence.pcie
    return (
        (one.device, one.driver),
        (one.gigatransfers, one.lanes, one.data_bps),
        (one.capable_gigatransfers, one.capable_lanes, one.capable_bps),
        one.max_payload_bytes,
    )


def test_trex():
    evidence = read(case("trex-stats.sample.json"))
    (tester,) = evidence.testers
    assert (tester.sent_packets, tester.received_packets) == (737888, 737888)
    assert (tester.tx_pps, tester.rx_pps) == (79613.5625, 79613.921875)
    assert (tester.cpu_percent, tester.queue_full) == (0.21225634217262268, 0)
    assert [
        (port.name, port.side, port.tx_packets, port.rx_packets) for port in evidence.ports
    ] == [
        ("0", "tester", 493488, 244400),
        ("1", "tester", 244400, 493488),
    ]
    assert {port.link_bps for port in evidence.ports} == {10**11}
    assert evidence.ports[0].counters == {"pgid 5 tx_pkts": 4887, "pgid 7 tx_pkts": 488601}
    assert not evidence.losses
    assert not evidence.doubts
    assert not evidence.unread


@pytest.mark.parametrize("printed", [json.dumps, repr])
@pytest.mark.parametrize(
    ("received", "ierrors", "lost", "doubts"),
    [
        (100, 0, [], 0),
        (90, 0, [("between TRex's ports", "other", 10)], 0),
        (90, 4, [("TRex port 0: ierrors", "tester", 4), ("between TRex's ports", "other", 6)], 0),
        (101, 0, [], 1),
    ],
)
def test_trex_stats_alone(printed, received, ierrors, lost, doubts):
    port = {"opackets": 100, "ipackets": received, "ierrors": ierrors}
    total = {"opackets": 100, "ipackets": received}
    key = 0 if printed is repr else "0"
    evidence = read("stats = " + printed({key: port, "total": total, "global": {"queue_full": 3}}))
    assert losses(evidence) == lost
    assert len(evidence.doubts) == doubts
    assert evidence.testers[0].queue_full == 3


def test_trex_stream_errors_are_doubts():
    stats = {
        "flow_stats": {5: {"tx_pkts": {"total": 5}, "rx_pkts": {"total": 9}}},
        "latency": {5: {"err_cntrs": {"dropped": 2, "dup": 0}}},
    }
    doubts = [quote.text for quote in read(repr(stats)).doubts]
    assert doubts == ["stream 5: 9 packets received of 5 sent", "stream 5: dropped 2"]


def test_trex_behind_a_brace_that_never_closes():
    evidence = read("$ python3 {\n" + case("trex-stats.sample.json"))
    assert evidence.testers[0].sent_packets == 737888


def test_dmesg():
    first, second = read(case("pcie.dmesg.txt")).pcie
    assert (first.device, first.driver, first.limited_at) == (
        "0000:05:00.0",
        "ixgbe",
        "0000:00:1c.4",
    )
    assert (first.gigatransfers, first.lanes, first.data_bps) == (5.0, 4, 16.0e9)
    assert (first.capable_gigatransfers, first.capable_lanes) == (5.0, 8)
    assert first.capable_bps == 32.0e9
    assert (second.device, second.driver) == ("0000:0e:00.0", "mlx5_core")
    assert (second.data_bps, second.capable_bps) == (31.504e9, 63.008e9)
    assert second.max_payload_bytes == 256
    assert [quote.line for quote in second.quotes] == [3, 4, 5, 6]


@pytest.mark.parametrize(
    ("lines", "speed", "lanes", "bps"),
    [
        (
            "mlx5_core 0000:18:00.0: 63.008 Gb/s available PCIe bandwidth (8 GT/s x8 link)",
            8,
            8,
            63.008e9,
        ),
        (
            "igc 0000:0a:00.0: 4.000 Gb/s available PCIe bandwidth (5.0 GT/s PCIe x1 link)",
            5,
            1,
            4e9,
        ),
        (
            "ixgbe 0000:82:00.0: PCI Express bandwidth of 16GT/s available\n"
            "ixgbe 0000:82:00.0: (Speed:5.0GT/s, Width: x4, Encoding Loss:20%)",
            5,
            4,
            16e9,
        ),
    ],
)
def test_dmesg_wordings(lines, speed, lanes, bps):
    evidence = read(lines)
    (one,) = evidence.pcie
    assert (one.gigatransfers, one.lanes, one.data_bps) == (speed, lanes, bps)
    assert not evidence.unread


def test_links_of_other_devices_are_left_out():
    lines = (
        "pci 0000:01:00.0: [144d:a808] type 00 class 0x010802\n"
        "pci 0000:01:00.0: 15.752 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x2 link"
        " at 0000:00:1d.4 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)\n"
    )
    evidence = read(lines)
    assert evidence is None or not evidence.pcie


def test_lspci():
    evidence = read(LSPCI)
    assert link(evidence) == (("0000:05:00.0", "ixgbe"), (5, 4, 16e9), (5, 8, 32e9), 256)
    assert not evidence.unread
    virtual = read(case("virtio.lspci.txt"))
    assert not virtual.pcie
    assert not virtual.unread


def test_sysfs():
    evidence = read(SYSFS)
    assert link(evidence) == (("0000:0e:00.0", ""), (8, 4, 31.504e9), (8, 8, 63.008e9), None)
    assert not evidence.unread


def test_testpmd_with_two_queues():
    evidence = read(case("testpmd.io-2q.null.txt"))
    (worker,) = evidence.workers
    (node,) = worker.nodes
    assert (worker.tsc_hz, worker.idle_in_clocks) == (2.6e9, False)
    assert (node.clocks_per_packet, node.vectors, node.calls) == (55.35, 80678400, 2521200)
    assert node.vectors_per_call == 32
    assert [(port.name, port.rx_packets, port.rx_queues) for port in evidence.ports] == [
        ("port 0", 40339200, 2),
        ("port 1", 40339200, 2),
    ]
    assert evidence.ports[0].queue_packets == {0: 8671328, 1: 8534592}
    assert not evidence.losses


def test_testpmd_with_a_full_ring():
    evidence = read(case("testpmd.txonly.ring.txt"))
    assert losses(evidence) == [("port 0: TX-dropped", "tx-ring", 139713345)]


def test_testpmd_counts_a_packet_once():
    lines = (
        "  ######################## NIC statistics for port 0  ########################\n"
        "  RX-packets: 100 RX-missed: 7 RX-bytes:  6400\n  RX-errors: 1\n  RX-nombuf:  2\n"
        "  Rx-pps:            50          Rx-bps:            25600\n"
        "###### NIC extended statistics for port 0\nrx_missed_errors: 7\nrx_errors: 1\n"
    )
    evidence = read(lines)
    assert sorted((cause, packets) for _, cause, packets in losses(evidence)) == [
        ("buffers", 2),
        ("damaged", 1),
        ("rx-ring", 7),
    ]
    assert evidence.ports[0].rx_pps == 50
    assert not evidence.unread


def test_ethtool():
    evidence = read("$ ethtool -S ens1f0\n" + MLX5)
    (port,) = evidence.ports
    assert (port.name, port.rx_packets, port.queue_packets) == ("ens1f0", 1000, {0: 500, 1: 400})
    assert losses(evidence) == [
        ("ens1f0: rx_out_of_buffer", "rx-ring", 30),
        ("ens1f0: rx_discards_phy", "rx-ring", 70),
        ("ens1f0: rx_steer_missed_packets", "configuration", 2),
    ]
    # Without its heading it is a card's list all the same; RNBC is no loss.
    evidence = read(IXGBE.split("\n", 1)[1])
    assert losses(evidence) == [("NIC: rx_missed_errors", "rx-ring", 12)]
    assert evidence.ports[0].queue_packets == {0: 850, 1: 50}


@pytest.mark.parametrize("name", ["veth.ethtool.txt", "virtio.ethtool.txt"])
def test_ethtool_of_this_kernel(name):
    evidence = read(case(name))
    assert len(evidence.ports) == 1
    assert not evidence.losses
    assert not evidence.unread


def test_softnet_stat():
    evidence = read(case("linux-6.18.softnet_stat.txt"))
    assert [(one.cpu, one.counters["processed"]) for one in evidence.cpus] == [
        (0, 0x0085BD08),
        (1, 0x00BFE323),
    ]
    assert evidence.cpus[1].counters["time_squeeze"] == 1
    assert not evidence.losses
    assert not evidence.unread
    # Linux 2.6 has nine columns and leaves the CPU to be counted.
    old = "00000010 00000000" + " 00000000" * 7 + "\n00000020 0000000a" + " 00000000" * 7
    assert losses(read(old)) == [("softnet backlog of CPU 1", "rx-ring", 10)]
    assert read("00000010 00000000 00000000 00000000") is None


def test_interrupts():
    evidence = read(case("linux-6.18.interrupts.txt"))
    counts = {(one.name, one.cpu): one.counters["interrupts"] for one in evidence.cpus}
    assert counts["36: virtio1-req.0", 1] > 10**6
    assert ("36: virtio1-req.0", 0) not in counts
    assert counts["LOC: Local timer interrupts", 0] > 10**6
    assert not evidence.unread


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_pasting_changes_nothing(name, data):
    content = case(name)
    assert message(read(data.draw(mangled(content))), *FIGURES) == message(read(content), *FIGURES)


@pytest.mark.parametrize("content", [LSPCI, SYSFS, MLX5, IXGBE])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_pasting_changes_no_sample(content, data):
    assert message(read(data.draw(mangled(content))), *FIGURES) == message(read(content), *FIGURES)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_damaged_files_are_survived(name, data):
    read(data.draw(damaged(case(name))))


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.sampled_from("{}[]'\":,0123456789 \nopacketsGT/xRX-#\\"), max_size=300))
def test_any_text_is_survived(content):
    read(content)
