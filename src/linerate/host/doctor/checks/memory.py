"""Hugepages, transparent huge pages and locked memory."""

import re

from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.cpus import node_of_cpus
from linerate.host.doctor.host_view import Host, UnknownError, whole
from linerate.host.doctor.look import Look
from linerate.host.doctor.virtual import cpu_flags
from linerate.model.findings import Finding, Write

_NODES = "/sys/devices/system/node"
_GLOBAL = "/sys/kernel/mm/hugepages"
_PAGE_KB = 2048
#: Largest share of the free memory that is taken.
_SHARE = 0.5


def sizes_kb(host: Host, folder: str) -> dict[int, str]:
    """Sizes of hugepages that a folder has, with their folders."""
    found = {}
    for name in host.names(folder):
        size = whole(name.removeprefix("hugepages-").removesuffix("kB"))
        if size is not None and size > 0 and name.startswith("hugepages-"):
            found[size] = f"{folder}/{name}"
    return found


def free_kb(host: Host, folder: str) -> int:
    """Free memory of them; raises UnknownError when unreadable."""
    paths = {size: f"{at}/free_hugepages" for size, at in sizes_kb(host, folder).items()}
    pages = {size: host.number(path) for size, path in paths.items()}
    if all(count is None for count in pages.values()):
        raise UnknownError(f"{folder}: no number of free pages")
    reserved = {
        size: max(0, host.number(f"{at}/resv_hugepages") or 0)
        for size, at in sizes_kb(host, folder).items()
    }
    return sum(size * max(0, (count or 0) - reserved[size]) for size, count in pages.items())


def _pools(look: Look) -> dict[str, str]:
    """Folders of the nodes where workers run and cards are; of all together without NUMA."""
    nodes = node_of_cpus(look.host)
    wanted = {nodes[cpu] for cpu in look.workers if cpu in nodes}
    wanted |= {nic.numa_node for nic in look.nics if nic.numa_node is not None}
    folders = {f"node {node}": f"{_NODES}/node{node}/hugepages" for node in sorted(wanted)}
    folders = {name: path for name, path in folders.items() if sizes_kb(look.host, path)}
    return folders if len(folders) > 1 else {"": _GLOBAL}


@check("hugepages", order=30, form=Form.BOTH)
def hugepages(look: Look) -> Finding:
    """Look at each node's free pages."""
    if not sizes_kb(look.host, _GLOBAL):
        raise UnknownError(f"{_GLOBAL}: {look.host.trouble(_GLOBAL)}")
    pools = _pools(look)
    free = {name: free_kb(look.host, path) for name, path in pools.items()}
    wanted_kb = look.needs.hugepages_megabytes * 1024
    lacking = {name: wanted_kb - kb for name, kb in free.items() if kb < wanted_kb}
    writes = [_write(look.host, pools[name], kb) for name, kb in lacking.items()]
    taken = sum(lacking.values())
    fits = taken <= _SHARE * _available_kb(look.host)
    return Finding(
        check="hugepages",
        state="fault" if lacking else "ok",
        found=", ".join(f"{kb // 1024:,} MiB free {name}".strip() for name, kb in free.items()),
        wanted=f"{look.needs.hugepages_megabytes:,} MiB free" + " on each" * (len(pools) > 1),
        why="DPDK cannot give a card memory without them, and packet pools in 4 KiB pages are two "
        "to five times slower: io forwarded 64 instead of 162 Mpps.",
        source="docs/machine.md, measured; of the size, what the engine asks for",
        fix=tuple(f"echo {one.value} | sudo tee {one.path}" for one in writes if one),
        repair=tuple(one for one in writes if one) if fits else (),
    )


def _write(host: Host, folder: str, lacking_kb: int) -> Write | None:
    """Ask for as many small hugepages as are missing."""
    at = sizes_kb(host, folder).get(_PAGE_KB)
    if at is None:
        return None
    has = max(0, host.number(f"{at}/nr_hugepages") or 0)
    return Write(path=f"{at}/nr_hugepages", value=str(has + -(-lacking_kb // _PAGE_KB)))


def _available_kb(host: Host) -> int:
    for line in (host.read("/proc/meminfo") or "").splitlines():
        key, _, value = line.partition(":")
        if key == "MemAvailable":
            return max(0, whole(value.strip().removesuffix(" kB")) or 0)
    return 0


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


_PATH = "/sys/kernel/mm/transparent_hugepage/enabled"


@check("thp", order=33, form=Form.BOTH)
def thp(look: Look) -> Finding:
    """Look which of always, madvise, never is in force."""
    chosen = re.search(r"\[(always|madvise|never)\]", look.host.need(_PATH))
    if chosen is None:
        raise UnknownError(f"{_PATH}: none of always, madvise, never is marked")
    bad = chosen[1] == "never" and free_kb(look.host, "/sys/kernel/mm/hugepages") == 0
    return Finding(
        check="thp",
        state="fault" if bad else "ok",
        found=chosen[1] + (", and no hugepages" if bad else ""),
        wanted="madvise",
        why="Without hugepages the engine asks for these; refused, its packet pools are in 4 KiB "
        "pages: two to five times slower.",
        source="docs/machine.md, measured",
        fix=(f"echo madvise | sudo tee {_PATH}",) if bad else (),
        heavy=bad,
    )


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
