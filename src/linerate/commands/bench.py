"""`linerate bench`: which loadtests, over what, as the command line and the testbed file say."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from linerate import host, rig
from linerate.bench import Bench
from linerate.card import PRESETS
from linerate.commands.durations import as_seconds
from linerate.commands.into_folder import Maker, bench_into_folder
from linerate.commands.options import JsonOption
from linerate.commands.traffic_options import DirectionsOption, RateOption, TrafficOption, profiled
from linerate.commands.usage import told, usage
from linerate.drivers import INTERFACE_DRIVERS
from linerate.latency import LatencyBench, timed
from linerate.planning import suite_plan
from linerate.suite import SUITES, Loadtest, select
from linerate.suite import find as find_suite
from linerate.testbed import (
    DUTS,
    ENGINE_MODES,
    RX_MODES,
    TESTERS,
    WIRES,
    Testbed,
    check_cpus,
    load,
    with_options,
)

FOREIGN = tuple(name for name in DUTS if name != "engine")


def _complete(words: list[str], typed: str) -> list[str]:
    return [word for word in words if word.startswith(typed)]


def _one_of(words: Iterable[str], text: str, *flags: str) -> Any:  # noqa: ANN401 (typer's own)
    """An option that completes to one of some words."""
    known = list(words)
    return typer.Option(
        *flags, help=text, autocompletion=lambda incomplete: _complete(known, incomplete)
    )


def _complete_only(incomplete: str) -> list[str]:
    """Complete the last of several names: `U1,B` to `U1,B1` and so on."""
    before, comma, last = incomplete.rpartition(",")
    names = [test.name for suite in SUITES.values() for test in suite.loadtests]
    fitting = [name for name in names if name.lower().startswith(last.lower())]
    return [f"{before}{comma}{name}" for name in fitting]


def bench(
    testbed: Annotated[
        Path | None,
        typer.Argument(
            help="Testbed file; without one: a router on a virtual card.", metavar="[TESTBED.yaml]"
        ),
    ] = None,
    suite: Annotated[
        str,
        _one_of(SUITES, "Suite of loadtests."),
    ] = "standard",
    only: Annotated[
        str | None,
        typer.Option(help="Only these loadtests.", metavar="U1,B2", autocompletion=_complete_only),
    ] = None,
    traffic: TrafficOption = None,
    rate: RateOption = None,
    directions: DirectionsOption = None,
    duration: Annotated[
        float, typer.Option(help="How long each trial sends.", parser=as_seconds, metavar="5s")
    ] = "5s",  # type: ignore[assignment]  # the parser makes a number of it
    repeat: Annotated[
        int, typer.Option(help="Trials of each loadtest; median and spread.", min=1, max=100)
    ] = 1,
    dut: Annotated[
        str | None,
        typer.Option(
            help=f"Device under test: ours ({', '.join(ENGINE_MODES)}), or "
            f"{', '.join(FOREIGN)} (testpmd:MODE).",
            autocompletion=lambda incomplete: _complete([*ENGINE_MODES, *FOREIGN], incomplete),
        ),
    ] = None,
    card: Annotated[
        str | None,
        _one_of(
            [*PRESETS, "default"],
            f"Virtual card: {', '.join(PRESETS)} or default; limits: pps=2000000,link=10G.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Workers of the device under test.", min=1, max=16)
    ] = None,
    rx_mode: Annotated[
        str | None,
        _one_of(
            RX_MODES, f"How workers wait for frames: {', '.join(RX_MODES[:-1])} or {RX_MODES[-1]}."
        ),
    ] = None,
    wire_name: Annotated[
        str | None,
        _one_of(WIRES, f"What joins tester and device: {', '.join(WIRES)}.", "--wire"),
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
    link: Annotated[
        str | None,
        typer.Option(help="Rate that 100 % of the load is, of wires without one.", metavar="10G"),
    ] = None,
    latency: Annotated[
        bool, typer.Option("--latency", help="Time a tenth of the frames; the bare wire too.")
    ] = False,
    runs: Annotated[Path, typer.Option(help="Where run folders are made.")] = Path("runs"),
    as_json: JsonOption = False,
) -> None:
    """Run the loadtests of a suite and say how fast, where packets were lost, what limits."""
    with told():
        given = load(testbed) if testbed else Testbed()
        chosen = with_options(
            given, dut, card, workers, rx_mode, wire_name, tester, driver, dut_driver, link
        )
        chosen = find_suite(suite).base(chosen)
        check_cpus(chosen, host.allowed_cpus())
        loadtests = _that_can_be_forwarded(
            chosen, profiled(traffic, rate, directions, chosen, only) or select(suite, only)
        )
    make: Maker = Bench
    if latency:
        loadtests, make = tuple(map(timed, loadtests)), LatencyBench
    plan = suite_plan(chosen, suite, loadtests, duration, tuple(sys.argv), repeat)
    raise typer.Exit(bench_into_folder(plan, runs, as_json, make))


def _that_can_be_forwarded(
    testbed: Testbed, loadtests: tuple[Loadtest, ...]
) -> tuple[Loadtest, ...]:
    """Leave out what the device can't forward, and say so; ends when this host lacks something."""
    if lacking := rig.missing(testbed):
        usage("\n".join(map(str, lacking)))
    able = tuple(loadtest for loadtest in loadtests if rig.can_run(testbed, loadtest))
    if left_out := [loadtest.name for loadtest in loadtests if loadtest not in able]:
        line = f"{', '.join(left_out)}: left out, {rig.why_not(testbed)}"
        if not able:
            usage(line)
        print(line, file=sys.stderr)
    return able
