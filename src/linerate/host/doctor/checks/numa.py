"""Cards and workers on different sockets."""

from linerate.host.doctor.checks import Form, check_nic
from linerate.host.doctor.cpus import cpu_list, node_of_cpus
from linerate.host.doctor.findings import Finding
from linerate.host.doctor.look import Look
from linerate.host.doctor.nics import Nic


@check_nic("numa", order=52, form=Form.BOTH)
def numa(look: Look, nic: Nic) -> Finding | None:
    """Compare the card's node with the workers'."""
    nodes = node_of_cpus(look.host)
    if len(set(nodes.values())) < 2 or nic.numa_node is None:
        return None
    far = [cpu for cpu in look.workers if nodes.get(cpu, nic.numa_node) != nic.numa_node]
    near = sorted(cpu for cpu, node in nodes.items() if cpu and node == nic.numa_node)
    # Default workers may be there for another card; then some on its node suffice.
    bad = bool(far) and (look.workers_given or len(far) == len(look.workers))
    return Finding(
        check="numa",
        state="fault" if bad else "ok",
        found=f"card on node {nic.numa_node}, workers {cpu_list(far)} on "
        f"{', '.join(str(node) for node in sorted({nodes[cpu] for cpu in far}))}"
        if far
        else f"card and workers on node {nic.numa_node}",
        wanted=f"workers on node {nic.numa_node}: CPUs {cpu_list(near)}",
        why="Each frame crosses between the sockets. A card near to every CPU had up to 2.7 "
        "times the throughput.",
        source="I. Smolyar et al., 'IOctopus: Outsmarting Nonuniform DMA', ASPLOS 2020",
        advice=f"In the testbed file cpus: [{', '.join(map(str, near[:2]))}]; in VPP's "
        f"startup.conf corelist-workers {cpu_list(near[:2])}.",
        heavy=bad,
    )
