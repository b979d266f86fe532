"""Clocks above the nominal one, for as long as heat and power allow."""

from linerate.host.doctor.checks import check
from linerate.host.doctor.cpus import CPU_SYSFS
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.virtual import hypervisor

#: Files of intel_pstate and of the other drivers, and their value when turbo is off.
_SWITCHES = ((f"{CPU_SYSFS}/intel_pstate/no_turbo", "1"), (f"{CPU_SYSFS}/cpufreq/boost", "0"))


@check("turbo", order=21)
def turbo(look: Look) -> Finding:
    """Look at the switch of the driver."""
    said, path, off = next(
        (
            (said, path, off)
            for path, off in _SWITCHES
            if (said := look.host.read(path)) in ("0", "1")
        ),
        ("", "", ""),
    )
    if not said:
        if hypervisor(look.host):
            return Finding(check="turbo", state="ok", found="no switch: the hypervisor's")
        raise UnknownError("neither intel_pstate/no_turbo nor cpufreq/boost says")
    return Finding(
        check="turbo",
        state="ok" if said == off else "fault",
        found="off" if said == off else "on" + _range(look),
        wanted="off, for figures that repeat",
        why="The clock depends on heat and on what other cores do, so the first trials of a "
        "bench are faster than the last.",
        source="FD.io CSIT's testbeds (BIOS settings); vpp-bench's wiki, 'Deactivate turbo boost'",
        fix=(f"echo {off} | sudo tee {path}",),
    )


def _range(look: Look) -> str:
    """Nominal clock and the highest, where they are known."""
    folder = f"{CPU_SYSFS}/cpu{min(look.workers, default=0)}/cpufreq"
    base, high = (
        look.host.number(f"{folder}/{name}") for name in ("base_frequency", "cpuinfo_max_freq")
    )
    if not base or not high or base >= high or base < 0:
        return ""
    return f": {base / 1e6:.1f} to {high / 1e6:.1f} GHz"
