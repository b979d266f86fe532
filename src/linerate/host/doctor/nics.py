"""Network cards on PCI: what they are, who drives them, whether the host lives on them."""

import re
from dataclasses import dataclass

from linerate.base import pci
from linerate.host.doctor.host_view import Host, whole

PCI = "/sys/bus/pci/devices"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")
#: Ethernet and InfiniBand; wireless (0x0280) is neither.
_CLASSES = ("0x0200", "0x0207")
#: DPDK's drivers for these work beside the kernel's, which stays.
BIFURCATED = ("mlx5_core", "mlx4_core", "mana")
#: Vendors whose cards have such drivers, when no driver has them.
_BIFURCATED_VENDORS = ("15b3",)
FOR_DPDK = ("vfio-pci", "igb_uio", "uio_pci_generic")

#: Names of models, and Gb/s of a port where all of that name have the same (pci.ids).
_MODELS: dict[str, tuple[str, float | None]] = {
    "8086:125c": ("I226-V", 2.5),
    "8086:125b": ("I226-LM", 2.5),
    "8086:15f3": ("I225-V", 2.5),
    "8086:10fb": ("82599ES", 10),
    "8086:1528": ("X540-AT2", 10),
    "8086:1563": ("X550", 10),
    "8086:1572": ("X710", 10),
    "8086:1583": ("XL710", 40),
    "8086:158b": ("XXV710", 25),
    "8086:1592": ("E810-C", 100),
    "8086:159b": ("E810-XXV", 25),
    "15b3:1003": ("ConnectX-3", None),
    "15b3:1007": ("ConnectX-3 Pro", None),
    "15b3:1013": ("ConnectX-4", None),
    "15b3:1015": ("ConnectX-4 Lx", 25),
    "15b3:1017": ("ConnectX-5", None),
    "15b3:1019": ("ConnectX-5 Ex", 100),
    "15b3:101b": ("ConnectX-6", None),
    "15b3:101d": ("ConnectX-6 Dx", None),
    "15b3:101f": ("ConnectX-6 Lx", 25),
    "15b3:1021": ("ConnectX-7", None),
    "1af4:1000": ("virtio-net", None),
    "1af4:1041": ("virtio-net", None),
    "1d0f:ec20": ("ENA", None),
}


@dataclass(frozen=True, slots=True)
class Nic:
    """One function of a card."""

    address: str
    #: `8086:10fb`.
    ids: str
    driver: str
    #: The kernel's, while its driver has the card.
    interface: str
    numa_node: int | None
    #: Whether the host has routes over it, or it is part of a bridge or bond.
    used_by_host: bool
    #: Speed of its link; None when it is down or unknown.
    speed_bps: float | None

    @property
    def model(self) -> str:
        """Name of the model."""
        return _MODELS.get(self.ids, (self.ids, None))[0]

    @property
    def rated_bps(self) -> float | None:
        """Rated speed of a port, where known."""
        rated = _MODELS.get(self.ids, ("", None))[1]
        return rated * 1e9 if rated else None

    @property
    def port_bps(self) -> float | None:
        """Actual speed, or else the rated one."""
        return self.speed_bps or self.rated_bps

    @property
    def bifurcated(self) -> bool:
        """Whether DPDK uses it beside the kernel's driver."""
        return self.driver in BIFURCATED or self.ids[:4] in _BIFURCATED_VENDORS

    @property
    def card(self) -> str:
        """Address that all ports of a card share."""
        return self.address.rpartition(".")[0]

    @property
    def subject(self) -> str:
        """Name in a table."""
        return self.address.removeprefix("0000:") + (f" {self.interface}" * bool(self.interface))


def nics(host: Host, chosen: tuple[str, ...] = ()) -> tuple[Nic, ...]:
    """All cards, or those chosen by address or interface (used by the host or not)."""
    routed = _routed(host)
    found = [
        _nic(host, address, routed)
        for address in host.names(PCI)
        if _ADDRESS.fullmatch(address) and is_nic(host, address)
    ]
    if not chosen:
        return tuple(found)
    wanted = {pci.normalised(name) for name in chosen}
    return tuple(nic for nic in found if wanted & {nic.address, nic.interface})


def is_nic(host: Host, address: str) -> bool:
    """Whether a device on PCI is a network card."""
    return (host.read(f"{PCI}/{address}/class") or "").startswith(_CLASSES)


def _nic(host: Host, address: str, routed: frozenset[str]) -> Nic:
    folder = f"{PCI}/{address}"
    vendor, device = (
        (host.read(f"{folder}/{part}") or "")[-4:].lower() for part in ("vendor", "device")
    )
    interface = next(iter(interfaces(host, address)), "")
    node = host.number(f"{folder}/numa_node")
    speed = host.number(f"/sys/class/net/{interface}/speed") if interface else None
    return Nic(
        address=address,
        ids=f"{vendor}:{device}",
        driver=host.target(f"{folder}/driver") or "",
        interface=interface,
        numa_node=node if node is not None and node >= 0 else None,
        used_by_host=bool(interface) and _used(host, interface, routed),
        speed_bps=speed * 1e6 if speed and speed > 0 else None,
    )


def interfaces(host: Host, address: str) -> tuple[str, ...]:
    """Names of its interfaces; one that a command would take for an option is none."""
    folder = f"{PCI}/{address}"
    below = [name for name in host.names(folder) if name.startswith("virtio")]
    places = (folder, *(f"{folder}/{name}" for name in below))
    names = (name for place in places for name in host.names(f"{place}/net"))
    return tuple(name for name in names if re.fullmatch(r"\w[^\s/]*", name))


def _used(host: Host, interface: str, routed: frozenset[str]) -> bool:
    return interface in routed or host.target(f"/sys/class/net/{interface}/master") is not None


def _routed(host: Host) -> frozenset[str]:
    """Interfaces that the host has routes over; link-local ones of IPv6 don't count."""
    lines = (host.read("/proc/net/route") or "").splitlines()[1:]
    found = {line.split()[0] for line in lines if line.split()}
    for line in (host.read("/proc/net/ipv6_route") or "").splitlines():
        fields = line.split()
        if len(fields) >= 10 and not fields[0].startswith(("fe80", "ff")):
            found.add(fields[9])
    return frozenset(found)


def speed_of(text: str | None) -> float | None:
    """GT/s of `8.0 GT/s PCIe`; None for `Unknown`."""
    match = re.match(r"(\d{1,3}(?:\.\d)?) ?GT/s", text or "", re.ASCII)
    return float(match[1]) or None if match else None


def lanes_of(text: str | None) -> int | None:
    """Lanes; None for 0 and 255, which stand for no link."""
    lanes = whole(text)
    return lanes if lanes is not None and 0 < lanes <= 32 else None
