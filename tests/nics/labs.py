"""NICs of a guest: of one model, wired in pairs, and DPDK's access to them."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Made by `build-aux/nics-image`.
IMAGE = ROOT / "build" / "nics"
#: Models of QEMU, with their settings behind an IOMMU.
MODELS = {
    "e1000e": "e1000e",
    "vmxnet3": "vmxnet3",
    "virtio-net": "virtio-net-pci,disable-legacy=on,iommu_platform=on",
    "igb": "igb",
}
#: Linux drivers of each.
KERNEL_DRIVERS = {
    "e1000e": "e1000e",
    "vmxnet3": "vmxnet3",
    "virtio-net": "virtio-pci",
    "igb": "igb",
}
NIC_DRIVERS = ("vfio-pci", "uio_pci_generic")
#: In the order of a guest's PCI buses: each tester's port is wired to the device's.
PORTS = ("t0", "t1", "d0", "d1")
WIRED = (("t0", "d0"), ("t1", "d1"))


@dataclass(frozen=True)
class Lab:
    """A guest's NICs."""

    model: str
    driver: str

    def __str__(self) -> str:
        return f"{self.model}-{self.driver}"

    @property
    def iommu(self) -> bool:
        """Whether the guest has one: vfio-pci asks for it, a driver without it must not have it."""
        return self.driver == "vfio-pci"

    @property
    def kernel_words(self) -> str:
        return "intel_iommu=on" if self.iommu else ""

    @property
    def devices(self) -> list[str]:
        """Words for QEMU: all NICs in one guest."""
        hubs = {port: number for number, pair in enumerate(WIRED) for port in pair}
        wires = {port: f"hubport,hubid={hub}" for port, hub in hubs.items()}
        return self._plugged(wires)

    def part(self, ports: tuple[str, ...], folder: Path) -> list[str]:
        """Words for QEMU: some of the NICs; another guest has those at the wires' other ends.

        A wire is a pair of UNIX sockets in the folder.
        """
        other = {port: pair[1 - i] for pair in WIRED for i, port in enumerate(pair)}
        wires = {
            port: f"dgram,local.type=unix,local.path={folder}/{port},"
            f"remote.type=unix,remote.path={folder}/{other[port]}"
            for port in ports
        }
        return self._plugged(wires)

    def _plugged(self, wires: dict[str, str]) -> list[str]:
        """The bus behind each root port is there without its NIC, too: addresses stay."""
        words = ["-device", "intel-iommu"] if self.iommu else []
        for number, port in enumerate(PORTS):
            bus = f"port-{port}"
            words += [
                "-device",
                f"pcie-root-port,id={bus},chassis={number + 1},addr={number + 8:#x}",
            ]
            if port in wires:
                words += [
                    *("-netdev", f"{wires[port]},id=net-{port}"),
                    "-device",
                    f"{MODELS[self.model]},id={port},bus={bus},netdev=net-{port},"
                    f"mac={mac(port)},romfile=",
                ]
        return words


def mac(port: str) -> str:
    """The address that the NIC itself has."""
    return f"52:54:00:00:00:{PORTS.index(port) + 1:02x}"


def address(port: str) -> str:
    """The PCI address: the first bus behind the root ports is the first port's."""
    return f"0000:{PORTS.index(port) + 1:02x}:00.0"


def device_of(model: str) -> str:
    """The device as QEMU calls it."""
    return MODELS[model].split(",")[0]


def qemu_with(model: str) -> tuple[str, ...]:
    """A QEMU that has the model; some releases of distributions are too old for one."""
    command = [str(ROOT / "build-aux" / "nics-qemu"), str(IMAGE), device_of(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return tuple(done.stdout.split())
