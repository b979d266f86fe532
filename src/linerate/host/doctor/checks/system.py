"""The machine itself, and what runs on it already."""

import re
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


#: Lines of the kernel's about hardware that fails or is slowed down; of each kind the last counts.
_TROUBLE = {
    "throttled": r"clock (?:is )?throttled|temperature (?:is )?above threshold"
    r"|thermal_sys: .*critical",
    "machine check": r"\[hardware error\]|mce: .*machine check events",
    "pcie error": r"aer: .*(?:error|corrected)|pcie bus error",
    "tx timeout": r"netdev watchdog: |transmit queue \d+ timed out",
    "link flaps": r"nic link is down|link is down",
}


@check("kernel log", order=62)
def kernel_log(look: Look) -> Finding:
    """Look for heat, errors of the hardware and stuck queues since boot."""
    lines = look.host.need_output("dmesg").splitlines()
    seen: dict[str, tuple[int, str]] = {}
    for line in lines:
        for name, pattern in _TROUBLE.items():
            if re.search(pattern, line, re.IGNORECASE):
                seen[name] = (seen.get(name, (0, ""))[0] + 1, line.strip())
    found = ", ".join(f"{name} {count:,} times" for name, (count, _) in seen.items())
    return Finding(
        check="kernel log",
        state="note" if seen else "ok",
        found=found or "no heat, no errors of hardware, no stuck queue",
        wanted="none since boot",
        why="A CPU that throttles, a link that goes down or a bus with errors makes each trial "
        "another one. Last seen: " + "; ".join(line[:160] for _, line in seen.values()),
        source="dmesg(1); Linux, arch/x86/kernel/cpu/mce, drivers/pci/pcie/aer.c",
        advice="See when: dmesg -T; cool the box, reseat the card, change the cable.",
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
