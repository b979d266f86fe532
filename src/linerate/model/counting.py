"""The packets that are a device's rate, and its workers, from the testbed."""

from linerate.model.ledger import Counted
from linerate.model.testbed import Testbed


def generates(testbed: Testbed) -> bool:
    """Whether the tester is to send: not to a device that sends by itself."""
    return testbed.dut.mode != "txonly"


def takes_turns(testbed: Testbed, cpus: tuple[int, ...]) -> bool:
    """Whether reader and writer share a CPU, as there are no more."""
    dut = testbed.dut
    return dut.threading != "run-to-completion" and dut.workers >= len(cpus)


def counted(testbed: Testbed) -> Counted:
    """Say which packets are the device's rate."""
    by_mode: dict[str, Counted] = {"rxonly": "consumed", "txonly": "other"}
    return by_mode.get(testbed.dut.mode, "received")
