"""Time that the hypervisor gave to others."""

from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import CpuTicks, Look

MOST_PERCENT = 1.0
#: Ticks below which a share is meaningless.
_TICKS_MIN = 20


@check("steal", order=61, form=Form.BOTH)
def steal(look: Look) -> Finding:
    """Share of the workers' time: while we looked, or since boot."""
    if not look.before.cpus:
        raise UnknownError(f"/proc/stat: {look.host.trouble('/proc/stat')}")
    since_boot = _sum(look, look.before.cpus)
    spent, when = since_boot, "since boot"
    if look.after is not None:
        later = _sum(look, look.after.cpus)
        passed = CpuTicks(later.total - since_boot.total, later.steal - since_boot.steal)
        if passed.total >= _TICKS_MIN:
            spent, when = passed, "while we looked"
    percent = max(0.0, min(100.0, 100 * spent.steal / spent.total)) if spent.total > 0 else 0.0
    bad = percent >= MOST_PERCENT
    return Finding(
        check="steal",
        state="fault" if bad else "ok",
        found=f"{percent:.1f} % of the workers' time {when}",
        wanted=f"less than {MOST_PERCENT:g} %",
        why="The hypervisor ran somebody else on the worker's CPU; at 14.88 Mpps a millisecond "
        "away is 14,880 packets.",
        source="docs/machine.md; 1 ms × 14.88 Mpps",
        advice="On the hypervisor: a CPU of its own for each vCPU (virsh vcpupin GUEST VCPU CPU).",
        heavy=bad,
    )


def _sum(look: Look, cpus: dict[int, CpuTicks]) -> CpuTicks:
    counted = [ticks for cpu, ticks in cpus.items() if cpu in look.workers]
    return CpuTicks(sum(one.total for one in counted), sum(one.steal for one in counted))
