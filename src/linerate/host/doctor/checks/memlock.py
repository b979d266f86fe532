"""Limit of memory that a user may pin."""

import re

from linerate.host.doctor.checks import check
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError, whole
from linerate.host.doctor.look import Look

#: Bit of CAP_IPC_LOCK: who has it is not limited (capabilities(7)).
_IPC_LOCK = 14
_WANTED_BYTES = 1 << 30


@check("memlock", order=34)
def memlock(look: Look) -> Finding:
    """Look at our own limit."""
    line = re.search(
        r"^Max locked memory\s+(\w{1,20})\s", look.host.need("/proc/self/limits"), re.MULTILINE
    )
    limit = whole(line[1]) if line else None
    if line is None or (limit is None and line[1] != "unlimited"):
        raise UnknownError("/proc/self/limits: no line 'Max locked memory'")
    free = _has_capability(look)
    bad = limit is not None and limit < _WANTED_BYTES and not free
    size = "unlimited" if limit is None else f"{limit // 1024:,} KiB"
    return Finding(
        check="memlock",
        state="fault" if bad else "ok",
        found=size + (", not for us (CAP_IPC_LOCK)" if free and limit is not None else ""),
        wanted="unlimited",
        why="vfio-pci and mlx5 pin the packet memory for DMA; DPDK fails to start without.",
        source="DPDK, Getting Started Guide for Linux, 'Running DPDK Applications Without Root "
        "Privileges'",
        fix=("echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/90-dpdk.conf",)
        if bad
        else (),
    )


def _has_capability(look: Look) -> bool:
    text = look.host.read("/proc/self/status") or ""
    line = re.search(r"^CapEff:\s*([0-9a-f]{1,16})$", text, re.MULTILINE)
    return line is not None and bool(int(line[1], 16) >> _IPC_LOCK & 1)
