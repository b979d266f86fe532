"""Input of all checks: the host, its workers and cards, and two samples of it."""

import os
from dataclasses import dataclass
from typing import NamedTuple

from linerate.base.memory_size import needed_megabytes
from linerate.host.doctor.host_view import Host, whole
from linerate.host.doctor.nics import Nic

#: Ticks a second in /proc (USER_HZ, the same on every architecture that DPDK runs on).
TICKS = 100
#: Duration of a sample: long enough for processes of a few per cent to show.
LOOK_SECONDS = 0.5


class CpuTicks(NamedTuple):
    """Ticks of a CPU since boot."""

    total: int
    steal: int


class Process(NamedTuple):
    """CPU time of a process since its start."""

    command: str
    ticks: int
    #: Where it ran last.
    cpu: int


@dataclass(frozen=True, slots=True)
class Moment:
    """The host's counters at one moment."""

    uptime_seconds: float | None
    cpus: dict[int, CpuTicks]
    processes: dict[int, Process]
    #: By number and name: for each CPU.
    interrupts: dict[tuple[str, str], dict[int, int]]


@dataclass(frozen=True, slots=True)
class PortNeeds:
    """Prerequisites of a testbed; without one, of an engine without ports."""

    #: PCI addresses of its ports.
    addresses: tuple[str, ...] = ()
    #: MiB that all its engines ask for together.
    hugepages_megabytes: int = needed_megabytes()


@dataclass(frozen=True, slots=True)
class Look:
    """A host, looked at."""

    host: Host
    #: CPUs of the workers, and whether they were given.
    workers: tuple[int, ...]
    workers_given: bool
    #: Cards that are for packets: chosen, or not used by the host.
    nics: tuple[Nic, ...]
    before: Moment
    after: Moment | None
    #: Whether there is time for commands.
    hurried: bool = False
    needs: PortNeeds = PortNeeds()

    @property
    def seconds(self) -> float | None:
        """Time between the two moments."""
        if self.after is None or None in (self.before.uptime_seconds, self.after.uptime_seconds):
            return None
        passed = (self.after.uptime_seconds or 0) - (self.before.uptime_seconds or 0)
        return passed if passed > 0.01 else None


def moment(host: Host, *, whole_host: bool) -> Moment:
    """Read the counters; of a short look only the CPUs'."""
    return Moment(
        uptime_seconds=_uptime(host),
        cpus=_cpus(host),
        processes=_processes(host) if whole_host else {},
        interrupts=_interrupts(host) if whole_host else {},
    )


def _uptime(host: Host) -> float | None:
    first = (host.read("/proc/uptime") or "").split(" ", maxsplit=1)[0]
    seconds, _, hundredths = first.partition(".")
    ticks = whole(seconds + hundredths[:2].ljust(2, "0"))
    return None if ticks is None or ticks < 0 else ticks / 100


def _cpus(host: Host) -> dict[int, CpuTicks]:
    known = {}
    for line in (host.read("/proc/stat") or "").splitlines():
        name, *fields = line.split() or [""]
        cpu = whole(name.removeprefix("cpu")) if name.startswith("cpu") else None
        ticks = _all_whole(fields[:8])
        if cpu is not None and len(ticks) == 8:
            known[cpu] = CpuTicks(sum(ticks), ticks[7])
    return known


def _all_whole(fields: list[str]) -> list[int]:
    """Read numbers that are not negative, up to the first that is none."""
    numbers: list[int] = []
    for field in fields:
        number = whole(field)
        if number is None or number < 0:
            break
        numbers.append(number)
    return numbers


def _processes(host: Host) -> dict[int, Process]:
    known = {}
    ourselves = os.getpid() if host.live else None
    for name in host.names("/proc"):
        pid = whole(name) if name != str(ourselves) else None
        text = host.read(f"/proc/{pid}/stat") if pid is not None else None
        # The command stands in brackets and may hold any character.
        before, _, rest = (text or "").rpartition(")")
        fields = rest.split()
        if pid is not None and len(fields) > 36:
            numbers = _all_whole([fields[11], fields[12], fields[36]])
            if len(numbers) == 3:
                user, system, cpu = numbers
                known[pid] = Process(before.partition("(")[2], user + system, cpu)
    return known


def _interrupts(host: Host) -> dict[tuple[str, str], dict[int, int]]:
    lines = (host.read("/proc/interrupts") or "").splitlines()
    heads = lines[0].split() if lines else []
    cpus = [whole(head.removeprefix("CPU")) for head in heads]
    known = {}
    for line in lines[1:]:
        number, _, rest = line.strip().partition(":")
        counts = _all_whole(rest.split()[: len(cpus)])
        if number.isdigit() and counts:
            name = " ".join(rest.split()[len(cpus) :][-1:])
            pairs = zip(cpus, counts, strict=False)
            known[number, name] = {cpu: count for cpu, count in pairs if cpu is not None}
    return known
