"""Traffic of a bisection's trials: a loadtest of the suite, or that of a scenario."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import typer

from linerate.base.errors import UserError
from linerate.cli.completion import one_of
from linerate.cli.scenario_options import SetOption, complete_name, mistakes, values_of
from linerate.cli.testbed_options import DEFAULT_LOADTEST, TestbedOptions
from linerate.cli.usage import usage
from linerate.experiments.bench import Bench
from linerate.experiments.bisection.measuring import Measurer
from linerate.experiments.plan import Plan, suite_plan
from linerate.experiments.scenarios.preparing import Chosen, missing, prepared
from linerate.experiments.scenarios.scenario_bench import ScenarioBench, scenario_plan
from linerate.lab import rig
from linerate.model.scenario import load as load_scenario
from linerate.model.suites import Loadtest, select
from linerate.model.suites import find as find_suite
from linerate.model.testbed import Testbed

SUITE = "standard"
#: Box of a scenario, where --dut names no other: an engine is what is built.
BOX = "router"


@dataclass(frozen=True, slots=True)
class TrafficOptions:
    """The traffic of each trial: a loadtest, or that of a scenario."""

    loadtest: Annotated[
        str | None,
        typer.Option(
            help=f"One loadtest of the standard suite ({DEFAULT_LOADTEST}), or of the scenario.",
            metavar="U2",
            autocompletion=one_of(one.name for one in find_suite(SUITE).loadtests),
        ),
    ] = None
    scenario: Annotated[
        str | None,
        typer.Option(
            help="Set up and offered as by `linerate scenario run`, checked once a commit.",
            metavar="NAME",
            autocompletion=complete_name,
        ),
    ] = None
    values: SetOption = None


@dataclass(frozen=True, slots=True)
class Offered:
    """Traffic that is offered, and what measures it."""

    testbed: Testbed
    measurer: Measurer
    #: Its part of the question that is asked.
    question: Mapping[str, str]


@contextmanager
def offered(traffic: TrafficOptions, options: TestbedOptions, seconds: float) -> Iterator[Offered]:
    """The traffic, set up for trials; a usage error where an engine of ours is not the device."""
    with mistakes():
        testbed = options.load()
    if not testbed.dut.built_in:
        usage(f"{testbed.dut.name}: expected a device of ours, as --build makes an engine")
    about = {
        "testbed": testbed.model_dump_json(by_alias=True),
        "loadtest": traffic.loadtest or "",
        "duration": f"{seconds:g}",
    }
    if traffic.scenario is None:
        with mistakes():
            plan = _of_suite(testbed, traffic.loadtest or DEFAULT_LOADTEST, seconds)
        yield Offered(testbed, Measurer(plan, Bench), about)
        return
    with mistakes():
        chosen = _chosen(traffic, testbed, options.dut or BOX)
    if lacking := missing(chosen):
        usage("\n".join(map(str, lacking)))
    with prepared(chosen) as ready:
        with mistakes():
            one = _one(ready.loadtests, traffic.loadtest)
        alone = replace(ready, loadtests=(one,))
        plan = _lenient(scenario_plan(alone, seconds, tuple(sys.argv), 1))
        about |= {"scenario": chosen.use.model_dump_json()}
        yield Offered(alone.testbed, Measurer(plan, Bench, partial(ScenarioBench, alone)), about)


def _of_suite(testbed: Testbed, name: str, seconds: float) -> Plan:
    """Plan of a trial of one of the suite's loadtests. Raises UserError."""
    testbed = find_suite(SUITE).base(testbed)
    one = _one(select(SUITE, name), name)
    if lacking := rig.missing(testbed):
        raise UserError("\n".join(map(str, lacking)))
    if not rig.can_run(testbed, one):
        raise UserError(f"{one.name}: {rig.why_not(testbed, one)}")
    return _lenient(suite_plan(testbed, SUITE, (one,), seconds, tuple(sys.argv)))


def _chosen(traffic: TrafficOptions, testbed: Testbed, box: str) -> Chosen:
    """The scenario on a box. Raises UserError, ValueError."""
    assert traffic.scenario is not None
    values = values_of(traffic.values, None)
    chosen = Chosen(load_scenario(traffic.scenario), box, values, testbed)
    _ = (chosen.spec, chosen.use)
    return chosen


def _one(loadtests: tuple[Loadtest, ...], name: str | None) -> Loadtest:
    """The loadtest of a name; the first one without. Raises UserError."""
    names = [one.name for one in loadtests]
    if name is None:
        return loadtests[0]
    if name not in names:
        raise UserError(f"--loadtest {name}: expected one of {', '.join(names)}")
    return loadtests[names.index(name)]


def _lenient(plan: Plan) -> Plan:
    """A trial that the machine disturbed twice counts: ranks bear with some outliers."""
    return replace(plan, accept_suspect=True)
