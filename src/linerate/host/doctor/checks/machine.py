"""A virtual machine, or bare metal."""

from linerate.host.doctor.checks import check
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.virtual import hypervisor


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
