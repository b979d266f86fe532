"""Largest read request of a card."""

from linerate.host.doctor.checks import check_nic
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.lspci import requests
from linerate.host.doctor.nics import Nic

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
