"""Other processes on the workers' CPUs."""

from linerate.host.doctor.checks import check
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import TICKS, Look

MOST_PERCENT = 10.0


@check("busy", order=62)
def busy(look: Look) -> Finding:
    """Compare what processes had done at both moments."""
    if look.after is None or not look.seconds:
        raise UnknownError("/proc/*/stat: one moment is no rate, two are needed")
    used = []
    for pid, now in look.after.processes.items():
        then = look.before.processes.get(pid)
        if then is None or now.cpu not in look.workers:
            continue
        percent = 100 * (now.ticks - then.ticks) / TICKS / look.seconds
        if percent >= MOST_PERCENT:
            used.append((percent, now.command[:16], pid, now.cpu))
    used.sort(reverse=True)
    found = ", ".join(
        f"{command} {percent:.0f} % on CPU {cpu}" for percent, command, _, cpu in used[:2]
    )
    more = f" and {len(used) - 2} more" if len(used) > 2 else ""
    return Finding(
        check="busy",
        state="fault" if used else "ok",
        found=found + more if used else "nobody else on the workers' CPUs",
        wanted=f"no process above {MOST_PERCENT:.0f} % there",
        why="It takes turns with the worker: what it uses, the worker loses, some milliseconds at "
        "a time; at 14.88 Mpps each is 14,880 packets.",
        source="1 ms × 14.88 Mpps",
        fix=tuple(f"sudo taskset -acp 0 {pid}" for _, _, pid, _ in used[:3]),
    )
