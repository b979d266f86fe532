"""The plan of a measurement: loadtests on testbeds, step by step, and its duration."""

from dataclasses import dataclass

from linerate.lab.rig import has_ceiling
from linerate.model.counting import generates
from linerate.model.suites import Loadtest, Traffic
from linerate.model.suites import find as find_suite
from linerate.model.testbed import Testbed
from linerate.results.store import Sweep

#: Retries of an invalid trial.
RETRIES = 2
CEILING_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """One loadtest on one testbed; `repeat` counts from 1."""

    testbed: Testbed
    loadtest: Loadtest
    repeat: int = 1
    #: Name of the configuration, in a sweep.
    configuration: str = ""

    @property
    def text(self) -> str:
        """In words."""
        repeat = f", repeat {self.repeat}" if self.repeat > 1 else ""
        return f"{self.loadtest.name}, {self.loadtest.text}{repeat}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps of a measurement in order."""

    #: The one that the report is headed by; steps may change it.
    testbed: Testbed
    suite: str
    steps: tuple[Step, ...]
    duration_seconds: float
    command: tuple[str, ...]
    retries: int = RETRIES
    sweep: Sweep | None = None
    #: Where the machine gives no valid trial, one that only it disturbed is shown as provisional.
    accept_suspect: bool = False
    #: Duration of each step, where trials follow from earlier ones; else that of sending.
    step_seconds: float | None = None

    @property
    def seconds(self) -> float:
        """Total sending time of all steps, if no trial is repeated."""
        if self.step_seconds is not None:
            return len(self.kinds) * CEILING_SECONDS + len(self.steps) * self.step_seconds
        warmup = sum(step.loadtest.warmup_seconds for step in self.steps)
        ceilings = len(self.kinds) * CEILING_SECONDS
        return ceilings + warmup + len(self.steps) * self.duration_seconds

    @property
    def kinds(self) -> dict["Kind", Testbed]:
        """Traffic for which the tester's ceiling is measured, each with a testbed."""
        return {
            kind_of(step.testbed, step.loadtest): step.testbed
            for step in reversed(self.steps)
            if has_ceiling(step.testbed)
            and generates(step.testbed)
            and not step.loadtest.traffic.always_paced
        }

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests, each once."""
        return tuple(dict.fromkeys(step.loadtest.name for step in self.steps))


#: Wire, frames, directions.
Kind = tuple[str, Traffic, int]


def kind_of(testbed: Testbed, loadtest: Loadtest) -> Kind:
    """Say which loadtests have one ceiling."""
    return (testbed.wire, loadtest.traffic, loadtest.directions)


def suite_plan(
    testbed: Testbed,
    suite: str,
    loadtests: tuple[Loadtest, ...],
    duration_seconds: float,
    command: tuple[str, ...],
    repeats: int = 1,
) -> Plan:
    """Plan each loadtest on the testbed that the suite makes of one; all of them once, and again.

    Disturbances of the machine affect the repeats of all loadtests alike.
    """
    prepared = find_suite(suite).testbed
    steps = tuple(
        Step(prepared(testbed, loadtest), loadtest, repeat)
        for repeat in range(1, repeats + 1)
        for loadtest in loadtests
    )
    return Plan(testbed, suite, steps, duration_seconds, command)
