"""Published outputs of other tools are read as an expert reads them."""

from pathlib import Path

import pytest

from linerate.analysis.explain import explain
from linerate.parsers.files import evidence_of_files

CASES = Path(__file__).parents[1] / "data" / "cases"


def judged(*names):
    return explain(evidence_of_files([CASES / name for name in names]))


@pytest.mark.parametrize(
    ("files", "limit", "also", "message"),
    [
        (
            ["i226v-64b-unidirectional.runtime.txt"],
            "card-pps",
            (),
            ["46 packets a call of 256", "one rx queue", "594 cycles of graph + 128 of polling",
             "3.28 Mpps = 2.37 GHz", "not saturated"],
        ),
        (
            ["cx5-rdma-1q-64b.runtime.txt", "cx5-rdma-1q-64b.errors.txt"],
            "tx-ring",
            ("worker-cpu",),
            ["194 of 256 packets", "24 % lost", "12.39 Mpps in, 9.40 Mpps out", "1,454,511,616"],
        ),
        (["cx5-rdma-1q-64b.runtime.txt"], "tx-ring", (), ["24 % lost there"]),
        (
            ["vpp-26.10-saturated.runtime.txt", "vpp-26.10-saturated.interface.txt",
             "vpp-26.10-saturated.errors.txt", "vpp-26.10.hardware-interfaces.txt"],
            "worker-cpu",
            (),
            ["vpp_wk_0 is saturated", "not the main thread vpp_main", "ip4-rewrite 9.5 (24 %)",
             "pg-input 49.6, listed separately"],
        ),
        (
            ["riot.ring-stats.txt", "riot.port-extended-stats.txt"],
            "handoff-ring",
            (),
            ["normal-priority rings from io0, io1 to wk0, wk1", "io0 → wk0 Nor 49.0 %",
             "io0 → wk1 Nor 40.1 %", "io1 → wk0 Nor 45.0 %", "io1 → wk1 Nor 37.8 %"],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_published_cases(files, limit, also, message):
    found = judged(*files)
    assert found.limit == limit
    assert set(also) <= set(found.also)
    assert all(text in found.sentence for text in message), found.sentence
    assert found.evidence
    assert {quote.source for quote in found.evidence} <= set(files)


def test_evidence_points_at_the_lines():
    evidence = judged("cx5-rdma-1q-64b.runtime.txt", "cx5-rdma-1q-64b.errors.txt").evidence
    assert evidence
    for quote in evidence:
        lines = (CASES / quote.source).read_text().splitlines()
        assert lines[quote.line - 1].strip() == quote.text


def test_blackholed_packets_are_configuration():
    found = judged("cx5-rdma-1q-64b.runtime.txt", "cx5-rdma-1q-64b.errors.txt")
    assert found.configured == {
        "null-node: blackholed packets": 3350,
        # Each was dropped while its next hop had no address.
        "ip4-arp: ARP requests throttled": 7421,
        "ip4-arp: ARP requests sent": 3,
    }


def test_links_narrower_than_their_cards():
    found = judged("pcie.dmesg.txt")
    assert found.limit == "pcie"
    for message in (
        "0000:05:00.0 (ixgbe): 16.0 of 32.0 Gb/s usable, which is 18.87 Mpps at 64 B and 1.10",
        "0000:0e:00.0 (mlx5_core): 31.5 of 63.0 Gb/s usable, which is 37.16 Mpps at 64 B and 2.35",
    ):
        assert message in found.sentence
    assert [ceiling.mpps for ceiling in found.ceilings] == sorted(
        ceiling.mpps for ceiling in found.ceilings
    )
    assert len(found.ceilings) == 4


def test_sources_of_one_device_are_one_link(tmp_path):
    kernel = tmp_path / "dmesg.txt"
    kernel.write_text((CASES / "pcie.dmesg.txt").read_text())
    sysfs = tmp_path / "sysfs.txt"
    sysfs.write_text(
        "/sys/bus/pci/devices/0000:05:00.0/current_link_speed:5.0 GT/s PCIe\n"
        "/sys/bus/pci/devices/0000:05:00.0/current_link_width:4\n"
        "/sys/bus/pci/devices/0000:05:00.0/max_link_width:8\n"
    )
    links = evidence_of_files([kernel, sysfs]).pcie
    assert sorted(link.device for link in links) == ["0000:05:00.0", "0000:0e:00.0"]
    first = next(link for link in links if link.device == "0000:05:00.0")
    assert {quote.source for quote in first.quotes} == {"dmesg.txt", "sysfs.txt"}
    assert (first.lanes, first.capable_lanes, first.driver) == (4, 8, "ixgbe")


def test_counters_that_can_not_be_are_not_used():
    evidence = evidence_of_files([CASES / "riot.port-extended-stats.txt"])
    assert len(evidence.doubts) == 2
    assert not any(loss.packets > 10**12 for loss in evidence.losses)
