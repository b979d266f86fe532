"""NICs: ports of the testbed, drivers, link, firmware, queues, rings, pause frames."""

import re
from dataclasses import dataclass

from linerate.base.line_rate import line_rate
from linerate.base.pci import full_address
from linerate.host.doctor.checks import Form, check, check_nic
from linerate.host.doctor.ethtool import maximum_and_current
from linerate.host.doctor.host_view import Host, UnknownError
from linerate.host.doctor.iommu_group import VFIO, Group, group_of
from linerate.host.doctor.look import Look
from linerate.host.doctor.modules import available, package, release
from linerate.host.doctor.nic_use import uses
from linerate.host.doctor.nics import PCI, Nic
from linerate.model.findings import Bind, Finding


@check("ports", order=38)
def ports(look: Look) -> Finding | None:
    """Find each address."""
    if not look.needs.addresses:
        return None
    known = {nic.address for nic in look.nics}
    missing = [one for one in map(full_address, look.needs.addresses) if one not in known]
    return Finding(
        check="ports",
        state="fault" if missing else "ok",
        found=f"no NIC at {', '.join(missing)}" if missing else f"{len(known)} NICs",
        wanted="a NIC at each address",
        why="The engine cannot open what is not there.",
        source="the testbed file",
        fix=("lspci -D -d ::0200",),
    )


@check_nic("host use", order=39)
def host_use(look: Look, nic: Nic) -> Finding | None:
    """Look what a testbed's NIC is used for."""
    if not look.needs.addresses:
        return None
    used = uses(look.host, nic.address)
    return Finding(
        check="host use",
        state="fault" if used else "ok",
        found=", ".join(used) or "not used by the host",
        wanted="a NIC of its own",
        why="A NIC that DPDK takes is gone for the host: routes, addresses and sessions with it.",
        source="Linux, Documentation/driver-api/driver-model/binding.rst",
        advice="Name another port in the testbed file, or take these from it first." * bool(used),
    )


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


@check_nic("link", order=43, form=Form.BOTH)
def link(look: Look, nic: Nic) -> Finding | None:
    """Up, and as fast as the card can."""
    if not nic.interface:
        return None
    state = look.host.need(f"/sys/class/net/{nic.interface}/operstate")
    carrier = look.host.read(f"/sys/class/net/{nic.interface}/carrier")
    up = state == "up" or (state == "unknown" and carrier == "1")
    slow = bool(up and nic.speed_bps and nic.rated_bps and nic.speed_bps < nic.rated_bps)
    found = f"{state} at {nic.speed_bps / 1e9:g} Gb/s" if up and nic.speed_bps else state
    rated = f" at {nic.rated_bps / 1e9:g} Gb/s" if nic.rated_bps else ""
    fix: tuple[str, ...] = ()
    if not up:
        fix = (f"sudo ip link set {nic.interface} up",)
    elif slow:
        fix = (f"sudo ethtool -s {nic.interface} autoneg on",)
    return Finding(
        check="link",
        state="ok" if up and not slow else "fault",
        found=found[:60],
        wanted=f"up{rated}",
        why="No frame passes." if not up else "All rates are shares of the link's." if slow else "",
        fix=fix,
        advice="If that is not it: the cable, the module, the other end.",
        heavy=not up or slow,
    )


#: By the first number of a ConnectX's version (DPDK, guides/platform/mlx5, 'NVIDIA MLNX_OFED/EN').
_LEAST = {
    12: (12, 21, 1000),
    14: (14, 21, 1000),
    16: (16, 21, 1000),
    20: (20, 27, 90),
    22: (22, 27, 90),
    26: (26, 27, 90),
    28: (28, 33, 2028),
}


