"""Hugepages free on the nodes that need them."""

from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.cpus import node_of_cpus
from linerate.host.doctor.findings import Finding, Write
from linerate.host.doctor.host_view import Host, UnknownError, whole
from linerate.host.doctor.look import Look

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
