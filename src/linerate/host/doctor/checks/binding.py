"""The driver of a card, and the one that DPDK needs."""

from dataclasses import dataclass

from linerate.host.doctor.checks import Form, check_nic
from linerate.host.doctor.findings import Bind, Finding
from linerate.host.doctor.host_view import Host
from linerate.host.doctor.iommu_group import VFIO, Group, group_of
from linerate.host.doctor.look import Look
from linerate.host.doctor.modules import available, package, release
from linerate.host.doctor.nic_use import uses
from linerate.host.doctor.nics import PCI, Nic

UIO = "uio_pci_generic"
_KERNEL_DRIVERS = {"15b3:1003": "mlx4_core", "15b3:1007": "mlx4_core"}
_NO_IOMMU = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The driver that a card should have."""

    driver: str
    right: bool
    why: str
    source: str
    #: Devices that must get it together.
    devices: tuple[str, ...]
    #: Criterion of the choice: an IOMMU, or none.
    place: str = ""
    refusal: str = ""


@check_nic("binding", order=40, form=Form.BOTH)
def binding(look: Look, nic: Nic) -> Finding:
    """Bifurcated cards stay with the kernel's driver; others go to vfio-pci or, bare, to UIO."""
    wanted = _of_kernel(nic) if nic.bifurcated else _of_dpdk(look.host, nic)
    refusal = "" if wanted.right else _refusal(look, nic, wanted)
    others = [device for device in wanted.devices if device != nic.address]
    binds = tuple(Bind(address=device, driver=wanted.driver) for device in wanted.devices)
    return Finding(
        check="binding",
        state="ok" if wanted.right else "fault",
        found=f"{nic.model} with {nic.driver or 'no driver'}{wanted.place}",
        wanted=wanted.driver + (f", with {', '.join(others)} of its group" if others else ""),
        why=wanted.why,
        source=wanted.source,
        fix=() if refusal else _commands(nic, wanted),
        advice=refusal and f"Not bound: {refusal}.",
        repair=() if refusal or look.hurried else binds,
    )


def _of_kernel(nic: Nic) -> _Wanted:
    driver = _KERNEL_DRIVERS.get(nic.ids, "mlx5_core") if nic.ids[:4] == "15b3" else nic.driver
    return _Wanted(
        driver=driver,
        right=nic.driver == driver,
        why="DPDK's driver works beside the kernel's; bound to another, the card is lost to it.",
        source="DPDK, guides/platform/mlx5 and guides/linux_gsg/linux_drivers, 'Bifurcated Driver'",
        devices=(nic.address,),
    )


def _of_dpdk(host: Host, nic: Nic) -> _Wanted:
    group = group_of(host, nic.address)
    return _bare(host, nic) if group is None else _behind_iommu(host, nic, group)


def _behind_iommu(host: Host, nic: Nic, group: Group) -> _Wanted:
    # UIO maps no memory for the card: that works where the IOMMU passes all through.
    passed = host.read(f"/sys/kernel/iommu_groups/{group.number}/type") == "identity"
    uio = nic.driver in (UIO, "igb_uio") and passed
    alone = all(host.target(f"{PCI}/{device}/driver") in (None, VFIO) for device in group.to_bind)
    return _Wanted(
        driver=VFIO,
        right=uio or (nic.driver == VFIO and alone),
        why="DPDK cannot take the card from its kernel driver; frames through af_packet instead "
        "cost a system call a batch.",
        source="DPDK, guides/linux_gsg/linux_drivers, 'VFIO'",
        devices=group.to_bind,
        place=f", IOMMU group {group.number}",
        refusal=group.refusal,
    )


def _bare(host: Host, nic: Nic) -> _Wanted:
    """Without an IOMMU VFIO needs a kernel with VFIO_NOIOMMU; UIO is in all distributions."""
    allowed = (host.read(_NO_IOMMU) or "").startswith(("Y", "1"))
    return _Wanted(
        driver=UIO,
        right=nic.driver in (UIO, "igb_uio") or (nic.driver == VFIO and allowed),
        why="No IOMMU has the card: vfio-pci refuses it unless the kernel was built with "
        "VFIO_NOIOMMU, which Debian's is not. The card then reaches all of the memory.",
        source="DPDK, guides/linux_gsg/linux_drivers, 'UIO'",
        devices=(nic.address,),
        place=", no IOMMU",
    )


def _refusal(look: Look, nic: Nic, wanted: _Wanted) -> str:
    """Why it is not bound, in a line; a short look asks no command for it."""
    if look.hurried:
        return ""
    if used := uses(look.host, nic.address):
        return f"the host uses it: {', '.join(used)}"
    if wanted.refusal:
        return wanted.refusal
    if available(look.host, wanted.driver) is False:
        return f"kernel {release(look.host)} has no module {wanted.driver}: {package(look.host)}"
    return ""


def _commands(nic: Nic, wanted: _Wanted) -> tuple[str, ...]:
    if wanted.right:
        return ()
    load = f"sudo modprobe {wanted.driver}"
    if nic.bifurcated and not nic.driver:
        return (load,)
    return (load, f"sudo dpdk-devbind.py -b {wanted.driver} {' '.join(wanted.devices)}")
