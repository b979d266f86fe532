"""Order in which workers take a machine's CPUs: whole fast cores first, siblings last.

Two threads of one core share its execution units and its first two caches: a polling worker takes
from the other what it measures. A worker on another socket reads each descriptor over the link
between the two. A slow core of a hybrid processor is still a core of its own.
"""

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from linerate.base.frozen_model import FrozenModel

CPU_SYSFS = Path("/sys/devices/system/cpu")


class LogicalCpu(FrozenModel):
    """One CPU as the kernel counts them."""

    cpu: int
    #: Physical core, unique within its socket; below 0: not known.
    core: int
    socket: int = 0
    #: Largest clock; 0: not known.
    max_khz: int = Field(default=0, ge=0)


def in_order(cpus: Iterable[LogicalCpu]) -> tuple[int, ...]:
    """CPUs, the first of which is for housekeeping, then those for the tester and the device.

    First one thread of each core of the first CPU's socket, fast ones before slow ones; then the
    same of other sockets; then the cores' other threads.
    """
    known = sorted(cpus, key=lambda one: one.cpu)
    if not known:
        return ()
    threads: dict[tuple[int, int], list[LogicalCpu]] = {}
    for one in known:
        threads.setdefault((one.socket, one.core), []).append(one)
    home = known[0].socket

    def rank(one: LogicalCpu) -> tuple[int, bool, int, int, int]:
        sibling = threads[one.socket, one.core].index(one)
        return sibling, one.socket != home, one.socket, -one.max_khz, one.cpu

    return tuple(one.cpu for one in sorted(known, key=rank))


def read(cpus: Iterable[int], sysfs: Path = CPU_SYSFS) -> tuple[LogicalCpu, ...]:
    """Read what the kernel knows of these CPUs; each is its own core where it knows nothing."""
    return tuple(
        LogicalCpu(
            cpu=cpu,
            core=_number(sysfs / f"cpu{cpu}/topology/core_id", -1 - cpu),
            socket=_number(sysfs / f"cpu{cpu}/topology/physical_package_id", 0),
            max_khz=_number(sysfs / f"cpu{cpu}/cpufreq/cpuinfo_max_freq", 0),
        )
        for cpu in cpus
    )


def _number(path: Path, unknown: int) -> int:
    try:
        return max(int(path.read_text(encoding="ascii")), 0)
    except (OSError, ValueError):
        return unknown