@check_nic("firmware", order=44)
def firmware(look: Look, nic: Nic) -> Finding | None:
    """Read what ethtool says; of cards without a known minimum it is shown only."""
    if not nic.interface or nic.ids.startswith("1af4"):
        return None
    text = look.host.need_output("ethtool", "-i", nic.interface)
    line = re.search(r"^firmware-version:[ \t]*(\S.*)$", text, re.MULTILINE)
    version = " ".join(line[1].split())[:40] if line else ""
    parts = re.match(r"(\d{1,3})\.(\d{1,3})\.(\d{1,5})", version, re.ASCII)
    number = tuple(int(part) for part in parts.groups()) if parts else ()
    least = _LEAST.get(number[0]) if number and nic.driver == "mlx5_core" else None
    bad = least is not None and number < least
    return Finding(
        check="firmware",
        state="fault" if bad else "ok",
        found=version or "none named",
        wanted="{}.{}.{:04} or newer".format(*least) if least else "",
        why="DPDK's mlx5 driver is not tested with older ones." if bad else "",
        source="DPDK, guides/platform/mlx5, minimal supported versions",
        fix=(f"sudo mlxup -d {nic.address}",) if bad else (),
    )


@check_nic("queues", order=47)
def queues(look: Look, nic: Nic) -> Finding | None:
    """One for each worker, as far as the card has them."""
    if not nic.interface:
        return None
    text = look.host.need_output("ethtool", "-l", nic.interface)
    most, now = maximum_and_current(text, "Combined")
    if not most or not now:
        most, now = maximum_and_current(text, "RX")
    if not most or not now or most < 0 or now < 0:
        raise UnknownError(f"ethtool -l {nic.interface}: no number of queues")
    wanted = min(most, len(look.workers))
    kind = "combined" if maximum_and_current(text, "Combined")[1] else "rx"
    return Finding(
        check="queues",
        state="ok" if now >= wanted else "fault",
        found=f"{now} of {most}",
        wanted=f"{wanted}, for {len(look.workers)} workers",
        why="Frames of one queue go to one worker: an i226-V with one in use forwarded 3.28 Mpps, "
        "88 % of its line, with the CPU's other cores idle.",
        source="tests/data/loadtests.csv (U2 on an N6005). Counts for drivers on the kernel's "
        "interface; DPDK makes its own queues",
        fix=(f"sudo ethtool -L {nic.interface} {kind} {wanted}",) if now < wanted else (),
    )


_RING_SLOTS = 1024


@check_nic("rings", order=48)
def rings(look: Look, nic: Nic) -> Finding | None:
    """1,024 descriptors, as far as the card has them."""
    if not nic.interface:
        return None
    text = look.host.need_output("ethtool", "-g", nic.interface)
    most, now = maximum_and_current(text, "RX")
    if not most or not now or most < 0 or now < 0:
        raise UnknownError(f"ethtool -g {nic.interface}: no size of the rx ring")
    wanted = min(most, _RING_SLOTS)
    why = "A ring that is full loses frames while its worker is away."
    if nic.port_bps:
        full = now / line_rate(nic.port_bps, 64).packets_per_second * 1e6
        why = f"At {nic.port_bps / 1e9:g} Gb/s of 64-byte frames it is full after {full:.0f} µs."
    return Finding(
        check="rings",
        state="ok" if now >= wanted else "fault",
        found=f"{now:,} rx descriptors of {most:,}",
        wanted=f"{wanted:,}",
        why=why,
        source="descriptors ÷ line rate. Counts for drivers on the kernel's interface; DPDK makes "
        "its own rings",
        fix=(f"sudo ethtool -G {nic.interface} rx {wanted} tx {wanted}",) if now < wanted else (),
    )


@check_nic("flow control", order=49)
def flow_control(look: Look, nic: Nic) -> Finding | None:
    """Off in both directions."""
    if not nic.interface or nic.ids.startswith("1af4"):
        return None
    text = look.host.need_output("ethtool", "-a", nic.interface)
    on = re.findall(r"^(RX|TX):\s*on\s*$", text, re.MULTILINE)
    return Finding(
        check="flow control",
        state="fault" if on else "ok",
        found=f"{' and '.join(on).lower()} on" if on else "off",
        wanted="off",
        why="A DUT that is too slow makes the tester wait instead of losing frames: the loss goes "
        "away, and with it the evidence.",
        source="RFC 2544, 26.1, counts what is lost at the offered rate; NVIDIA's DPDK "
        "performance reports switch it off",
        fix=(f"sudo ethtool -A {nic.interface} autoneg off rx off tx off",) if on else (),
        heavy=bool(on),
    )
