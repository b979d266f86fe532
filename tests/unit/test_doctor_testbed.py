"""`linerate doctor TESTBED`: what the ports of a testbed need, on made hosts."""

import json
from pathlib import Path

import pytest
import yaml
from tests.command import result_of
from tests.unit.made_sysfs import PAGES, MadeHost
from typer.testing import CliRunner

from linerate.cli.app import app
from linerate.cli.commands import doctor
from linerate.host.doctor import Host, PortNeeds, examine, look_at, repairing
from linerate.host.doctor.nic_use import uses
from linerate.host.doctor.nics import PCI
from linerate.model.findings import Bind

A, B, C = "0000:02:00.0", "0000:02:00.1", "0000:03:00.0"
ADDRESSES = ("ip", "-j", "address", "show")


@pytest.fixture
def host(tmp_path, monkeypatch):
    made = MadeHost(tmp_path / "host")
    monkeypatch.setattr(repairing, "_put", lambda to, path, value: to.put(path, value))
    return made


def write(host, path, text):
    file = host.at(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def findings(host, *addresses, check="binding"):
    looked = look_at(host, needs=PortNeeds(addresses=addresses or (A,)))
    return [one for one in examine(looked) if one.check == check]


def binding(host, *addresses):
    return findings(host, *addresses)[0]


def test_behind_an_iommu_vfio_takes_the_card(host):
    host.add(A, group=7, interface="eth1")
    found = binding(host)
    assert (found.state, found.wanted) == ("fault", "vfio-pci")
    assert found.found == "I226-V with igc, IOMMU group 7"
    assert found.repair == (Bind(address=A, driver="vfio-pci"),)
    repairing.apply(host, found.repair)
    assert host.target(f"{PCI}/{A}/driver") == "vfio-pci"
    assert binding(host).state == "ok"


def test_without_an_iommu_uio_takes_the_card(host):
    host.add(A, interface="eth1")
    found = binding(host)
    assert (found.state, found.wanted) == ("fault", "uio_pci_generic")
    assert found.found == "I226-V with igc, no IOMMU"
    assert found.fix == (
        "sudo modprobe uio_pci_generic",
        f"sudo dpdk-devbind.py -b uio_pci_generic {A}",
    )
    repairing.apply(host, found.repair)
    assert host.target(f"{PCI}/{A}/driver") == "uio_pci_generic"
    assert binding(host).state == "ok"


def test_vfio_without_an_iommu_is_right_where_the_kernel_was_built_for_it(host):
    host.add(A, "vfio-pci")
    assert binding(host).state == "fault"
    write(host, "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n")
    assert binding(host).state == "ok"


def test_uio_behind_an_iommu_that_translates_is_wrong(host):
    host.add(A, "uio_pci_generic", group=7)
    assert binding(host).wanted == "vfio-pci"
    write(host, "/sys/kernel/iommu_groups/7/type", "identity\n")
    assert binding(host).state == "ok"


@pytest.mark.parametrize(
    ("system", "release", "package"),
    [
        ("debian", "6.1.0-31-cloud-amd64", "install linux-image-amd64 and restart into it"),
        ("ubuntu", "6.8.0-40-generic", "install linux-modules-extra-6.8.0-40-generic"),
        ("debian", "6.18.44-own", "install the package of the kernel's extra modules"),
        ("fedora", "6.11.4-301.fc41.x86_64", "install the package of the kernel's extra modules"),
    ],
)
def test_a_module_that_is_missing_has_its_package_named(host, system, release, package):
    host.add(A, interface="eth1")
    for file in host.at("/sys/bus/pci/drivers/uio_pci_generic").iterdir():
        file.unlink()
    host.at("/sys/bus/pci/drivers/uio_pci_generic").rmdir()
    assert binding(host).repair
    write(host, "/etc/os-release", f'ID="{system}"\n')
    write(host, "/proc/sys/kernel/osrelease", release + "\n")
    write(host, f"/lib/modules/{release}/modules.dep", "kernel/net/8021q/8021q.ko.xz:\n")
    found = binding(host)
    assert found.repair == found.fix == ()
    assert found.advice == (
        f"Not bound: kernel {release} has no module uio_pci_generic: {package}."
    )


def test_all_of_a_group_are_bound(host):
    host.add(A, group=7, interface="eth1")
    host.add(B, group=7, interface="eth2")
    host.add("0000:00:1c.0", "pcieport", group=7, kind="0x060400")
    found = binding(host, A)
    assert found.wanted == f"vfio-pci, with {B} of its group"
    assert {one.address for one in found.repair} == {A, B}
    before = host.look()
    repairing.apply(host, found.repair)
    assert [one.state for one in findings(host, A, B)] == ["ok", "ok"]
    repairing.undo(host)
    assert host.look() == before


def test_half_of_a_group_with_vfio_is_not_right(host):
    host.add(A, "vfio-pci", group=7)
    host.add(B, group=7, interface="eth2")
    assert binding(host, A).repair
    host.put("/sys/bus/pci/drivers/igc/unbind", B)
    assert binding(host, A).state == "ok"


@pytest.mark.parametrize(
    ("kind", "driver", "message"),
    [
        ("0x010802", "nvme", "by nvme, and it is no NIC"),
        ("0x020000", "igc", "the default route is over eth9, eth9 has address 192.0.2.7"),
    ],
)
def test_a_group_that_the_host_needs_is_left_alone(host, kind, driver, message):
    host.add(A, group=7, interface="eth1")
    host.add(B, driver, group=7, kind=kind, interface="eth9" * (driver == "igc"))
    write(
        host,
        "/proc/net/route",
        "Iface\tDestination\neth9\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n",
    )
    host.answers[ADDRESSES] = json.dumps(
        [{"ifname": "eth9", "addr_info": [{"local": "192.0.2.7"}]}]
    )
    found = binding(host, A)
    assert found.repair == found.fix == ()
    assert found.advice == f"Not bound: {B} of the same IOMMU group (7) is in use: {message}."


def test_uses_are_named(host):
    host.add(A, interface="eth1")
    assert uses(host, A) == ()
    write(
        host,
        "/proc/net/route",
        "Iface\tDestination\neth1\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n",
    )
    host.answers[ADDRESSES] = json.dumps(
        [
            {"ifname": "eth1", "addr_info": [{"local": "192.0.2.7"}, {"local": "fe80::1"}]},
            {"ifname": "eth2", "addr_info": [{"local": "192.0.2.8"}]},
        ]
    )
    row = "0: 070200C0:0016 010200C0:D431 01 0 0 0\n"
    write(host, "/proc/net/tcp", row + row.replace(" 01 ", " 06 ") + row.replace(":0016", ":0050"))
    mapped = row.replace("070200C0", "0000000000000000FFFF0000070200C0")
    write(host, "/proc/net/tcp6", mapped)
    write(host, "/sys/class/net/eth1/upper_eth1.5/ifindex", "5")
    host.at("/sys/class/net/eth1/master").symlink_to("../br0")
    host.forget()
    assert uses(host, A) == (
        "the default route is over eth1",
        "eth1 has address 192.0.2.7",
        "2 ssh sessions over eth1",
        "eth1 is part of br0",
        "eth1.5 is on eth1",
    )
    found = binding(host)
    assert found.repair == ()
    assert found.advice.startswith("Not bound: the host uses it: the default route is over eth1, ")
    (use,) = findings(host, A, check="host use")
    assert use.state == "fault"


def test_a_port_that_no_nic_is_at(host):
    host.add(A)
    (found,) = findings(host, A, "0000:99:00.0", check="ports")
    assert (found.state, found.found) == ("fault", "no NIC at 0000:99:00.0")
    assert findings(host, A, check="ports")[0].state == "ok"


# ---- the command


@pytest.fixture
def command(host, monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "_host", lambda *_: host)
    bed = tmp_path / "bed.yaml"
    bed.write_text(
        yaml.safe_dump(
            {
                "wire": "ethdev",
                "link": "10G",
                "memory": {"megabytes": 1024},
                "tester": {"ports": [{"device": "02:00.0"}, {"device": "0000:02:00.1"}]},
                "dut": {
                    "kind": "external",
                    "macs": ["02:aa:00:00:00:01", "02:aa:00:00:00:02"],
                },
            }
        )
    )

    def run(*arguments):
        return CliRunner().invoke(app, ["doctor", *arguments])

    return lambda *arguments: run(str(bed), *arguments)


def test_a_testbed_is_made_ready_and_all_taken_back(host, command):
    host.add(A, group=7, interface="eth1")
    host.add(B, group=8, interface="eth2")
    host.add(C, group=9, interface="eth3")
    before = host.look()
    done = command("--fix", "--yes", "--json")
    known = {each["check"]: each for each in result_of(done.stdout)["findings"]}
    # One engine: 1024 of packets and 64 of EAL's.
    assert known["hugepages"]["found"] == "1,088 MiB free"
    assert known["binding"]["state"] == known["ports"]["state"] == "ok"
    assert host.read(f"{PAGES}/nr_hugepages") == "544"
    drivers = [host.target(f"{PCI}/{address}/driver") for address in (A, B, C)]
    assert drivers == ["vfio-pci", "vfio-pci", "igc"]
    back = command("--undo")
    assert back.exit_code == 0
    assert host.look() == before


def test_a_testbed_with_mistakes(host, command, tmp_path):
    Path(tmp_path / "bed.yaml").write_text("wire: rope\n")
    done = command()
    assert done.exit_code == 2
    assert "wire: expected one of" in done.stderr
    Path(tmp_path / "bed.yaml").write_text("wire: card\n")
    assert command("--nic", "02:00.0").exit_code == 2


def test_a_testbed_without_nics_has_none_looked_at(host, command, tmp_path):
    host.add(A, interface="eth1")
    Path(tmp_path / "bed.yaml").write_text("wire: memif\ndut: {mode: io}\n")
    known = result_of(command("--json").stdout)["findings"]
    assert [each["wanted"] for each in known if each["check"] == "hugepages"] == ["1,152 MiB free"]
    assert "binding" not in {each["check"] for each in known}


def test_a_recorded_host_needs_no_command_for_addresses():
    recorded = Host(Path(__file__).parents[1] / "data" / "hosts" / "box-i226")
    assert uses(recorded, "0000:01:00.0") == ("the default route is over enp1s0",)
