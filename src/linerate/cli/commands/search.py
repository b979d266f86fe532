"""`linerate search`: NDR, PDR and other goals by one search."""

import sys
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from linerate.cli.durations import as_seconds
from linerate.cli.option_classes import with_option_classes
from linerate.cli.options import RunOptions
from linerate.cli.run_into_folder import Maker, measure_into, report, run_folder
from linerate.cli.testbed_options import (
    DEFAULT_LOADTEST,
    LoadtestOption,
    TestbedOptions,
    check_able,
)
from linerate.cli.traffic_options import TrafficOptions, check_steady
from linerate.cli.usage import FAILED, report_user_errors
from linerate.experiments.rfc2544 import (
    BURST_REPEATS,
    Rfc2544Bench,
    Rfc2544How,
    default_sizes,
    rfc2544_plan,
)
from linerate.experiments.search import How, SearchBench, search_plan
from linerate.experiments.sweep import largest_frame, parse_sizes
from linerate.model.suites import Loadtest, select
from linerate.model.testbed import Testbed
from linerate.report.of_run import document_of
from linerate.results.goals import NDR, PDR, parse_ratio
from linerate.results.store import Run
from linerate.traffic.connections import check_duration

#: Loads closer than this are equal: offered load is exact to a thousandth.
WIDTH_MIN = 0.001
WIDTH_MAX = 0.5


@with_option_classes
def search(
    *,
    loadtest: LoadtestOption = None,
    traffic: TrafficOptions,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Frame sizes instead, FCS counted, each a search: 64,512,1518 or 64:1518:64.",
            metavar="SIZES",
        ),
    ] = None,
    goals: Annotated[
        list[str] | None,
        typer.Option(
            "--goal",
            help="A loss ratio beside NDR (0) and PDR (0.5 %); again for more.",
            metavar="0.1%",
        ),
    ] = None,
    precision: Annotated[
        str, typer.Option(help="How near a goal's two loads must be.", metavar="0.5%")
    ] = "0.5%",
    duration: Annotated[
        float,
        typer.Option(help="How long deciding trials send.", parser=as_seconds, metavar="1s"),
    ] = "1s",  # type: ignore[assignment]  # the parser makes a number of it
    rfc2544: Annotated[
        bool,
        typer.Option(
            "--rfc2544", help="Throughput, latency, loss curve and bursts, by frame size."
        ),
    ] = False,
    repeat: Annotated[
        int | None,
        typer.Option(
            help=f"Searches for the longest burst, with --rfc2544 ({BURST_REPEATS}).",
            metavar="N",
            min=1,
            max=50,
        ),
    ] = None,
    testbed: TestbedOptions,
    output: RunOptions,
) -> None:
    """Find the highest loads at which nothing is lost (NDR), 0.5 % (PDR), or what you allow."""
    with report_user_errors():
        chosen = testbed.load()
        how = How(_ratios(goals or []), _width(precision), duration)
        if repeat is not None and not rfc2544:
            raise ValueError("--repeat: of bursts, with --rfc2544; a search has one of each trial")
        if rfc2544 and goals:
            raise ValueError("--goal: --rfc2544 has one goal, no loss; expected one of the two")
        loadtests = traffic.profiled(chosen, loadtest or sizes)
        if rfc2544 and sizes is None:
            sizes = ",".join(map(str, default_sizes(largest_frame((chosen,)))))
        loadtests = loadtests or _loadtests(chosen, loadtest or DEFAULT_LOADTEST, sizes)
        check_steady(loadtests, "a search")
        check_duration(loadtests, duration)
    check_able(chosen, loadtests, "a search")
    if rfc2544:
        chosen = chosen.checking_payload()
    plan = search_plan(chosen, loadtests, how, tuple(sys.argv))
    make: Maker = partial(SearchBench, how=how)
    if rfc2544:
        benchmark = Rfc2544How(how.width, duration, repeat or BURST_REPEATS)
        plan = rfc2544_plan(plan, benchmark)
        make = partial(Rfc2544Bench, how=benchmark)
    label = "rfc2544" if rfc2544 else "search"
    with run_folder(chosen, label, output) as folder:
        run, code = measure_into(plan, folder, make)
        report(document_of(run, folder.path), folder, run, output)
    raise typer.Exit(code if code not in (0, FAILED) else outcome(run))


def _ratios(goals: list[str]) -> tuple[float, ...]:
    try:
        return tuple(sorted({NDR, PDR, *map(parse_ratio, goals)}))
    except ValueError as error:
        raise ValueError(f"--goal: {error}") from error


def _width(precision: str) -> float:
    try:
        width = parse_ratio(precision)
    except ValueError:
        width = 0.0
    if not WIDTH_MIN <= width <= WIDTH_MAX:
        raise ValueError(f"--precision: expected 0.1% to 50%, as 0.5%; not '{precision}'")
    return width


def _loadtests(testbed: Testbed, names: str, sizes: str | None) -> tuple[Loadtest, ...]:
    """Some of the suite's; with other frame sizes they are named LOADTEST@SIZE."""
    found = select("standard", names)
    if sizes is None:
        return found
    return tuple(
        replace(one, name=f"{one.name}@{size}", traffic=replace(one.traffic, frame_bytes=size))
        for one in found
        for size in parse_sizes(sizes, largest_frame((testbed,)))
    )


def outcome(run: Run) -> int:
    """0 when all goals were found, even if no load meets one; not when nothing was received."""
    whole = run.status == "complete" and all(one.found for one in run.searches)
    back = any(not result.nothing_came_back for result in run.results)
    return 0 if whole and back and run.searches else FAILED
