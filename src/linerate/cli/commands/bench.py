"""`linerate bench`: which loadtests, over what, as the command line and the testbed file say."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

import typer

from linerate.base.drivers import INTERFACE_DRIVERS
from linerate.cli.completion import one_of, several_of
from linerate.cli.option_classes import with_option_classes
from linerate.cli.options import DurationOption, RunOptions
from linerate.cli.run_into_folder import Maker, bench_into_folder
from linerate.cli.testbed_options import TestbedOptions
from linerate.cli.traffic_options import TrafficOptions
from linerate.cli.usage import report_user_errors, usage
from linerate.experiments.bench import Bench
from linerate.experiments.latency import LatencyBench, timed
from linerate.experiments.plan import suite_plan
from linerate.lab import rig
from linerate.model.suites import SUITES, Loadtest, select
from linerate.model.suites import find as find_suite
from linerate.model.testbed import RX_MODES, TESTERS, Testbed
from linerate.traffic.connections import check_duration
from linerate.ui.screen import complain

_RX_MODES = f"{', '.join(RX_MODES[:-1])} or {RX_MODES[-1]}"


def _all_loadtests() -> list[str]:
    return [test.name for suite in SUITES.values() for test in suite.loadtests]


def _one_of(words: Iterable[str], text: str, *flags: str) -> Any:  # noqa: ANN401 (typer's own)
    """An option that completes to one of some words."""
    return typer.Option(*flags, help=text, autocompletion=one_of(words))


@with_option_classes
def bench(
    *,
    suite: Annotated[
        str,
        _one_of(SUITES, "Suite of loadtests."),
    ] = "standard",
    only: Annotated[
        str | None,
        typer.Option(
            help="Only these loadtests.", metavar="U1,B2", autocompletion=several_of(_all_loadtests)
        ),
    ] = None,
    traffic: TrafficOptions,
    duration: DurationOption = "5s",  # type: ignore[assignment]  # the parser makes a number of it
    repeat: Annotated[
        int, typer.Option(help="Trials of each loadtest; median and spread.", min=1, max=100)
    ] = 1,
    testbed: TestbedOptions,
    rx_mode: Annotated[
        str | None,
        _one_of(RX_MODES, f"How workers wait for frames: {_RX_MODES}."),
    ] = None,
    tester: Annotated[
        str | None,
        _one_of(TESTERS, f"Tester: {', '.join(TESTERS)}."),
    ] = None,
    driver: Annotated[
        str | None,
        _one_of(
            INTERFACE_DRIVERS,
            f"Driver of the tester's ports on interfaces: {', '.join(INTERFACE_DRIVERS)}.",
        ),
    ] = None,
    dut_driver: Annotated[
        str | None,
        _one_of(INTERFACE_DRIVERS, "The same of our device under test."),
    ] = None,
    latency: Annotated[
        bool, typer.Option("--latency", help="Time a tenth of the frames; the bare link too.")
    ] = False,
    accept_suspect: Annotated[
        bool,
        typer.Option(
            "--accept-suspect",
            help="Where the machine gives no valid trial, show what came of one, marked.",
        ),
    ] = False,
    output: RunOptions,
) -> None:
    """Run the loadtests of a suite and say how fast, where packets were lost, what limits."""
    with report_user_errors():
        chosen = testbed.load(rx_mode=rx_mode, tester=tester, driver=driver, dut_driver=dut_driver)
        chosen = find_suite(suite).base(chosen)
        loadtests = _that_can_be_forwarded(
            chosen, traffic.profiled(chosen, only) or select(suite, only)
        )
        if latency:
            loadtests = tuple(map(timed, loadtests))
        check_duration(loadtests, duration)
    make: Maker = LatencyBench if latency else Bench
    plan = suite_plan(chosen, suite, loadtests, duration, tuple(sys.argv), repeat)
    plan = replace(plan, accept_suspect=accept_suspect)
    raise typer.Exit(bench_into_folder(plan, output, make))


def _that_can_be_forwarded(
    testbed: Testbed, loadtests: tuple[Loadtest, ...]
) -> tuple[Loadtest, ...]:
    """Leave out what the device can't forward, and say so; ends when this host lacks something."""
    if lacking := rig.missing(testbed):
        usage("\n".join(map(str, lacking)))
    able = tuple(loadtest for loadtest in loadtests if rig.can_run(testbed, loadtest))
    if left_out := [loadtest for loadtest in loadtests if loadtest not in able]:
        names = ", ".join(loadtest.name for loadtest in left_out)
        line = f"{names}: left out, {rig.why_not(testbed, left_out[0])}"
        if not able:
            usage(line)
        complain(line)
    return able
