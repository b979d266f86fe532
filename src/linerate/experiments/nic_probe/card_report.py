"""Contents of a report on a NIC.

It has identity, driver, place and state, and nothing that names its owner.
"""

import re
import subprocess
from typing import Any

from linerate.base.frozen_model import FrozenModel
from linerate.base.published import published
from linerate.engine import engine_process
from linerate.host.doctor.cpus import parameter
from linerate.host.doctor.ethtool import features
from linerate.host.doctor.host_view import Host
from linerate.host.doctor.iommu_group import group_of
from linerate.host.doctor.modules import release
from linerate.host.doctor.nics import PCI, Nic, lanes_of, speed_of
from linerate.model.flow_rule_acting import summary

#: An address of six bytes, whose last three are a serial number.
_MAC = re.compile(r"\b([0-9a-f]{2}:[0-9a-f]{2}:[0-9a-f]{2})(?::[0-9a-f]{2}){3}\b", re.IGNORECASE)
_OF_DRIVER = ("driver", "version", "firmware-version")
_IOMMU_PARAMETERS = ("iommu", "intel_iommu", "amd_iommu")


@published("nic-report", "The file of `linerate nic report`, and its --json")
class CardReport(FrozenModel):
    """Report on a NIC, without what names its owner; None where the host does not say."""

    #: The same in lines, for people.
    summary: list[str]
    pci: dict[str, str | None]
    driver: dict[str, str]
    pcie: dict[str, float | int | None]
    link: dict[str, str | int | None]
    #: `on`, `off`, with `[fixed]` where that can't be changed.
    offloads: dict[str, str]
    host: dict[str, Any]
    #: Printed by `linerate nic probe --json`.
    probe: Any


def card_report(host: Host, nic: Nic, probed: object = None) -> dict[str, Any]:
    """Describe a NIC; `probed` is what `linerate nic probe --json` printed."""
    document: dict[str, Any] = {
        "pci": _pci(host, nic),
        "driver": _driver(host, nic),
        "pcie": _pcie(host, nic),
        "link": _link(host, nic),
        "offloads": features(host, nic.interface) if nic.interface else {},
        "host": _host(host, nic),
        "probe": probed,
    }
    shown = {key: _without_serials(value) for key, value in document.items()}
    return {"summary": _summary(nic, document)} | shown


def _without_serials(value: object) -> object:
    """Cut MAC addresses down to the vendor's part, wherever they stand."""
    if isinstance(value, str):
        return _MAC.sub(r"\1:xx:xx:xx", value)
    if isinstance(value, dict):
        return {_without_serials(key): _without_serials(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_serials(each) for each in value]
    return value


def _pci(host: Host, nic: Nic) -> dict[str, Any]:
    folder = f"{PCI}/{nic.address}"
    names = ("vendor", "device", "subsystem_vendor", "subsystem_device", "revision", "class")
    return {"address": nic.address, "model": nic.model} | {
        name: host.read(f"{folder}/{name}") for name in names
    }


def _driver(host: Host, nic: Nic) -> dict[str, str]:
    """Versions of a kernel driver; of DPDK's only the name."""
    text = host.output("ethtool", "-i", nic.interface) if nic.interface else None
    pairs = (line.partition(":") for line in (text or "").splitlines())
    printed = {key: value.strip() for key, _, value in pairs if key in _OF_DRIVER}
    return printed | {"driver": nic.driver}


def _pcie(host: Host, nic: Nic) -> dict[str, float | int | None]:
    folder = f"{PCI}/{nic.address}"
    return {
        "gigatransfers": speed_of(host.read(f"{folder}/current_link_speed")),
        "lanes": lanes_of(host.read(f"{folder}/current_link_width")),
        "max_gigatransfers": speed_of(host.read(f"{folder}/max_link_speed")),
        "max_lanes": lanes_of(host.read(f"{folder}/max_link_width")),
        "numa_node": nic.numa_node,
    }


def _link(host: Host, nic: Nic) -> dict[str, Any]:
    folder = f"/sys/class/net/{nic.interface}"
    if not nic.interface:
        return {}
    address = host.read(f"{folder}/address") or ""
    return {
        "state": host.read(f"{folder}/operstate"),
        "bps": nic.speed_bps,
        "mtu": host.number(f"{folder}/mtu"),
        "oui": address[:8],
    }


def _host(host: Host, nic: Nic) -> dict[str, Any]:
    group = group_of(host, nic.address)
    number = None if group is None else group.number
    return {
        "kernel": release(host),
        "dpdk": _engine_version(),
        "iommu_group": number,
        "iommu_type": number and host.read(f"/sys/kernel/iommu_groups/{number}/type"),
        "iommu_parameters": {
            name: value
            for name in _IOMMU_PARAMETERS
            if (value := parameter(host, name)) is not None
        },
    }


def _engine_version() -> str:
    """Versions of the engine here and its DPDK."""
    try:
        printed = subprocess.run(
            [engine_process.executable(), "--version"], capture_output=True, text=True, check=False
        )
    except (OSError, engine_process.EngineError):
        # Its path might name who built it.
        return "none here"
    return printed.stdout.strip()


def _summary(nic: Nic, document: dict[str, Any]) -> list[str]:
    """Say it in lines, for people."""
    pci, driver, pcie, link = (document[key] for key in ("pci", "driver", "pcie", "link"))
    about = document["host"]
    firmware = driver.get("firmware-version") or "unknown: no kernel driver has the NIC"
    group = about["iommu_group"]
    speed = f"{link['bps'] / 1e9:g} Gb/s" if link.get("bps") else "speed unknown"
    return [
        f"NIC: {nic.model} ({nic.ids}, subsystem "
        f"{_id(pci['subsystem_vendor'])}:{_id(pci['subsystem_device'])}) at {nic.address}",
        f"driver: {nic.driver or 'none'} {driver.get('version', '')}".rstrip(),
        f"firmware: {firmware}",
        f"PCIe: {_of_pcie(pcie['gigatransfers'], pcie['lanes'])}, can do "
        f"{_of_pcie(pcie['max_gigatransfers'], pcie['max_lanes'])}; NUMA node "
        f"{'unknown' if nic.numa_node is None else nic.numa_node}",
        f"link: {link['state']}, {speed}" if link else "link: unknown, DPDK has the NIC",
        f"IOMMU: group {group}, {about['iommu_type'] or 'type unknown'}"
        if group
        else "IOMMU: none",
        f"kernel: {about['kernel'] or 'unknown'}; engine: {about['dpdk']}",
        f"nic probe: {_of_probe(document['probe'])}",
    ]


def _of_probe(probed: object) -> str:
    """Say what the probe saw of rules that act; its file is anybody's."""
    if probed is None:
        return "not included"
    rows = probed.get("table") if isinstance(probed, dict) else None
    acts = [row.get("acts") for row in rows or () if isinstance(row, dict)]
    outcomes = [str(one.get("outcome")) for one in acts if isinstance(one, dict)]
    return f"included; {summary(outcomes)}" if outcomes else "included"


def _id(text: str | None) -> str:
    return (text or "0x????")[-4:]


def _of_pcie(gigatransfers: float | None, lanes: int | None) -> str:
    if gigatransfers is None or lanes is None:
        return "unknown"
    return f"{gigatransfers:g} GT/s x{lanes}"
