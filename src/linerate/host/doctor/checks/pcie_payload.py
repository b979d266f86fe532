"""The largest payload of a PCIe packet that a card may send."""

from linerate.base.line_rate import PcieLink
from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.lspci import requests
from linerate.host.doctor.nics import Nic

_WANTED = 256


@check_nic("pcie payload", order=51)
def pcie_payload(look: Look, nic: Nic) -> Finding | None:
    """Compare what is set with 256 bytes, if the card can do that."""
    if nic.ids.startswith("1af4"):
        return None
    found = requests(look.host, nic.address)
    bad = found.max_payload < min(_WANTED, found.capable_payload)
    small, large = (
        PcieLink(8.0, 8, size).frame_bytes_on_link(1518) for size in (found.max_payload or 128, 256)
    )
    return Finding(
        check="pcie payload",
        state="fault" if bad else "ok",
        found=f"{found.max_payload} B of {found.capable_payload}",
        wanted=f"{min(_WANTED, found.capable_payload)} B or more",
        why=f"A frame of 1518 bytes takes {small:.0f} bytes of the link instead of {large:.0f}."
        if bad
        else "",
        source="24 bytes of overhead a TLP: R. Neugebauer et al., SIGCOMM 2018",
        boot="pci=pcie_bus_perf" if bad else "",
    )
