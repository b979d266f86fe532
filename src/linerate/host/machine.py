"""The host's properties and disturbances: /proc and /sys, read only."""

import os
import platform
from pathlib import Path
from typing import NamedTuple

from linerate.host import cpu_order
from linerate.host.source_commit import commit
from linerate.model.environment import Environment

_PROC = Path("/proc")
_DMI = Path("/sys/class/dmi/id")
_CPU_SYSFS = Path("/sys/devices/system/cpu")


def _read(path: Path) -> str:
    """Contents of a file of /proc or /sys; nothing when the host has no such file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _cpuinfo() -> dict[str, str]:
    """Read the first processor's lines of /proc/cpuinfo."""
    first = _read(_PROC / "cpuinfo").split("\n\n", maxsplit=1)[0]
    pairs = (line.split(":", maxsplit=1) for line in first.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def _bios() -> str:
    """Vendor, version and date of the firmware; empty where a guest has none."""
    parts = (_read(_DMI / f"bios_{part}") for part in ("vendor", "version", "date"))
    return " ".join(part for part in parts if part)


def _meminfo(key: str) -> int:
    for line in _read(_PROC / "meminfo").splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0])
    return 0


def _system() -> str:
    """Name the distribution."""
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _chosen(text: str) -> str:
    """Pick the word in brackets, as /sys marks the one that is in force."""
    return next((word.strip("[]") for word in text.split() if word.startswith("[")), text)


def tsc_hz() -> int:
    """Clocks a second of the first CPU, as /proc/cpuinfo says; 1 GHz where it does not."""
    try:
        return round(float(_cpuinfo()["cpu MHz"]) * 1e6) or 1_000_000_000
    except (KeyError, ValueError):
        return 1_000_000_000


def allowed_cpus() -> tuple[int, ...]:
    """CPUs that this process may use, in the order in which workers take them."""
    return cpu_order.in_order(cpu_order.read(os.sched_getaffinity(0)))


def environment(version: str, cpus: tuple[int, ...]) -> Environment:
    """Describe this machine, for `cpus` being those that a run uses."""
    cpuinfo = _cpuinfo()
    governor = _read(_CPU_SYSFS / f"cpu{cpus[0]}" / "cpufreq" / "scaling_governor")
    return Environment(
        cpu_model=cpuinfo.get("model name", platform.processor() or platform.machine()),
        microcode=cpuinfo.get("microcode", ""),
        hypervisor="hypervisor" in cpuinfo.get("flags", "").split(),
        kernel=platform.release(),
        system=_system(),
        cpus=cpus,
        governor=governor or "none",
        transparent_hugepages=_chosen(_read(Path("/sys/kernel/mm/transparent_hugepage/enabled"))),
        hugepages_free=_meminfo("HugePages_Free"),
        linerate=version,
        hostname=platform.node(),
        commit=commit(Path(__file__).parents[1]),
        bios=_bios(),
        autogroup_nice=session.nice if (session := autogroup()) and session.nice < 0 else None,
    )


class Autogroup(NamedTuple):
    """A session as the scheduler has it (sched(7)), and its nice among other sessions."""

    name: str
    nice: int


def autogroup(process: Path = _PROC / "self") -> Autogroup | None:
    """Autogroup of a process; None where the kernel has none, or the process is gone."""
    if _read(_PROC / "sys/kernel/sched_autogroup_enabled") != "1":
        return None
    # "/autogroup-17 nice 0"
    match _read(process / "autogroup").split():
        case [name, "nice", nice]:
            return Autogroup(name.removeprefix("/"), int(nice))
    return None


def steal_seconds() -> dict[int, float]:
    """For each CPU, how long the hypervisor kept it from us since boot (/proc/stat)."""
    return {cpu: spent.steal for cpu, spent in cpu_seconds().items()}


class CpuSeconds(NamedTuple):
    """CPU time since boot (/proc/stat); guests count as user."""

    total: float
    idle: float
    softirq: float
    steal: float
    #: Threads, of programs and of the kernel.
    threads: float


def cpu_seconds() -> dict[int, CpuSeconds]:
    """For each CPU, where its time went since boot."""
    hertz = os.sysconf("SC_CLK_TCK")
    known = {}
    for line in _read(_PROC / "stat").splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu" and len(fields) >= 8:
            user, nice, system, idle, iowait, irq, softirq, steal = map(int, fields[:8])
            total = user + nice + system + idle + iowait + irq + softirq + steal
            known[int(name[3:])] = CpuSeconds(
                *(
                    ticks / hertz
                    for ticks in (total, idle + iowait, softirq, steal, user + nice + system)
                )
            )
    return known


class Switches(NamedTuple):
    """Involuntary and voluntary switches of a thread, and its time waiting for a CPU."""

    involuntary: int
    voluntary: int
    #: Time for which it was runnable and did not run.
    waited_seconds: float = 0.0


def switches(pid: int, tid: int, proc: Path = _PROC) -> Switches | None:
    """Context switches and waits of a thread so far; None when it is gone."""
    counts = {}
    for line in _read(proc / str(pid) / "task" / str(tid) / "status").splitlines():
        name, _, value = line.partition(":")
        if name.endswith("voluntary_ctxt_switches"):
            counts[name] = int(value)
    if len(counts) != 2:
        return None
    return Switches(
        counts["nonvoluntary_ctxt_switches"],
        counts["voluntary_ctxt_switches"],
        _waited_seconds(_read(proc / str(pid) / "task" / str(tid) / "schedstat")),
    )


def _waited_seconds(schedstat: str) -> float:
    """Second field of proc_pid_schedstat: nanoseconds on a run queue; 0 where none is kept."""
    fields = schedstat.split()
    return int(fields[1]) / 1e9 if len(fields) > 1 else 0.0


def kernel_seconds(pid: int, tid: int) -> float:
    """Time of a thread in the kernel (stime of proc(5)); 0 when the thread is gone."""
    # The name in brackets may hold blanks and brackets of its own.
    _, _, fields = _read(_PROC / str(pid) / "task" / str(tid) / "stat").rpartition(")")
    values = fields.split()
    return int(values[12]) / os.sysconf("SC_CLK_TCK") if len(values) > 12 else 0.0
