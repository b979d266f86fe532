"""CPUs of the tester: as many as its line needs, if the device keeps its own.

A worker that sends at its limit comes late, so that one is counted on for less than all its cycles.
"""

from collections.abc import Sequence

from linerate.host.cpu_order import LogicalCpu
from linerate.model.tester_workers import TesterWorkers

#: Cycles that a frame is planned with, sent and received: the tester's 11 and 7 (of a frame of 64
#: bytes that varies, docs/performance.md), and an allowance for a NIC's driver.
TX_CYCLES, RX_CYCLES = 15, 14
#: Share of a CPU's cycles that is planned with.
USED_SHARE = 0.8
#: The engine's limit.
WORKERS_MAX = 32
#: Frequencies that differ by less are those of like cores.
LIKE_CLOCK = 0.9


def worker_pps(clock_hz: float) -> float:
    """Packets a second that one worker sends and receives, counted once."""
    return USED_SHARE * clock_hz / (TX_CYCLES + RX_CYCLES)


def choose(
    cpus: Sequence[LogicalCpu], device_workers: int, usable: int, line_pps: float, clock_hz: float
) -> TesterWorkers:
    """Workers for a line of `line_pps`, over all ports.

    `cpus` are in the order in which they are taken: housekeeping, tester, device. `usable`: most
    workers that the ports can use. `clock_hz`: of a CPU whose clock is not known.
    """
    usable = max(1, min(usable, WORKERS_MAX))
    free = _whole_cores(cpus)[1:]
    needed = min(_needed(free, line_pps, clock_hz), usable)
    workers = 1
    while workers < needed and _device_keeps_its_own(free, workers + 1, device_workers):
        workers += 1
    return TesterWorkers(workers=workers, needed=needed)


def _whole_cores(cpus: Sequence[LogicalCpu]) -> list[LogicalCpu]:
    """One thread of each core: the other one takes from the first what is measured."""
    first: dict[tuple[int, int], LogicalCpu] = {}
    for one in cpus:
        first.setdefault((one.socket, one.core), one)
    return list(first.values())


def _needed(free: Sequence[LogicalCpu], line_pps: float, clock_hz: float) -> int:
    """Workers on these CPUs, and on more like the last, that send and receive it."""
    clocks = [1000.0 * one.max_khz or clock_hz for one in free] or [clock_hz]
    pps = 0.0
    for number in range(WORKERS_MAX):
        pps += worker_pps(clocks[min(number, len(clocks) - 1)])
        if pps >= line_pps:
            return number + 1
    return WORKERS_MAX


def _device_keeps_its_own(free: Sequence[LogicalCpu], testers: int, device: int) -> bool:
    """Whether the device has cores as it has beside a single worker: as fast, on that socket."""
    if testers + device > len(free):
        return False
    before, after = free[1 : 1 + device], free[testers : testers + device]
    return all(
        new.socket == old.socket and new.max_khz >= LIKE_CLOCK * old.max_khz
        for old, new in zip(before, after, strict=True)
    )
