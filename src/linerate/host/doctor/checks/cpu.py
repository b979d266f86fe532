"""CPUs of the workers: isolation, clocks, idle states, and what else runs on them."""

import shlex

from linerate.base.line_rate import line_rate
from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.cpus import CPU_SYSFS, cpu_list, cpus_of, isolated, online, parameter
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import TICKS, CpuTicks, Look
from linerate.host.doctor.virtual import hypervisor
from linerate.model.findings import Finding, Write


@check("isolcpus", order=10, form=Form.BOTH)
def isolcpus(look: Look) -> Finding:
    """Compare them with the workers."""
    if look.host.read(f"{CPU_SYSFS}/isolated") is None and parameter(look.host, "isolcpus") is None:
        raise UnknownError(f"{CPU_SYSFS}/isolated: {look.host.trouble(f'{CPU_SYSFS}/isolated')}")
    isolated_cpus = isolated(look.host)
    workers = cpu_list(look.workers)
    return Finding(
        check="isolcpus",
        state="ok" if set(look.workers) <= isolated_cpus else "fault",
        found=f"CPUs {cpu_list(isolated_cpus)} isolated" if isolated_cpus else "no CPU isolated",
        wanted=f"the workers' CPUs: {workers}",
        why="A worker that another task displaces for 69 µs loses packets: at 14.88 Mpps a ring "
        "of 1,024 frames is full then.",
        source="1,024 ÷ 14.88 Mpps; DPDK, Getting Started Guide for Linux, 'Using Linux Core "
        "Isolation to Reduce Context Switches'",
        boot=f"isolcpus={workers}",
    )


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


@check("rcu_nocbs", order=12)
def rcu_nocbs(look: Look) -> Finding:
    """Compare the CPUs that are spared with the workers; `nohz_full` spares its CPUs too."""
    look.host.need("/proc/cmdline")
    output = parameter(look.host, "rcu_nocbs")
    spared = online(look.host) if output == "all" else cpus_of(output) or frozenset()
    spared |= cpus_of(parameter(look.host, "nohz_full")) or frozenset()
    workers = cpu_list(look.workers)
    return Finding(
        check="rcu_nocbs",
        state="ok" if set(look.workers) <= spared else "fault",
        found=f"CPUs {cpu_list(spared)} spared" if spared else "callbacks run on every CPU",
        wanted=f"none on the workers' CPUs: {workers}",
        why="The kernel frees memory in softirqs on the worker's CPU, in the middle of a vector.",
        source="Linux, Documentation/admin-guide/kernel-parameters.txt, rcu_nocbs",
        boot=f"rcu_nocbs={workers}",
    )


GOVERNOR = "performance"


@check("governor", order=20, form=Form.BOTH)
def governor(look: Look) -> Finding:
    """Look at each worker's governor."""
    paths = {cpu: f"{CPU_SYSFS}/cpu{cpu}/cpufreq/scaling_governor" for cpu in look.workers}
    output = {cpu: look.host.read(path) for cpu, path in paths.items()}
    known = {cpu: name for cpu, name in output.items() if name}
    if not known:
        if hypervisor(look.host):
            return Finding(check="governor", state="ok", found="none: the hypervisor's")
        raise UnknownError(
            "no cpufreq of the workers' CPUs: the firmware or no driver chooses their clock"
        )
    wrong = sorted(cpu for cpu, name in known.items() if name != GOVERNOR)
    low, high = _clocks(look, min(known))
    spread = f" Between {low} and {high} GHz here." if low and high else ""
    return Finding(
        check="governor",
        state="fault" if wrong else "ok",
        found=f"{', '.join(sorted({known[cpu] for cpu in wrong}))} on CPUs {cpu_list(wrong)}"
        if wrong
        else GOVERNOR,
        wanted=GOVERNOR,
        why="The clock falls between trials and rises late in them; cycles a packet stay, "
        f"packets a second do not.{spread}",
        source="DPDK, 'How to get best performance with NICs on Intel Platforms'",
        fix=tuple(f"echo {GOVERNOR} | sudo tee {paths[cpu]}" for cpu in wrong[:1])
        if len(wrong) == 1
        else (
            f"for cpu in {' '.join(map(str, wrong))}; do echo {GOVERNOR} | sudo tee "
            f"{CPU_SYSFS}/cpu$cpu/cpufreq/scaling_governor; done",
        )
        if wrong
        else (),
        repair=tuple(Write(path=paths[cpu], value=GOVERNOR) for cpu in wrong),
        heavy=bool(wrong),
    )


def _clocks(look: Look, cpu: int) -> tuple[str, str]:
    """GHz between which the governor chooses."""
    folder = f"{CPU_SYSFS}/cpu{cpu}/cpufreq"
    hertz = [look.host.number(f"{folder}/cpuinfo_{end}_freq") for end in ("min", "max")]
    low, high = (f"{khz / 1e6:.1f}" if khz and khz > 0 else "" for khz in hertz)
    return low, high


