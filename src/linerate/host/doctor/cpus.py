"""CPU lists as the kernel writes them, and which CPUs are the workers'."""

from collections.abc import Iterable

from linerate.host.doctor.host_view import Host, whole

CPU_SYSFS = "/sys/devices/system/cpu"
#: NR_CPUS of x86-64 kernels; what is above is nonsense.
_MAX_CPUS = 8192


def cpus_of(text: str | None) -> frozenset[int] | None:
    """Read `0-3,8`; None for what is no such list."""
    if text is None:
        return None
    cpus: set[int] = set()
    for part in text.replace("(null)", "").strip().split(","):
        first, dash, last = part.strip().partition("-")
        if not part.strip():
            continue
        low, high = whole(first), whole(last) if dash else whole(first)
        if low is None or high is None or not 0 <= low <= high < _MAX_CPUS:
            return None
        cpus.update(range(low, high + 1))
    return frozenset(cpus)


def cpu_list(cpus: Iterable[int]) -> str:
    """Write `0-3,8`."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and runs[-1][-1] == cpu - 1:
            runs[-1][1:] = [cpu]
        else:
            runs.append([cpu])
    return ",".join("-".join(map(str, run)) for run in runs)


def parameter(host: Host, name: str) -> str | None:
    """Value of a boot parameter, the last one given; `` for one without a value."""
    found = None
    for word in (host.read("/proc/cmdline") or "").split():
        key, _, value = word.partition("=")
        if key == name:
            found = value
    return found


def without_flags(value: str | None) -> frozenset[int] | None:
    """CPUs of `isolcpus=managed_irq,domain,2-5`."""
    if value is None:
        return None
    return cpus_of(",".join(part for part in value.split(",") if part[:1].isdigit()))


def online(host: Host) -> frozenset[int]:
    """CPUs that run; the folders of those that there are, when nothing says which run."""
    output = cpus_of(host.read(f"{CPU_SYSFS}/online"))
    if output:
        return output
    numbers = (whole(name.removeprefix("cpu")) for name in host.names(CPU_SYSFS))
    return frozenset(number for number in numbers if number is not None and number >= 0)


def isolated(host: Host) -> frozenset[int]:
    """CPUs that the scheduler leaves alone: by boot parameter, or by cpuset partition."""
    found: frozenset[int] = frozenset()
    for path in (f"{CPU_SYSFS}/isolated", "/sys/fs/cgroup/cpuset.cpus.isolated"):
        found |= cpus_of(host.read(path)) or frozenset()
    return found


def likely_workers(host: Host) -> tuple[int, ...]:
    """The isolated CPUs; without any, all but the first, which is left to the rest."""
    running = sorted(online(host))
    isolated_cpus = [cpu for cpu in running if cpu in isolated(host)]
    return tuple(isolated_cpus or running[1:] or running)


def node_of_cpus(host: Host) -> dict[int, int]:
    """NUMA node of each CPU."""
    known = {}
    for name in host.names("/sys/devices/system/node"):
        node = whole(name.removeprefix("node")) if name.startswith("node") else None
        if node is not None:
            listed = cpus_of(host.read(f"/sys/devices/system/node/{name}/cpulist"))
            known.update(dict.fromkeys(listed or (), node))
    return known
