"""Hardware threads that share a core with a worker."""

from linerate.host.doctor.checks import Form, check
from linerate.host.doctor.cpus import CPU_SYSFS, cpu_list, cpus_of, isolated, online
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.host_view import UnknownError
from linerate.host.doctor.look import Look


@check("smt", order=22, form=Form.BOTH)
def smt(look: Look) -> Finding:
    """Find workers whose sibling works too, or is open to anybody."""
    running, apart = online(look.host), isolated(look.host)
    siblings = {cpu: _siblings(look, cpu) & running for cpu in look.workers}
    if not any(siblings.values()):
        path = f"{CPU_SYSFS}/cpu{min(look.workers, default=0)}/topology/thread_siblings_list"
        raise UnknownError(f"{path}: {look.host.trouble(path)}")
    both = {cpu for cpu in look.workers if (siblings[cpu] - {cpu}) & set(look.workers)}
    exposed = {cpu for cpu in look.workers if siblings[cpu] - {cpu} - apart} - both
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
        why="Two threads of a core share its caches and units, so a worker's clocks a packet "
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