#: Files of intel_pstate and of the other drivers, and their value when turbo is off.
_SWITCHES = ((f"{CPU_SYSFS}/intel_pstate/no_turbo", "1"), (f"{CPU_SYSFS}/cpufreq/boost", "0"))


@check("turbo", order=21)
def turbo(look: Look) -> Finding:
    """Look at the switch of the driver."""
    output, path, off = next(
        (
            (output, path, off)
            for path, off in _SWITCHES
            if (output := look.host.read(path)) in ("0", "1")
        ),
        ("", "", ""),
    )
    if not output:
        if hypervisor(look.host):
            return Finding(check="turbo", state="ok", found="no switch: the hypervisor's")
        raise UnknownError("neither intel_pstate/no_turbo nor cpufreq/boost says")
    return Finding(
        check="turbo",
        state="ok" if output == off else "fault",
        found="off" if output == off else "on" + _range(look),
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


@check("smt", order=22, form=Form.BOTH)
def smt(look: Look) -> Finding:
    """Find workers whose sibling works too, or is open to anybody."""
    running, isolated_cpus = online(look.host), isolated(look.host)
    siblings = {cpu: _siblings(look, cpu) & running for cpu in look.workers}
    if not any(siblings.values()):
        path = f"{CPU_SYSFS}/cpu{min(look.workers, default=0)}/topology/thread_siblings_list"
        raise UnknownError(f"{path}: {look.host.trouble(path)}")
    both = {cpu for cpu in look.workers if (siblings[cpu] - {cpu}) & set(look.workers)}
    exposed = {cpu for cpu in look.workers if siblings[cpu] - {cpu} - isolated_cpus} - both
    off = sorted(set().union(*(siblings[cpu] - {cpu} for cpu in both | exposed)) - _first(siblings))
    found = "each worker has a core to itself"
    if both:
        found = f"workers share cores: CPUs {cpu_list(both)}"
    elif exposed:
        found = f"siblings of CPUs {cpu_list(exposed)} open to others"
    return Finding(
        check="smt",
        state="fault" if both or exposed else "ok",
        found=found,
        wanted="the sibling of a worker idle",
        why="Two threads of a core share its caches and units, so a worker's cycles a packet "
        "depend on what its sibling does.",
        source="Intel 64 and IA-32 Optimization Reference Manual, 'Hyper-Threading Technology'",
        fix=tuple(f"echo 0 | sudo tee {CPU_SYSFS}/cpu{cpu}/online" for cpu in off[:1])
        if len(off) <= 1
        else (
            f"for cpu in {' '.join(map(str, off))}; do echo 0 | sudo tee "
            f"{CPU_SYSFS}/cpu$cpu/online; done",
        ),
        heavy=bool(both),
    )


def _siblings(look: Look, cpu: int) -> frozenset[int]:
    path = f"{CPU_SYSFS}/cpu{cpu}/topology/thread_siblings_list"
    return cpus_of(look.host.read(path)) or frozenset()


def _first(siblings: dict[int, frozenset[int]]) -> set[int]:
    """The first thread of each core: it is the one that stays."""
    return {min(threads) for threads in siblings.values() if threads}


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


BUSY_MOST_PERCENT = 10.0


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
        if percent >= BUSY_MOST_PERCENT:
            used.append((percent, now.command[:16], pid, now.cpu))
    used.sort(reverse=True)
    found = ", ".join(
        f"{command} {percent:.0f} % on CPU {cpu}" for percent, command, _, cpu in used[:2]
    )
    more = f" and {len(used) - 2} more" if len(used) > 2 else ""
    return Finding(
        check="busy",
        state="fault" if used else "ok",
        found=found + more if used else "no other process on the workers' CPUs",
        wanted=f"no process above {BUSY_MOST_PERCENT:.0f} % there",
        why="It takes turns with the worker: what it uses, the worker loses, some milliseconds at "
        "a time; at 14.88 Mpps each is 14,880 packets.",
        source="1 ms × 14.88 Mpps",
        fix=tuple(f"sudo taskset -acp 0 {pid}" for _, _, pid, _ in used[:3]),
    )


STEAL_MOST_PERCENT = 1.0
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
    bad = percent >= STEAL_MOST_PERCENT
    return Finding(
        check="steal",
        state="fault" if bad else "ok",
        found=f"{percent:.1f} % of the workers' time {when}",
        wanted=f"less than {STEAL_MOST_PERCENT:g} %",
        why="The hypervisor ran somebody else on the worker's CPU; at 14.88 Mpps a millisecond "
        "away is 14,880 packets.",
        source="docs/machine.md; 1 ms × 14.88 Mpps",
        advice="On the hypervisor: a CPU of its own for each vCPU (virsh vcpupin GUEST VCPU CPU).",
        heavy=bad,
    )


def _sum(look: Look, cpus: dict[int, CpuTicks]) -> CpuTicks:
    counted = [ticks for cpu, ticks in cpus.items() if cpu in look.workers]
    return CpuTicks(sum(one.total for one in counted), sum(one.steal for one in counted))
