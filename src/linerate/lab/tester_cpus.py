"""CPUs of a tester that is a process of its own."""

from linerate.model.testbed import Testbed


def tester_cpus(testbed: Testbed, cpus: tuple[int, ...]) -> tuple[int, ...]:
    """Return the first of them, with housekeeping; of several workers one a worker more."""
    tester, device = testbed.tester, testbed.dut
    workers = (tester and tester.workers) or 1
    if workers == 1:
        return cpus[:1]
    left = device.workers if device.built_in else 0
    return cpus[: max(1, min(1 + workers, len(cpus) - left))]
