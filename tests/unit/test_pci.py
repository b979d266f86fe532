"""PCI addresses, and which driver has a card."""

import pytest

from linerate.base import pci
from linerate.lab import rig
from linerate.lab.links import ethdev
from linerate.model.testbed import parse


@pytest.mark.parametrize(
    ("name", "normalised"),
    [
        ("01:00.0", "0000:01:00.0"),
        ("0000:0A:00.1", "0000:0a:00.1"),
        ("10000:e1:00.0", "10000:e1:00.0"),
        ("net_memif0", "net_memif0"),
        ("eth0", "eth0"),
    ],
)
def test_addresses_have_their_domain(name, normalised):
    assert pci.normalised(name) == normalised
    assert pci.is_address(name) == (":" in name)


@pytest.fixture
def devices(tmp_path):
    """sysfs with a card for each driver."""
    found = tmp_path / "devices"
    cards = ("ixgbe", "vfio-pci", "mlx5_core", "")
    for number, driver in enumerate(cards):
        card = found / f"0000:0{number}:00.0"
        card.mkdir(parents=True)
        if driver:
            (tmp_path / driver).mkdir()
            (card / "driver").symlink_to(tmp_path / driver)
    return found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("00:00.0", "PCI device 0000:00:00.0 is with the kernel's ixgbe"),
        ("01:00.0", ""),
        ("0000:02:00.0", ""),
        ("03:00.0", "PCI device 0000:03:00.0 has no driver"),
        ("09:00.0", "there is no PCI device 0000:09:00.0"),
        ("net_memif0", ""),
    ],
)
def test_why_dpdk_can_not_use_a_card(devices, name, text):
    assert pci.why_not_dpdk(name, devices) == text


def test_a_card_that_dpdk_can_not_take_is_reported_before_any_work(devices, monkeypatch):
    monkeypatch.setattr(pci.why_not_dpdk, "__defaults__", (devices,))
    document = {
        "wire": "ethdev",
        "link": "10G",
        "tester": {"ports": [{"device": "00:00.0"}, {"device": "01:00.0"}]},
        "dut": {"mode": "io", "ports": [{"device": "09:00.0"}, {"device": "02:00.0"}]},
    }
    testbed = parse(document, "x")
    assert testbed.tester is not None
    assert testbed.tester.ports is not None
    assert testbed.tester.ports[0].device == "0000:00:00.0"
    monkeypatch.setattr(ethdev, "free_megabytes", lambda: 1 << 20)
    assert [str(need) for need in rig.missing(testbed)] == [
        "there is no PCI device 0000:09:00.0: mend the address; `linerate doctor` lists the cards",
        "PCI device 0000:00:00.0 is with the kernel's ixgbe: `linerate doctor TESTBED --fix` gives "
        "it to vfio-pci",
    ]
