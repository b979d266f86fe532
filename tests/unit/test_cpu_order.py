"""CPUs in the order in which workers take them, on machines as they are."""

from pathlib import Path

import pytest

from linerate.host.cpu_order import LogicalCpu, in_order, read

KHZ = {"P": 5_200_000, "E": 3_900_000}


def of(*cores):
    """(socket, core, max_khz) of each CPU, from 0 on."""
    return [
        LogicalCpu(cpu=cpu, socket=socket, core=core, max_khz=khz)
        for cpu, (socket, core, khz) in enumerate(cores)
    ]


#: `lscpu -e=CPU,SOCKET,CORE,MAXMHZ` of machines of these kinds.
MACHINES = {
    # Core i7-1260P: 4 fast cores of two threads, CPUs 0-7 in pairs, then 8 slow ones.
    "laptop": (
        of(*[(0, cpu // 2 * 4, KHZ["P"]) for cpu in range(8)],
           *[(0, 16 + cpu, KHZ["E"]) for cpu in range(8)]),
        (0, 2, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 1, 3, 5, 7),
    ),
    # Two Xeons of 4 cores: the kernel counts first threads of both first, sockets in turn.
    "dual socket": (
        of(*[(cpu % 2, cpu // 2 % 4, 3_000_000) for cpu in range(16)]),
        (0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15),
    ),
    # EPYC with SMT: siblings differ by half the number of CPUs.
    "smt": (of(*[(0, cpu % 4, 0) for cpu in range(8)]), (0, 1, 2, 3, 4, 5, 6, 7)),
    # N100: four cores without SMT.
    "small box": (of(*[(0, cpu, 3_400_000) for cpu in range(4)]), (0, 1, 2, 3)),
    # A virtual machine of two threads of one core.
    "virtual": (of((0, 0, 0), (0, 0, 0)), (0, 1)),
}  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
def test_whole_fast_cores_come_first(machine):
    cpus, order = MACHINES[machine]
    assert in_order(cpus) == order
    assert in_order(reversed(cpus)) == order


def test_a_part_of_a_machine():
    """The second thread of a core whose first may not be used is as good."""
    cpus, _ = MACHINES["laptop"]
    assert in_order(one for one in cpus if one.cpu in (1, 3, 8, 9)) == (1, 3, 8, 9)
    assert in_order([]) == ()


def test_what_the_kernel_says(tmp_path: Path):
    for cpu, (core, khz) in enumerate([(0, 2_000_000), (0, 2_000_000), (1, 4_000_000)]):
        folder = tmp_path / f"cpu{cpu}"
        for name, text in (("topology/core_id", core), ("topology/physical_package_id", -1),
                           ("cpufreq/cpuinfo_max_freq", khz)):  # fmt: skip
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "cpu1/topology/core_id").write_text("nonsense\n")
    known = read([0, 1, 2, 7], tmp_path)
    assert [one.core for one in known] == [0, -2, 1, -8]
    assert {one.socket for one in known} == {0}
    assert in_order(known) == (2, 0, 1, 7)
