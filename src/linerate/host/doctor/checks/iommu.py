"""The IOMMU: what vfio-pci needs, and what costs a kernel's driver."""

from linerate.host.doctor.checks import check
from linerate.host.doctor.cpus import parameter
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import PCI, Nic
from linerate.host.doctor.virtual import cpu_flags, hypervisor

_GROUPS = "/sys/kernel/iommu_groups"


@check("iommu", order=41)
def iommu(look: Look) -> Finding:
    """Look for groups, and whether they translate for cards that the kernel drives."""
    groups = look.host.names(_GROUPS)
    if not groups:
        return _off(look)
    translated = [nic for nic in look.nics if nic.bifurcated and _translates(look, nic)]
    return Finding(
        check="iommu",
        state="fault" if translated else "ok",
        found=f"on, translating for {', '.join(nic.address[5:] for nic in translated[:3])}"
        if translated
        else f"on, {len(groups)} groups",
        wanted="on, passed through (iommu=pt)",
        why="Misses of its TLB cost up to 20 % of the throughput at 200 Gb/s.",
        source="A. Farshin et al., 'Overcoming the IOTLB wall', PeerJ CS 2023; DPDK, "
        "guides/nics/mlx5, 'Performance tuning'",
        boot="iommu=pt" if translated else "",
    )


def _translates(look: Look, nic: Nic) -> bool:
    group = look.host.target(f"{PCI}/{nic.address}/iommu_group")
    kind = look.host.read(f"{_GROUPS}/{group}/type") if group else None
    if kind is None:
        return group is not None and parameter(look.host, "iommu") != "pt"
    return kind.startswith("DMA")


def _off(look: Look) -> Finding:
    """Without it vfio-pci has no safe way to let a card into memory."""
    need = [nic for nic in look.nics if not nic.bifurcated]
    if not look.host.at("/sys/kernel").is_dir():
        raise UnknownError(f"{_GROUPS}: {look.host.trouble(_GROUPS)}")
    amd = "svm" in cpu_flags(look.host) or "topoext" in cpu_flags(look.host)
    boot = "iommu=pt" if amd else "intel_iommu=on iommu=pt"
    return Finding(
        check="iommu",
        state="note" if need else "ok",
        found="off" + (": no card needs it" if not need else ""),
        wanted="on, passed through (iommu=pt)",
        why="A card that DPDK has without it reaches all of the memory; vfio-pci takes it in its "
        "unsafe mode only, uio_pci_generic always.",
        source="DPDK, guides/linux_gsg/linux_drivers, 'VFIO no-IOMMU mode', 'UIO'",
        boot="" if hypervisor(look.host) else boot,
    )
