"""Which driver has a card, and which one DPDK needs."""

from linerate.doctor.checks import Form, check_nic
from linerate.doctor.host import Host
from linerate.doctor.look import Look
from linerate.doctor.model import Bind, Finding
from linerate.doctor.nics import FOR_DPDK, PCI, Nic

_KERNEL_DRIVERS = {"15b3:1003": "mlx4_core", "15b3:1007": "mlx4_core"}


@check_nic("binding", order=40, form=Form.BOTH)
def binding(look: Look, nic: Nic) -> Finding:
    """Bifurcated cards stay with the kernel's driver; others go to vfio-pci."""
    if nic.bifurcated:
        wanted = _KERNEL_DRIVERS.get(nic.ids, "mlx5_core") if nic.ids[:4] == "15b3" else nic.driver
        right = nic.driver == wanted
        why = "DPDK's driver works beside the kernel's; bound to another, the card is lost to it."
        source = (
            "DPDK, guides/platform/mlx5 and guides/linux_gsg/linux_drivers, 'Bifurcated Driver'"
        )
        fix: tuple[str, ...] = (f"sudo modprobe {wanted}",)
        if nic.driver:
            fix = (*fix, f"sudo dpdk-devbind.py -b {wanted} {nic.address}")
    else:
        wanted, right = "vfio-pci", nic.driver in FOR_DPDK
        why = (
            "DPDK cannot take the card from its kernel driver; frames through af_packet instead "
            "cost a system call a batch."
        )
        source = "DPDK, guides/linux_gsg/linux_drivers, 'VFIO'"
        fix = (f"sudo modprobe {wanted}", f"sudo dpdk-devbind.py -b {wanted} {nic.address}")
    return Finding(
        check="binding",
        state="ok" if right else "fault",
        found=f"{nic.model} with {nic.driver or 'no driver'}",
        wanted=wanted,
        why=why,
        source=source,
        fix=() if right else fix,
        repair=(Bind(address=nic.address, driver=wanted),)
        if not right and not nic.used_by_host and alone_in_group(look.host, nic.address)
        else (),
    )


def alone_in_group(host: Host, address: str) -> bool:
    """Whether VFIO can take a card safely: behind an IOMMU, no other device in its group."""
    group = host.target(f"{PCI}/{address}/iommu_group")
    return group is not None and host.names(f"/sys/kernel/iommu_groups/{group}/devices") == (
        address,
    )
