"""Interrupts that devices send to the workers' CPUs."""

import shlex

from linerate.host.doctor.checks import check
from linerate.host.doctor.cpus import cpu_list, cpus_of, online
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look

#: Negligible rate of interrupts on all workers' CPUs together.
MOST_RATE = 10.0


@check("interrupts", order=54)
def interrupts(look: Look) -> Finding:
    """By rate while we looked; by where they are sent, when there was one moment only."""
    before, after = look.before.interrupts, look.after.interrupts if look.after else None
    if not before:
        raise UnknownError(f"/proc/interrupts: {look.host.trouble('/proc/interrupts')}")
    if after is not None and look.seconds:
        rates = {
            irq: (_on(look, after[irq]) - _on(look, counts)) / look.seconds
            for irq, counts in before.items()
            if irq in after
        }
        total = sum(rate for rate in rates.values() if rate > 0)
        bad, found = total > MOST_RATE, f"{total:,.0f} a second on the workers' CPUs"
    else:
        rates = {irq: float(_on(look, n)) for irq, n in before.items() if _sent_to(look, irq[0])}
        rates = {irq: count for irq, count in rates.items() if count > 0}
        bad, found = bool(rates), f"{len(rates)} sent to the workers' CPUs"
    most = max(rates, key=lambda irq: rates[irq], default=("", ""))
    if bad and most[1]:
        found += f", most of {most[1][:24]}"
    return Finding(
        check="interrupts",
        state="fault" if bad else "ok",
        found=found if bad else "none to speak of on the workers' CPUs",
        wanted="on other CPUs",
        why="Each takes the worker's CPU for some microseconds; at 14.88 Mpps each of them is 15 "
        "packets.",
        source="1 µs × 14.88 Mpps; Linux, Documentation/core-api/irq/irq-affinity.rst",
        fix=_fix(look) if bad else (),
        boot=f"irqaffinity={_elsewhere(look)}" if bad else "",
    )


def _on(look: Look, counts: dict[int, int]) -> int:
    return sum(count for cpu, count in counts.items() if cpu in look.workers)


def _sent_to(look: Look, number: str) -> bool:
    folder = f"/proc/irq/{number}"
    text = look.host.read(f"{folder}/effective_affinity_list") or look.host.read(
        f"{folder}/smp_affinity_list"
    )
    return bool((cpus_of(text) or frozenset()) & set(look.workers))


def _elsewhere(look: Look) -> str:
    return cpu_list(online(look.host) - set(look.workers)) or "0"


def _fix(look: Look) -> tuple[str, ...]:
    commands = {process.command for process in look.before.processes.values()}
    stop = ("sudo systemctl stop irqbalance",) if "irqbalance" in commands else ()
    cpus = shlex.quote(_elsewhere(look))
    move = f"for irq in /proc/irq/*/smp_affinity_list; do echo {cpus} | sudo tee $irq; done"
    return (*stop, move)
