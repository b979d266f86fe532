"""`linerate nic report`: what is known of a NIC, and nothing that names its owner."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.command import result_of

HOSTS = Path(__file__).parents[1] / "data" / "hosts"
MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", re.IGNORECASE)


@pytest.fixture
def host(tmp_path):
    copy = Path(shutil.copytree(HOSTS / "box-i226", tmp_path / "host"))
    (copy / "sys/class/net/enp2s0/address").write_text("A0:36:9f:12:34:56\n")
    folder = copy / "sys/bus/pci/devices/0000:02:00.0"
    (folder / "subsystem_vendor").write_text("0x8086\n")
    (folder / "subsystem_device").write_text("0x0000\n")
    (folder / "revision").write_text("0x04\n")
    kernel = copy / "proc/sys/kernel"
    kernel.mkdir(parents=True)
    (kernel / "osrelease").write_text("6.8.0-45-generic\n")
    (copy / "commands/ethtool_-k_enp2s0.txt").write_text(
        "Features for enp2s0:\nrx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\n"
    )
    return copy


def test_a_nic_is_described(linerate, host, tmp_path):
    done = linerate("nic", "report", "02:00.0", "--root", str(host))
    assert (done.returncode, done.stderr) == (0, "")
    (path,) = tmp_path.glob("nic-*.json")
    assert path.name == "nic-0000-02-00.0.json"
    document = result_of(path.read_text())
    assert done.stdout.splitlines() == [*document["summary"], f"written to {path.name}"]
    assert document["summary"][:3] == [
        "NIC: I226-V (8086:125c, subsystem 8086:0000) at 0000:02:00.0",
        "driver: igc 6.8.0-45-generic",
        "firmware: 2017:888d",
    ]
    assert document["pci"]["revision"] == "0x04"
    assert document["offloads"] == {"rx-checksumming": "on", "tx-checksum-ipv4": "off [fixed]"}
    assert document["link"]["oui"] == "A0:36:9f"
    assert document["host"]["kernel"] == "6.8.0-45-generic"
    assert document["host"]["iommu_group"] == "15"
    assert document["probe"] is None


def test_no_address_is_given_away(linerate, host, tmp_path):
    probed = tmp_path / "probe.json"
    rule = "eth dst is 02:aa:bb:01:02:03 / ipv4"
    probed.write_text(json.dumps({"port": "0000:02:00.0", "table": [{rule: [rule]}]}))
    done = linerate(
        "nic", "report", "enp2s0", "--root", str(host), "--probe", str(probed), "--json"
    )
    document = result_of(done.stdout)
    cut = "eth dst is 02:aa:bb:xx:xx:xx / ipv4"
    assert document["probe"] == {"port": "0000:02:00.0", "table": [{cut: [cut]}]}
    assert not MAC.search(done.stdout)
    assert "nic probe: included" in document["summary"]
    assert list(tmp_path.glob("nic-*.json")) == []


def test_a_nic_that_dpdk_has(linerate):
    done = linerate("nic", "report", "05:00.0", "--root", str(HOSTS / "box-n6005"), "--json")
    document = result_of(done.stdout)
    assert document["driver"] == {"driver": "vfio-pci"}
    assert "firmware: unknown: no kernel driver has the NIC" in document["summary"]
    assert "link: unknown, DPDK has the NIC" in document["summary"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("99:00.0",), "'99:00.0': no such NIC"),
        (("02:00.0", "--probe", "none.json"), "--probe: none.json: no such file"),
        (("02:00.0", "--probe", "text"), "--probe: text: expected what nic probe --json printed"),
        (("02:00.0", "--output", "text"), "text: file exists; name another with --output"),
    ],
)
def test_mistakes_are_one_line(linerate, host, tmp_path, arguments, text):
    (tmp_path / "text").write_text("{")
    done = linerate("nic", "report", *arguments, "--root", str(host))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert text in line
    assert (tmp_path / "text").read_text() == "{"
