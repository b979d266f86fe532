"""A run's stamp of its NICs: a change of firmware is a change of the machine, in a trend."""

from pathlib import Path

import pytest

from linerate.host.doctor import Host
from linerate.host.nic_stamp import nic_stamp

HOSTS = Path("tests/data/hosts")


def test_devices_that_are_no_nics_have_no_stamp():
    assert nic_stamp(()) == ("", "")
    assert nic_stamp(("net_af_packet0",), Host(HOSTS / "box-mcx342a")) == ("", "")


@pytest.mark.parametrize(
    ("name", "stamp"),
    [
        ("box-mcx342a", ("ConnectX-3", "2.42.5000")),
        ("box-n305", ("ConnectX-4 Lx", "14.32.1010 (MT_2420110034), 14.20.1010 (MT_2420110034)")),
        ("cloud-vm", ("virtio-net", "")),
    ],
)
def test_model_and_firmware_of_cards(name, stamp):
    host = Host(HOSTS / name)
    addresses = tuple(host.names("/sys/bus/pci/devices"))
    assert nic_stamp(addresses, host) == stamp
