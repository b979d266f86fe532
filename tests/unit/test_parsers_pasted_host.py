"""Published outputs of a host's own tools: figures, and what pasting and damage do to them."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.mangling import damaged, mangled, message, read

DATA = Path(__file__).parents[1] / "data" / "pasted_host"
FILES = sorted(path for path in DATA.glob("*.txt"))
FIGURES = ("losses", "ports", "cpus", "cpu_times", "symbols", "traced_drops", "silent")


def sample(name):
    return (DATA / name).read_text()


def losses(evidence):
    return [(loss.place, loss.cause, loss.packets) for loss in evidence.losses]


def test_each_sample_has_its_source():
    readme = (DATA / "README.md").read_text()
    assert [path.name for path in FILES if f"`{path.name}`" not in readme] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_pasting_changes_nothing(path, data):
    content = path.read_text()
    assert message(read(data.draw(mangled(content))), *FIGURES) == message(read(content), *FIGURES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_damage_raises_nothing(path, data):
    evidence = read(data.draw(damaged(path.read_text())))
    if evidence is not None:
        assert all(loss.packets > 0 and loss.place for loss in evidence.losses)


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        (
            "ena.ethtool.txt",
            [
                ("ens34: bw_in_allowance_exceeded", "shaper", 3241329),
                ("ens34: bw_out_allowance_exceeded", "shaper", 530),
                ("ens34: pps_allowance_exceeded", "shaper", 784),
            ],
        ),
        # `ring full` counts stops of the queue: no packet is lost by it.
        ("vmxnet3.ethtool-grep.txt", [("eth0: rxq2 pkts rx OOB", "rx-ring", 632)]),
        ("be2net.ethtool.txt", [("NIC: rxq0: rx_drops_no_frags", "rx-ring", 3885606854)]),
        ("ixgbe.rates.txt", [("ixgbe2: rx_missed_errors, in a second", "rx-ring", 182070)]),
        # Its port and its ring drop separately: 42.64 M - 7.19 M - 17.76 M = 17.70 M.
        (
            "i40e.rates-wrapped.txt",
            [
                ("enp101s0f0: port.rx_dropped, in a second", "rx-ring", 7185397),
                ("enp101s0f0: rx_dropped, in a second", "rx-ring", 17756128),
            ],
        ),
        (
            "mlx5.rates.txt",
            [
                ("mlx5p2: rx_out_of_buffer, in a second", "rx-ring", 13741170),
                ("mlx5p2: rx_discards_phy, in a second", "rx-ring", 18736623),
            ],
        ),
    ],
)
def test_losses_of_a_driver(name, lost):
    evidence = read(sample(name))
    assert losses(evidence) == lost


def test_a_quoted_mail_is_read_like_its_text():
    content = sample("i40e.rates-wrapped.txt")
    quoted = "".join(f">>> {line}\n" for line in content.splitlines())
    assert losses(read(quoted)) == losses(read(content))


def test_packets_of_a_driver():
    (port,) = read(sample("i40e.rates-wrapped.txt")).ports
    assert (port.name, port.rx_packets, port.rx_pps) == ("enp101s0f0", 42644140, 42644140)
    assert port.queue_packets == {0: 17702658}
    (port,) = read(sample("vmxnet3.ethtool-grep.txt")).ports
    assert (port.rx_packets, port.tx_packets) == (4899929 + 7903511, 7114560 + 6951200)
    assert port.rx_queues == 2


def test_one_counter_that_grep_left():
    lines = "rx_missed_errors: 123\n"
    assert losses(read(lines)) == [("NIC: rx_missed_errors", "rx-ring", 123)]
    assert losses(read("eth2: rx_missed_errors: 123\neth3: rx_missed_errors: 4\n")) == [
        ("eth2: rx_missed_errors", "rx-ring", 123),
        ("eth3: rx_missed_errors", "rx-ring", 4),
    ]
    assert losses(read("sos_commands/networking/ethtool_-S_p4p1:     rx_discards_phy: 7\n")) == [
        ("p4p1: rx_discards_phy", "rx-ring", 7)
    ]
    assert losses(read("13:     rx_missed_errors: 1,234\n")) == [
        ("NIC: rx_missed_errors", "rx-ring", 1234)
    ]


def test_counters_of_dpdk_are_another_tools():
    lines = "rx_good_packets: 900\nrx_good_bytes: 57600\nrx_missed_errors: 12\n"
    evidence = read(lines)
    assert evidence is None or not any(port.name == "NIC" for port in evidence.ports)


TWICE = """\
$ ethtool -S eth0 | grep -e missed -e rx_packets; sleep 10; ethtool -S eth0 | grep -e missed -e rx_p
     rx_packets: 1000
     rx_missed_errors: 70
     rx_packets: 5000
     rx_missed_errors: 90
