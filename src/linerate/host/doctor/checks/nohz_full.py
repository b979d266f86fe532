"""The scheduler's tick on the workers' CPUs."""

from linerate.host.doctor.checks import check
from linerate.host.doctor.cpus import CPU_SYSFS, cpu_list, cpus_of, parameter
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look


@check("nohz_full", order=11)
def nohz_full(look: Look) -> Finding:
    """Compare the CPUs without a tick with the workers."""
    host = look.host
    if host.read("/proc/cmdline") is None and host.read(f"{CPU_SYSFS}/nohz_full") is None:
        raise UnknownError(f"/proc/cmdline: {host.trouble('/proc/cmdline')}")
    tickless = (cpus_of(host.read(f"{CPU_SYSFS}/nohz_full")) or frozenset()) | (
        cpus_of(parameter(host, "nohz_full")) or frozenset()
    )
    workers = cpu_list(look.workers)
    return Finding(
        check="nohz_full",
        state="ok" if set(look.workers) <= tickless else "fault",
        found=f"CPUs {cpu_list(tickless)} tickless" if tickless else "every CPU ticks",
        wanted=f"the workers' CPUs: {workers}",
        why="The tick interrupts each worker 100 to 1,000 times a second, as CONFIG_HZ says.",
        source="Linux, Documentation/timers/no_hz.rst",
        boot=f"nohz_full={workers}",
    )
