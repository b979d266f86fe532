"""CPUs that the tester takes, on machines as they are."""

import pytest
from tests.unit.test_cpu_order import MACHINES

from linerate.experiments.plan import suite_plan
from linerate.experiments.tester_workers import usable_by_ports, with_tester_workers
from linerate.host import cpu_order, machine
from linerate.host.cpu_order import LogicalCpu, in_order
from linerate.host.tester_workers import choose, worker_pps
from linerate.lab.rig import Rig
from linerate.model.suites import SUITES
from linerate.model.testbed import parse
from linerate.model.tester_workers import TesterWorkers

LINE = 2 * 14_880_952.4
B4 = SUITES["standard"].loadtests[7]
#: Rates in units of 10 Gb/s both ways, 64-byte frames.
CASES = [
    # Three other fast cores; with a device of ours it keeps the last of them.
    ("laptop", 0, 10, (3, 3)),
    ("laptop", 0, 30, (8, 8)),
    ("laptop", 1, 30, (2, 8)),
    ("laptop", 2, 10, (1, 3)),
    ("laptop", 1, 1, (1, 1)),
    # Seven whole cores beside the first; three of them on its socket, where a device is.
    ("dual socket", 0, 10, (4, 4)),
    ("dual socket", 0, 40, (7, 15)),
    ("dual socket", 1, 10, (2, 4)),
    ("smt", 0, 10, (3, 4)),
    ("smt", 1, 10, (2, 4)),
    ("smt", 3, 10, (1, 4)),
    ("small box", 0, 10, (3, 4)),
    ("small box", 1, 10, (2, 4)),
    ("small box", 0, 1, (1, 1)),
    ("virtual", 0, 10, (1, 4)),
    ("virtual", 1, 1, (1, 1)),
]


def ordered(machine):
    """Its CPUs as workers take them."""
    by_number = {one.cpu: one for one in MACHINES[machine][0]}
    return [by_number[cpu] for cpu in in_order(by_number.values())]


@pytest.mark.parametrize(("machine", "device", "lines", "found"), CASES)
def test_as_many_as_the_line_needs_and_the_device_leaves(machine, device, lines, found):
    made = choose(ordered(machine), device, 32, lines * LINE, 3e9)
    assert (made.workers, made.needed) == found


def test_never_more_than_the_ports_can_use():
    made = choose(ordered("dual socket"), 0, 2, 40 * LINE, 3e9)
    assert (made.workers, made.needed, made.too_few) == (2, 2, False)
    assert choose([], 1, 4, 40 * LINE, 3e9) == TesterWorkers(workers=1, needed=4)


def test_slow_cores_send_less():
    assert worker_pps(2 * 3e9) == 2 * worker_pps(3e9)
    cores = [LogicalCpu(cpu=cpu, core=cpu, max_khz=khz) for cpu, khz in enumerate([4, 4, 2, 2, 2])]
    cores = [one.model_copy(update={"max_khz": one.max_khz * 1_000_000}) for one in cores]
    assert choose(cores, 0, 32, worker_pps(6e9), 3e9).workers == 2
    assert choose(cores, 0, 32, worker_pps(6.1e9), 3e9).workers == 3


def test_words():
    assert TesterWorkers(workers=1, needed=1).text == ""
    assert TesterWorkers(workers=3, needed=3).text == "3 tester workers"
    assert TesterWorkers(workers=1, needed=4).text == "too few tester workers: 1 of 4 needed"


def external(**tester):
    ports = [{"device": f"0000:05:00.{number}"} for number in (0, 1)]
    macs = ["02:aa:00:00:00:01", "02:aa:00:00:00:02"]
    document = {
        "wire": "ethdev",
        "link": "100G",
        "tester": {"ports": ports} | tester,
        "dut": {"kind": "external", "macs": macs},
    }
    return parse(document, "x")


@pytest.fixture
def of_machine(monkeypatch):
    """Take CPUs of a recorded machine for this one's."""

    def take(name):
        cpus = ordered(name)
        monkeypatch.setattr(cpu_order, "read", lambda _cpus: tuple(cpus))
        monkeypatch.setattr(machine, "tsc_hz", lambda: 3_000_000_000)
        return tuple(one.cpu for one in cpus)

    return take


def planned(testbed, cpus):
    plan = suite_plan(testbed, "standard", (SUITES["standard"].loadtests[1], B4), 1.0, ())
    return with_tester_workers(plan, cpus)


def test_a_plan_takes_what_its_most_demanding_traffic_needs(of_machine, tmp_path):
    cpus = of_machine("dual socket")
    plan, known = planned(external(), cpus)
    assert {step.testbed for step in plan.steps} == set(known) == {plan.testbed}
    workers = plan.testbed.tester.workers
    assert known[plan.testbed] == TesterWorkers(workers=workers, needed=workers)
    assert workers > 1
    bed = plan.testbed.model_copy(update={"cpus": cpus})
    rig = Rig(bed, tmp_path.joinpath)
    # Housekeeping has one of its own.
    assert rig._tester_cpus == cpus[: 1 + workers]
    assert not set(rig._place("x", "x").cpus) & set(rig._tester_cpus)


def test_a_number_that_is_given_stays_and_is_judged(of_machine):
    plan, known = planned(external(workers=1), of_machine("dual socket"))
    assert plan.testbed == external(workers=1)
    assert known[plan.testbed].text.startswith("too few tester workers: 1 of ")


@pytest.mark.parametrize("document", [{}, {"dut": {"mode": "io"}}, {"card": "cx4-lx"}])
def test_a_machine_of_two_cpus_and_a_virtual_card_change_nothing(document, of_machine):
    for name in ("virtual", "dual socket"):
        plan, known = planned(parse(document, "x"), of_machine(name))
        assert plan.testbed == parse(document, "x")
        assert not any(one.text for one in known.values())


def test_devices_that_the_lab_starts_keep_their_cpus(of_machine):
    testbed = parse({"wire": "veth", "link": "100G", "dut": {"kind": "kernel"}}, "x")
    plan, _ = planned(testbed, of_machine("dual socket"))
    assert plan.testbed == testbed


def test_ports_of_one_queue_use_one_worker_each():
    ports = [{"device": "net_memif0", "tx_queues": 4}, {"device": "net_memif1"}]
    assert usable_by_ports(external(), B4) == 32
    assert usable_by_ports(external(ports=ports), B4) == 5
    assert usable_by_ports(parse({}, "x"), B4) == 1
