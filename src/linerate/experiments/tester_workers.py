"""The tester's workers of a plan: those that a testbed asks for, or as many as its line needs."""

from dataclasses import replace

from linerate.experiments.plan import Plan
from linerate.host import cpu_order, machine
from linerate.host.tester_workers import WORKERS_MAX, choose
from linerate.lab.engine_config import SENDERS_MAX
from linerate.model.suites import Loadtest, tester_ports
from linerate.model.testbed import Testbed, TesterSpec
from linerate.model.tester_workers import TesterWorkers


def usable_by_ports(testbed: Testbed, loadtest: Loadtest) -> int:
    """Most workers that have something to send or receive."""
    if testbed.wire == "card":
        # Both ports of one share a PCIe link, and stay with one worker.
        return loadtest.loopbacks
    ports = testbed.tester.ports if testbed.tester is not None else None
    offered = loadtest.traffic.offered
    if ports is None or (offered is not None and offered.connections_per_second):
        return len(tester_ports(testbed)) * loadtest.loopbacks
    return sum(SENDERS_MAX if port.on_pci else port.tx_queues or 1 for port in ports)


def tester_workers(
    testbed: Testbed, loadtests: list[Loadtest], cpus: tuple[int, ...]
) -> TesterWorkers | None:
    """Number for the most demanding of these; None of another's tester.

    A device that the lab starts has all CPUs but the first, and keeps them.
    """
    spec, device = testbed.tester, testbed.dut
    if testbed.by_tool or testbed.by_server or (spec is not None and spec.burn is not None):
        return None
    order = cpu_order.read(cpus)
    started = not device.built_in and not device.there_already
    most = max(
        (
            choose(
                order,
                len(cpus) if started else device.workers * device.built_in,
                usable_by_ports(testbed, one),
                one.full_pps(testbed.line_bps),
                machine.tsc_hz(),
            )
            for one in loadtests
        ),
        key=lambda one: one.needed,
    )
    given = spec.workers if spec is not None else None
    return most if given is None else TesterWorkers(workers=given, needed=most.needed)


def with_tester_workers(
    plan: Plan, cpus: tuple[int, ...]
) -> tuple[Plan, dict[Testbed, TesterWorkers]]:
    """The plan with their number in each testbed that has several; by testbed, what it has."""
    loadtests: dict[Testbed, list[Loadtest]] = {}
    for step in plan.steps:
        loadtests.setdefault(step.testbed, []).append(step.loadtest)
    known: dict[Testbed, TesterWorkers] = {}
    made: dict[Testbed, Testbed] = {}
    for testbed, its_own in loadtests.items():
        found = tester_workers(testbed, its_own, cpus)
        made[testbed] = testbed if found is None else _with(testbed, found.workers)
        if found is not None:
            known[made[testbed]] = found
    steps = tuple(replace(step, testbed=made[step.testbed]) for step in plan.steps)
    return replace(plan, testbed=made.get(plan.testbed, plan.testbed), steps=steps), known


def _with(testbed: Testbed, workers: int) -> Testbed:
    """The same with that number; one is what it has anyway."""
    if workers == 1:
        return testbed
    assert workers <= WORKERS_MAX
    spec = (testbed.tester or TesterSpec()).model_copy(update={"workers": workers})
    return testbed.model_copy(update={"tester": spec})
