"""The machine itself, and what runs on it already."""

import time

from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.host_view import UnknownError, whole
from linerate.host.doctor.look import Look
from linerate.host.doctor.virtual import hypervisor
from linerate.model.findings import Finding


@check("machine", order=60)
def machine(look: Look) -> Finding:
    """Ask the CPU, and the firmware for a name."""
    look.host.need("/proc/cpuinfo")
    names = (look.host.read(f"/sys/class/dmi/id/{part}") for part in ("sys_vendor", "product_name"))
    name = " ".join(" ".join(part.split())[:40] for part in names if part)
    if not hypervisor(look.host):
        return Finding(check="machine", state="ok", found=f"bare metal {name}".strip())
    return Finding(
        check="machine",
        state="note",
        found=f"virtual machine {name}".strip(),
        wanted="bare metal, or pinned vCPUs",
        why="Figures of two cores swing three to six times with where the hypervisor puts them.",
        source="docs/machine.md, measured",
    )


_LOOKS = 4
_PAUSE_SECONDS = 0.002


@check("running", order=63, form=Form.SHORT)
def running(look: Look) -> Finding:
    """Count threads that run or wait for a CPU at each of several looks, the lab not counted."""
    fewest = _others(look)
    for _ in range(_LOOKS - 1 if look.host.live else 0):
        if fewest == 0:
            break
        time.sleep(_PAUSE_SECONDS)
        fewest = min(fewest, _others(look))
    return Finding(
        check="running",
        state="fault" if fewest else "ok",
        found=f"{fewest:,} other thread{'s' * (fewest > 1)} running"
        if fewest
        else "no other thread",
        wanted="none",
        why="Somebody else works on this host: on the workers' CPUs it takes their time, and "
        "elsewhere their caches.",
        source="/proc/loadavg, proc(5)",
        advice="See who: top -H -b -n 1 | head -n 20; end it, or wait.",
        heavy=bool(fewest),
    )


def _others(look: Look) -> int:
    fields = look.host.need("/proc/loadavg").split()
    count = whole(fields[3].partition("/")[0]) if len(fields) > 3 else None
    if count is None:
        raise UnknownError("/proc/loadavg: no count of running threads")
    return max(0, count - 1)