"""
DIFFERENCE = """\
--- before	2020-03-01 12:00:00.000000000 +0100
+++ after	2020-03-01 12:00:10.000000000 +0100
@@ -1,6 +1,6 @@
 NIC statistics:
-     rx_packets: 1000
-     tx_packets: 20
+     rx_packets: 5000
+     tx_packets: 21
      rx_bytes: 0
-     rx_missed_errors: 70
+     rx_missed_errors: 90
      rx_no_buffer_count: 3
"""
WATCHED = """\
Every 1.0s: ethtool -S eth0 | grep rx_m             box: Sun Mar  1 12:00:00 2020

     rx_missed_errors: 70
Every 1.0s: ethtool -S eth0 | grep rx_m             box: Sun Mar  1 12:00:01 2020

     rx_missed_errors: 90
"""


@pytest.mark.parametrize("lines", [TWICE, DIFFERENCE, WATCHED])
def test_two_readings_are_a_difference(lines):
    evidence = read(lines)
    assert [(cause, packets) for _, cause, packets in losses(evidence)] == [("rx-ring", 20)]
    (port,) = evidence.ports
    assert port.rx_packets in (None, 4000)


def test_cleared_between_two_readings():
    again = TWICE.replace("rx_packets: 5000", "rx_packets: 50").replace(": 90", ": 3")
    assert losses(read(again)) == [("eth0: rx_missed_errors", "rx-ring", 3)]


def test_a_gauge_that_falls_is_no_clear():
    lists = "".join(
        f"NIC statistics:\n     bw_in_allowance_exceeded: {shaped}\n"
        f"     conntrack_allowance_available: {left}\n"
        for shaped, left in ((100, 500), (130, 400))
    )
    evidence = read("$ ethtool -S eth0\n" + lists)
    assert losses(evidence) == [("eth0: bw_in_allowance_exceeded", "shaper", 30)]
    assert evidence.ports[0].counters["conntrack_allowance_available"] == 400


def test_two_interfaces_are_not_two_readings():
    lines = TWICE.replace("eth0", "eth0", 1).replace("10; ethtool -S eth0", "10; ethtool -S eth1")
    assert losses(read(lines)) == [
        ("eth0: rx_missed_errors", "rx-ring", 70),
        ("eth1: rx_missed_errors", "rx-ring", 90),
    ]


def test_settings():
    (port,) = read(sample("e1000e.ring.txt")).ports
    assert (port.name, port.driver, port.device) == ("enp3s0f0", "e1000e", "0000:03:00.0")
    assert (port.rx_descriptors, port.tx_descriptors) == (256, 256)
    assert port.counters["rx descriptors maximum"] == 4096
    (port,) = read(sample("channels.txt")).ports
    assert (port.rx_queues, port.tx_queues) == (1, 1)
    assert port.counters["combined queues maximum"] == 64
    lines = "Ring parameters for eth0:\nRX: 4096\nTX: 4096\nRX: 512\nTX: 256\n"
    (port,) = read(lines).ports
    assert (port.rx_descriptors, port.tx_descriptors) == (512, 256)


def test_speed_and_flags():
    lines = (
        "Settings for eth4:\n\tSupported link modes:   10000baseT/Full\n"
        "\t                        25000baseCR/Full\n\tSpeed: 25000Mb/s\n\tDuplex: Full\n"
        "\tPort: FIBRE\n\tPHYAD: 0\n\tLink detected: yes\n"
        "Pause parameters for eth4:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n"
        "Features for eth4:\nrx-checksumming: on\nlarge-receive-offload: off [fixed]\n"
    )
    (port,) = read(lines).ports
    assert (port.link_bps, port.up) == (25_000_000_000, True)
    assert (port.counters["rx"], port.counters["tx"]) == (1, 0)
    assert port.counters["large-receive-offload"] == 0
