"""Wake-up latency of a sleeping worker."""

from linerate.base.line_rate import line_rate
from linerate.host.doctor.checks import check
from linerate.host.doctor.cpus import CPU_SYSFS
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look

#: Half of the time that a ring of 1,024 frames lasts at 14.88 Mpps.
_MOST_US = 34
_PPS = line_rate(10e9, 64).packets_per_second


@check("c-states", order=23)
def c_states(look: Look) -> Finding:
    """Find the deepest idle state that is allowed on a worker."""
    if not look.host.names(CPU_SYSFS):
        raise UnknownError(f"{CPU_SYSFS}: {look.host.trouble(CPU_SYSFS)}")
    deepest, name = 0, ""
    for cpu in look.workers:
        folder = f"{CPU_SYSFS}/cpu{cpu}/cpuidle"
        for state in look.host.names(folder):
            latency = look.host.number(f"{folder}/{state}/latency") or 0
            if look.host.read(f"{folder}/{state}/disable") != "1" and latency > deepest:
                deepest, name = latency, look.host.read(f"{folder}/{state}/name") or state
    bad = deepest > _MOST_US
    frames = deepest * _PPS / 1e6
    return Finding(
        check="c-states",
        state="fault" if bad else "ok",
        found=f"{name}: {deepest:,} µs to wake" if deepest else "none that takes time to wake",
        wanted=f"at most {_MOST_US} µs",
        why=f"A worker that sleeps (rx mode interrupt or adaptive) wakes {frames:,.0f} "
        "frames late at 14.88 Mpps; busy cores next to sleeping ones change their clock."
        if bad
        else "",
        source="latency in /sys/devices/system/cpu/cpu*/cpuidle × 14.88 Mpps",
        fix=(f"sudo cpupower idle-set -D {_MOST_US}",) if bad else (),
    )
