"""The governor that sets the workers' clock."""

from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.cpus import CPU_SYSFS, cpu_list
from linerate.host.doctor.findings import Finding, Write
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look
from linerate.host.doctor.virtual import hypervisor

WANTED = "performance"


@check("governor", order=20, form=Form.BOTH)
def governor(look: Look) -> Finding:
    """Look at each worker's governor."""
    paths = {cpu: f"{CPU_SYSFS}/cpu{cpu}/cpufreq/scaling_governor" for cpu in look.workers}
    said = {cpu: look.host.read(path) for cpu, path in paths.items()}
    known = {cpu: name for cpu, name in said.items() if name}
    if not known:
        if hypervisor(look.host):
            return Finding(check="governor", state="ok", found="none: the hypervisor's")
        raise UnknownError(
            "no cpufreq of the workers' CPUs: the firmware or no driver chooses their clock"
        )
    wrong = sorted(cpu for cpu, name in known.items() if name != WANTED)
    low, high = _clocks(look, min(known))
    spread = f" Between {low} and {high} GHz here." if low and high else ""
    return Finding(
        check="governor",
        state="fault" if wrong else "ok",
        found=f"{', '.join(sorted({known[cpu] for cpu in wrong}))} on CPUs {cpu_list(wrong)}"
        if wrong
        else WANTED,
        wanted=WANTED,
        why="The clock falls between trials and rises late in them; clocks a packet stay, "
        f"packets a second do not.{spread}",
        source="DPDK, 'How to get best performance with NICs on Intel Platforms'",
        fix=tuple(f"echo {WANTED} | sudo tee {paths[cpu]}" for cpu in wrong[:1])
        if len(wrong) == 1
        else (
            f"for cpu in {' '.join(map(str, wrong))}; do echo {WANTED} | sudo tee "
            f"{CPU_SYSFS}/cpu$cpu/cpufreq/scaling_governor; done",
        )
        if wrong
        else (),
        repair=tuple(Write(path=paths[cpu], value=WANTED) for cpu in wrong),
        heavy=bool(wrong),
    )


def _clocks(look: Look, cpu: int) -> tuple[str, str]:
    """GHz between which the governor chooses."""
    folder = f"{CPU_SYSFS}/cpu{cpu}/cpufreq"
    hertz = [look.host.number(f"{folder}/cpuinfo_{end}_freq") for end in ("min", "max")]
    low, high = (f"{khz / 1e6:.1f}" if khz and khz > 0 else "" for khz in hertz)
    return low, high
