"""CPUs that the workers of a testbed need."""

from linerate.base.errors import TestbedError
from linerate.model.testbed import Testbed


def check_cpus(testbed: Testbed, allowed: tuple[int, ...]) -> None:
    """Raise TestbedError when workers would have to take turns on a CPU.

    One CPU for tester and forwarder together is slow but fair, and is allowed. Workers that sleep
    through their burnt cycles can share one beside the tester's.
    """
    workers, cpus = testbed.dut.workers, testbed.cpus or allowed
    testers = (testbed.tester and testbed.tester.workers) or 1
    if testers > max(1, len(cpus) - (workers if testbed.dut.built_in else 0)):
        raise TestbedError(
            [
                f"tester.workers: {testers} workers beside the device's need more than the "
                f"{len(cpus)} CPUs that may be used, and would take turns; expected at most "
                f"{max(1, len(cpus) - (workers if testbed.dut.built_in else 0))}"
            ]
        )
    if testbed.dut.burn is not None and testbed.dut.burn.shares_cpus and len(cpus) > 1:
        return
    if testbed.dut.threading != "run-to-completion" and len(cpus) > 1:
        # A reader and a writer may take turns: what is compared are the queues between them.
        return
    if testbed.dut.built_in and workers > 1 and workers >= len(cpus):
        raise TestbedError(
            [
                f"dut.workers: {workers} workers and the tester need {workers + 1} CPUs, "
                f"{len(cpus)} may be used and workers would take turns; "
                f"try --workers {max(1, len(cpus) - 1)}"
            ]
        )
