"""Where DPDK makes its files in hugepages."""

from linerate.host.doctor.checks import check
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look


@check("hugetlbfs", order=32)
def hugetlbfs(look: Look) -> Finding:
    """Find a mount."""
    mounts = [line.split() for line in look.host.need("/proc/mounts").splitlines()]
    at = [fields[1] for fields in mounts if len(fields) > 2 and fields[2] == "hugetlbfs"]
    return Finding(
        check="hugetlbfs",
        state="ok" if at else "note",
        found=f"mounted at {at[0]}" if at else "not mounted",
        wanted="mounted",
        why="Programs that share memory (memif, several processes) need it; ours maps hugepages "
        "without.",
        source="DPDK, EAL parameters, --huge-dir and --in-memory",
        fix=() if at else ("sudo mount -t hugetlbfs nodev /dev/hugepages --mkdir",),
    )
