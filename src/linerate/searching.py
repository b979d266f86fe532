"""`linerate search`: NDR, PDR and other goals by one search."""

import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from linerate import host, rig
from linerate.benching import measure_into, signals
from linerate.counting import generates
from linerate.goals import NDR, PDR, parse_ratio
from linerate.report import search as report
from linerate.report.html import searched
from linerate.search import How, SearchBench, search_plan
from linerate.store import Run, RunFolder, write_whole
from linerate.suite import Loadtest, select
from linerate.sweep import largest_frame, parse_sizes
from linerate.telling import as_seconds
from linerate.testbed import Testbed, TestbedError, check_cpus, load, with_options

USAGE = 2
FAILED = 1
#: Loads nearer to each other are not told apart: what is offered is exact to a thousandth.
WIDTH_MIN = 0.001
WIDTH_MAX = 0.5


def search(
    testbed: Annotated[
        Path | None,
        typer.Argument(
            help="Testbed file; without one: a router on a virtual card.", metavar="[TESTBED.yaml]"
        ),
    ] = None,
    loadtest: Annotated[
        str, typer.Option(help="Whose frames; commas between several.", metavar="U2")
    ] = "U2",
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
    dut: Annotated[
        str | None, typer.Option(help="Device under test, as of `linerate bench`.")
    ] = None,
    card: Annotated[
        str | None,
        typer.Option(
            help="Virtual card: a preset, limits, or both.", metavar="pps=2000000,link=10G"
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Workers of the device under test.", min=1, max=16)
    ] = None,
    wire: Annotated[str | None, typer.Option(help="What joins tester and device.")] = None,
    link: Annotated[
        str | None,
        typer.Option(help="Rate that 100 % of the load is, of wires without one.", metavar="10G"),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where run folders are made.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
) -> None:
    """Find the highest loads at which nothing is lost (NDR), 0.5 % (PDR), or what you allow."""
    try:
        given = load(testbed) if testbed else Testbed()
        chosen = with_options(given, dut, card, workers, wire=wire, link=link)
        check_cpus(chosen, host.allowed_cpus())
        how = How(_ratios(goals or []), _width(precision), duration)
        loadtests = _loadtests(chosen, loadtest, sizes)
    except TestbedError as error:
        _usage("\n".join(error.lines))
    except ValueError as error:
        _usage(f"the command line: {error}")
    for one in loadtests:
        if lacking := _lacking(chosen, one):
            _usage(lacking)
    plan = search_plan(chosen, loadtests, how, tuple(sys.argv))
    folder = RunFolder.create(runs, "search")
    with signals():
        run, code = measure_into(plan, folder, partial(SearchBench, how=how))
        write_page(run, folder)
        _report(run, folder, as_json)
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


def _lacking(testbed: Testbed, loadtest: Loadtest) -> str:
    """Why this can't be searched for, or nothing."""
    if testbed.by_tool or not generates(testbed):
        return f"{testbed.dut.name}: a search needs our tester to offer loads, expected another"
    if lacking := rig.missing(testbed):
        return "\n".join(map(str, lacking))
    return "" if rig.can_run(testbed, loadtest) else f"{loadtest.name}: {rig.why_not(testbed)}"


def outcome(run: Run) -> int:
    """0 when all goals were found, be it that no load holds one."""
    whole = run.status == "complete" and all(one.found for one in run.searches)
    return 0 if whole and run.searches else FAILED


def write_page(run: Run, folder: RunFolder) -> None:
    """Write the page beside the figures."""
    page = searched.render(run, folder.path.resolve().name)
    write_whole(folder.path / "report.html", page)


def _report(run: Run, folder: RunFolder, as_json: bool) -> None:
    if not as_json:
        report.search_report(Console(highlight=False), run, folder.path)
        return
    print(json.dumps(report.document(run, folder.path), indent=1))
    if run.problem:
        print(f"linerate: {run.problem}", file=sys.stderr)


def _usage(line: str) -> NoReturn:
    print(line, file=sys.stderr)
    raise typer.Exit(USAGE)
