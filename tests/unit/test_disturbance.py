"""CPU counters of SMIs, frequency and heat: recorded folder trees, and their effect on trials."""

import struct

import pytest

from linerate.analysis.validity import caused_by_host, doubts, reasons
from linerate.host import machine
from linerate.host.cpu_counters import APERF, MPERF, SMI_COUNT, Moment, between, read
from linerate.model.cpu_disturbance import CpuDisturbance
from linerate.model.measurement.trial import Stamp


@pytest.fixture
def tree(tmp_path):
    """A folder with what a CPU says; what is not given is not there."""

    def make(cpu=1, kilohertz=None, throttles=None, registers=None):
        sysfs = tmp_path / f"sys/devices/system/cpu/cpu{cpu}"
        if kilohertz is not None:
            (sysfs / "cpufreq").mkdir(parents=True, exist_ok=True)
            (sysfs / "cpufreq/scaling_cur_freq").write_text(f"{kilohertz}\n")
        if throttles is not None:
            (sysfs / "thermal_throttle").mkdir(parents=True, exist_ok=True)
            for name, count in zip(("core", "package"), throttles, strict=True):
                (sysfs / f"thermal_throttle/{name}_throttle_count").write_text(f"{count}\n")
        if registers is not None:
            msr = tmp_path / f"dev/cpu/{cpu}/msr"
            msr.parent.mkdir(parents=True, exist_ok=True)
            msr.write_bytes(b"")
            with msr.open("r+b") as file:
                for register, value in registers.items():
                    file.seek(register)
                    file.write(struct.pack("<Q", value))
        return tmp_path

    return make


def test_all_that_a_cpu_says_is_read(tree):
    # Registers are a byte from each other and eight long: a recorded file holds one, or distant
    # ones.
    root = tree(kilohertz=2_400_000, throttles=(3, 4), registers={SMI_COUNT: 77})
    assert read(1, root) == Moment(smis=77, megahertz=2400.0, throttles=7)


@pytest.mark.parametrize("register", [MPERF, APERF])
def test_clocks_are_read(tree, register):
    found = read(1, tree(registers={register: 2**63 + 5}))
    assert (found.aperf if register == APERF else found.mperf) == 2**63 + 5


def test_what_is_not_reported_is_not_none_of_it(tree):
    assert read(0, tree()) == Moment()
    assert between([Moment(), Moment()]) == CpuDisturbance()
    assert CpuDisturbance().nothing


def test_a_register_that_is_cut_off_is_not_readable(tree):
    root = tree(registers={0: 1})
    assert read(1, root).smis is None


def test_odd_files_are_not_readable(tree):
    root = tree(kilohertz="<unknown>", throttles=("", "-"))
    assert read(1, root) == Moment()


def test_between_moments():
    found = between(
        [
            Moment(smis=2**32 - 1, megahertz=3000.0, throttles=1, mperf=100, aperf=50),
            Moment(megahertz=2000.0),
            Moment(smis=2, megahertz=2900.0, throttles=1, mperf=300, aperf=250),
        ]
    )
    assert found == CpuDisturbance(
        smis=3, throttles=0, megahertz_min=2000.0, megahertz_max=3000.0, of_nominal=1.0
    )
    assert found.frequency_change == pytest.approx(1 / 3)
    assert not found.nothing


def of(evidence, **cpu):
    return evidence(stamp=Stamp(cpus={"forwarder-0": CpuDisturbance(**cpu)}))


@pytest.mark.parametrize(
    ("cpu", "text"),
    [
        ({"smis": 51}, "51 SMIs"),
        ({"throttles": 1}, "throttled 1 times, it is too hot"),
        ({"megahertz_min": 2000.0, "megahertz_max": 3000.0}, "between 2,000 and 3,000 MHz"),
    ],
)
def test_a_trial_is_invalid_for_what_its_cpu_did(evidence, cpu, text):
    (reason,) = reasons(of(evidence, **cpu))
    assert text in reason
    assert caused_by_host(of(evidence, **cpu))


@pytest.mark.parametrize(
    ("cpu", "text"),
    [
        ({"smis": 1}, "1 SMI: the firmware stopped the CPUs"),
        ({"megahertz_min": 2950.0, "megahertz_max": 3000.0}, "between 2,950 and 3,000 MHz"),
    ],
)
def test_a_little_is_a_doubt(evidence, cpu, text):
    assert reasons(of(evidence, **cpu)) == ()
    (doubt,) = doubts(of(evidence, **cpu))
    assert text in doubt


def test_what_is_not_readable_is_no_reason(evidence):
    assert reasons(of(evidence)) == doubts(of(evidence)) == ()


def test_switches_of_a_thread_are_distinguished(tmp_path):
    status = tmp_path / "7/task/9/status"
    status.parent.mkdir(parents=True)
    status.write_text("Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t12\n")
    assert machine.switches(7, 9, tmp_path) == machine.Switches(involuntary=12, voluntary=5)
    (status.parent / "schedstat").write_text("5000 1500000000 17\n")
    assert machine.switches(7, 9, tmp_path) == machine.Switches(12, 5, waited_seconds=1.5)
    assert machine.switches(7, 8, tmp_path) is None
    status.write_text("Name:\tx\n")
    assert machine.switches(7, 9, tmp_path) is None
