"""PCI addresses, `0000:05:00.0` or `05:00.0` in domain 0, and which driver has a device."""

import os
import re
from pathlib import Path

#: $LINERATE_SYSFS is a copy of /sys, for tests.
_SYSFS = Path(os.environ.get("LINERATE_SYSFS", "/sys"))
DEVICES = _SYSFS / "bus/pci/devices"
INTERFACES = _SYSFS / "class/net"
#: Drivers that DPDK takes a device from, and those beside which its own works.
FOR_DPDK = ("vfio-pci", "igb_uio", "uio_pci_generic")
BESIDE_DPDK = ("mlx5_core", "mlx4_core", "mana")
#: A device that DPDK makes itself begins with its driver: `net_ring0`, `eth_af_packet0`.
_VIRTUAL = re.compile(r"[a-z][a-z0-9]*_")
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


def check_device(name: str, interfaces: Path = INTERFACES) -> str:
    """Return the name as DPDK has it; raises ValueError for that of a kernel's interface."""
    if is_address(name) or _VIRTUAL.match(name):
        return normalised(name)
    device = interfaces / name / "device"
    # A kernel's name for an interface is no path.
    address = device.resolve().name if "/" not in name and device.exists() else ""
    found = f": the address of {name} is {address}" if is_address(address) else ""
    raise ValueError(
        "expected a PCI address as 0000:05:00.0, or a device of DPDK's as net_af_packet0, "
        f"not '{name}'{found or '; `linerate doctor` lists the addresses of cards'}"
    )


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
