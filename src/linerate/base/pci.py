"""PCI addresses, `0000:05:00.0` or `05:00.0` in domain 0, and which driver has a device."""

import os
import re
from pathlib import Path

#: $LINERATE_SYSFS is a copy of /sys, for tests.
DEVICES = Path(os.environ.get("LINERATE_SYSFS", "/sys")) / "bus/pci/devices"
#: Drivers that DPDK takes a device from, and those beside which its own works.
FOR_DPDK = ("vfio-pci", "igb_uio", "uio_pci_generic")
BESIDE_DPDK = ("mlx5_core", "mlx4_core", "mana")
_ADDRESS = re.compile(r"([0-9a-f]{1,8}:)?[0-9a-f]{1,2}:[0-9a-f]{1,2}\.[0-7]", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Whether a device's name is the address of one on PCI."""
    return _ADDRESS.fullmatch(text) is not None


def full_address(text: str) -> str:
    """Write an address as the kernel does: `0000:05:00.0`."""
    *domain, bus, rest = text.lower().split(":")
    return f"{(domain or ['0'])[0]:0>4}:{bus:0>2}:{rest:0>4}"


def normalised(name: str) -> str:
    """An address with its domain, as sysfs and DPDK have it: `01:00.0` is `0000:01:00.0`.

    Other names stay as they are.
    """
    return full_address(name) if is_address(name) else name


def why_not_dpdk(name: str, devices: Path = DEVICES) -> str:
    """Why DPDK can't use a PCI device, in words; nothing when it can, or for other devices."""
    address = normalised(name)
    if not is_address(address):
        return ""
    if not (devices / address).exists():
        return f"there is no PCI device {address}"
    link = devices / address / "driver"
    driver = link.resolve().name if link.exists() else ""
    if driver in (*FOR_DPDK, *BESIDE_DPDK):
        return ""
    return (
        f"PCI device {address} is with the kernel's {driver}"
        if driver
        else (f"PCI device {address} has no driver")
    )


def remedy(problem: str) -> str:
    """Remedy for a device that DPDK can't use."""
    if problem.startswith("there is no"):
        return "mend the address; `linerate doctor` lists the cards"
    return "`linerate doctor TESTBED --fix` gives it to vfio-pci"
