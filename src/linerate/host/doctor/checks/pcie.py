"""PCIe between card and memory: IOMMU, lanes, payload, read requests, NUMA node."""

from linerate.base.line_rate import PcieLink, line_rate
from linerate.host.doctor.checks import Form, check, check_nic
from linerate.host.doctor.cpus import cpu_list, node_of_cpus, parameter
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.lspci import requests
from linerate.host.doctor.nics import PCI, Nic, lanes_of, speed_of
from linerate.host.doctor.virtual import cpu_flags, hypervisor
from linerate.model.findings import Finding
from linerate.parsers.files import evidence_of_text
from linerate.parsers.text import text_of

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


#: Published rate of a box with a card in half of its lanes.
_PUBLISHED = "an 82599ES in x4 forwarded 12.9 of 20 Gb/s in B1"


@check_nic("pcie link", order=50, form=Form.BOTH)
def pcie_link(look: Look, nic: Nic) -> Finding | None:
    """Once a card: its functions share the link."""
    ports = [other for other in look.nics if other.card == nic.card]
    if nic is not ports[0] or nic.ids.startswith("1af4"):
        return None
    now, able = _in_sysfs(look, nic) or _in_dmesg(look, nic)
    narrow = now.lanes < able.lanes or now.gigatransfers < able.gigatransfers
    need = sum(port.port_bps or 0.0 for port in ports)
    heavy = narrow and now.data_bps < need
    return Finding(
        check="pcie link",
        state="fault" if narrow else "ok",
        found=_words(now),
        wanted=_words(able),
        why=_why(now, ports[0].port_bps, len(ports)) if narrow else "",
        source="GT/s × lanes × encoding, TLPs of 256 B; tests/data/loadtests.csv" if narrow else "",
        advice=f"Put it into a slot with x{able.lanes} at {able.gigatransfers:g} GT/s from the CPU."
        if narrow
        else "",
        heavy=heavy,
    )


def _words(link: PcieLink) -> str:
    return f"{link.gigatransfers:g} GT/s x{link.lanes} ({link.data_bps / 1e9:.1f} Gb/s)"


def _why(now: PcieLink, port_bps: float | None, ports: int) -> str:
    small = now.usable(64).packets_per_second
    message = f"Of 64-byte frames {small / 1e6:.1f} Mpps fit through, in each direction"
    if port_bps is None:
        return f"{message}; {_PUBLISHED}."
    line = ports * line_rate(port_bps, 64).packets_per_second
    of = f"{ports} port{'s' * (ports > 1)} at {port_bps / 1e9:g} Gb/s"
    return f"{message}, and {of} carry {line / 1e6:.1f}; {_PUBLISHED}."


def _in_sysfs(look: Look, nic: Nic) -> tuple[PcieLink, PcieLink] | None:
    folder = f"{PCI}/{nic.address}"
    links = []
    for which in ("current", "max"):
        speed = speed_of(look.host.read(f"{folder}/{which}_link_speed"))
        lanes = lanes_of(look.host.read(f"{folder}/{which}_link_width"))
        if speed is None or lanes is None:
            return None
        links.append(PcieLink(speed, lanes))
    return links[0], links[1]


def _in_dmesg(look: Look, nic: Nic) -> tuple[PcieLink, PcieLink]:
    """The kernel's messages when it detected the card."""
    text = None if look.hurried else look.host.output("dmesg")
    message = evidence_of_text(text_of(text, "dmesg")) if text else None
    for link in message.pcie if message else ():
        speeds = (link.gigatransfers, link.capable_gigatransfers)
        lanes = (link.lanes, link.capable_lanes)
        if link.device == nic.address and all(speeds) and all(lanes):
            return (
                PcieLink(speeds[0] or 0.0, lanes[0] or 0),
                PcieLink(speeds[1] or 0.0, lanes[1] or 0),
            )
    raise UnknownError("neither sysfs (current_link_speed and its kin) nor dmesg says")


_PAYLOAD_BYTES = 256


@check_nic("pcie payload", order=51)
def pcie_payload(look: Look, nic: Nic) -> Finding | None:
    """Compare what is set with 256 bytes, if the card can do that."""
    if nic.ids.startswith("1af4"):
        return None
    found = requests(look.host, nic.address)
    bad = found.max_payload < min(_PAYLOAD_BYTES, found.capable_payload)
    small, large = (
        PcieLink(8.0, 8, size).frame_bytes_on_link(1518) for size in (found.max_payload or 128, 256)
    )
    return Finding(
        check="pcie payload",
        state="fault" if bad else "ok",
        found=f"{found.max_payload} B of {found.capable_payload}",
        wanted=f"{min(_PAYLOAD_BYTES, found.capable_payload)} B or more",
        why=f"A frame of 1518 bytes takes {small:.0f} bytes of the link instead of {large:.0f}."
        if bad
        else "",
        source="24 bytes of overhead a TLP: R. Neugebauer et al., SIGCOMM 2018",
        boot="pci=pcie_bus_perf" if bad else "",
    )


_FAST_BPS = 25e9


@check_nic("pcie read", order=51)
def pcie_read(look: Look, nic: Nic) -> Finding | None:
    """512 bytes will do up to 10 GbE; faster cards want 1024."""
    if nic.ids.startswith("1af4"):
        return None
    found = requests(look.host, nic.address)
    wanted = 1024 if (nic.port_bps or 0.0) >= _FAST_BPS else 512
    bad = found.max_read < wanted
    # Bits 14 to 12 of Device Control (PCI Express Base Specification, 7.5.3.4): 128 << value.
    code = (wanted // 128).bit_length() - 1
    return Finding(
        check="pcie read",
        state="fault" if bad else "ok",
        found=f"requests of {found.max_read} B",
        wanted=f"{wanted} B",
        why="To send, the card fetches frames with read requests; smaller ones wait more often for "
        "an answer.",
        source="NVIDIA's DPDK performance reports (fast.dpdk.org) set 1024",
        fix=(f"sudo setpci -s {nic.address} CAP_EXP+8.w={code << 12:x}:7000",) if bad else (),
    )


@check_nic("numa", order=52, form=Form.BOTH)
def numa(look: Look, nic: Nic) -> Finding | None:
    """Compare the card's node with the workers'."""
    nodes = node_of_cpus(look.host)
    if len(set(nodes.values())) < 2 or nic.numa_node is None:
        return None
    far = [cpu for cpu in look.workers if nodes.get(cpu, nic.numa_node) != nic.numa_node]
    near = sorted(cpu for cpu, node in nodes.items() if cpu and node == nic.numa_node)
    # Default workers may be there for another card; then some on its node suffice.
    bad = bool(far) and (look.workers_given or len(far) == len(look.workers))
    return Finding(
        check="numa",
        state="fault" if bad else "ok",
        found=f"card on node {nic.numa_node}, workers {cpu_list(far)} on "
        f"{', '.join(str(node) for node in sorted({nodes[cpu] for cpu in far}))}"
        if far
        else f"card and workers on node {nic.numa_node}",
        wanted=f"workers on node {nic.numa_node}: CPUs {cpu_list(near)}",
        why="Each frame crosses between the sockets. A card near to every CPU had up to 2.7 "
        "times the throughput.",
        source="I. Smolyar et al., 'IOctopus: Outsmarting Nonuniform DMA', ASPLOS 2020",
        advice=f"In the testbed file cpus: [{', '.join(map(str, near[:2]))}]; in VPP's "
        f"startup.conf corelist-workers {cpu_list(near[:2])}.",
        heavy=bad,
    )
