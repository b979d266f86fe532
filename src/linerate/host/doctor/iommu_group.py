"""IOMMU groups: VFIO takes all devices of a group, or none."""

from dataclasses import dataclass

from linerate.host.doctor.host_view import Host
from linerate.host.doctor.nic_use import uses
from linerate.host.doctor.nics import PCI, is_nic

VFIO = "vfio-pci"
#: Drivers that VFIO accepts beside it in a group, as they do no DMA of their own.
_HARMLESS = ("", VFIO, "pci-stub", "pcieport")
_BRIDGE = "0x0604"
#: Drivers that never get a device back to the host while DPDK has it.
_UIO = ("uio_pci_generic", "igb_uio")


@dataclass(frozen=True, slots=True)
class Group:
    """The IOMMU group of a device."""

    number: str
    #: Devices of it that VFIO must have, the one itself among them.
    to_bind: tuple[str, ...]
    #: Why they can't all be bound, one line; nothing when they can.
    refusal: str


def group_of(host: Host, address: str) -> Group | None:
    """Look at a device's group; None where no IOMMU has it."""
    number = host.target(f"{PCI}/{address}/iommu_group")
    if number is None:
        return None
    others = [
        other
        for other in host.names(f"/sys/kernel/iommu_groups/{number}/devices")
        if other != address and not _harmless(host, other)
    ]
    used = next(((other, use) for other in others if (use := _use(host, other))), None)
    refusal = f"{used[0]} of the same IOMMU group ({number}) is in use: {used[1]}" if used else ""
    return Group(number, tuple(sorted((address, *others))), refusal)


def _harmless(host: Host, address: str) -> bool:
    bridge = (host.read(f"{PCI}/{address}/class") or "").startswith(_BRIDGE)
    return bridge or (_known(host, address) and _driver(host, address) in _HARMLESS)


def _use(host: Host, address: str) -> str:
    """The host's use of a device of the group, in words."""
    if not _known(host, address):
        return "nothing says what it is"
    if is_nic(host, address):
        return ", ".join(uses(host, address))
    driver = _driver(host, address)
    return "" if driver in _UIO else f"by {driver}, and it is no NIC"


def _known(host: Host, address: str) -> bool:
    return host.read(f"{PCI}/{address}/class") is not None


def _driver(host: Host, address: str) -> str:
    return host.target(f"{PCI}/{address}/driver") or ""
