"""Where the callbacks of RCU run."""

from linerate.host.doctor.checks import check
from linerate.host.doctor.cpus import cpu_list, cpus_of, online, parameter
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look


@check("rcu_nocbs", order=12)
def rcu_nocbs(look: Look) -> Finding:
    """Compare the CPUs that are spared with the workers; `nohz_full` spares its CPUs too."""
    look.host.need("/proc/cmdline")
    said = parameter(look.host, "rcu_nocbs")
    spared = online(look.host) if said == "all" else cpus_of(said) or frozenset()
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
