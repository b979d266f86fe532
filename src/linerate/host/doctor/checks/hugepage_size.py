"""Hugepages of 1 GiB, where the CPU has them."""

from linerate.host.doctor.checks import check
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.virtual import cpu_flags

_GIB = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"


@check("hugepage size", order=31)
def hugepage_size(look: Look) -> Finding | None:
    """Look whether there are any."""
    if "pdpe1gb" not in cpu_flags(look.host):
        return None
    pages = look.host.number(_GIB) or 0
    return Finding(
        check="hugepage size",
        state="ok" if pages > 0 else "note",
        found=f"{pages:,} of 1 GiB" if pages > 0 else "none of 1 GiB",
        wanted="1 GiB, for big tables",
        why="A page of 1 GiB takes one TLB entry where 2 MiB pages take 512; it pays when tables "
        "are larger than the TLB reaches.",
        source="1 GiB ÷ 2 MiB; DPDK, Getting Started Guide for Linux, 'Use of Hugepages'",
        boot="default_hugepagesz=1G hugepagesz=1G hugepages=4",
    )
