"""`linerate latency`: latency of a device at 10 % to 100 % of what it forwards without loss."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from linerate.base.atomic_write import write_whole
from linerate.base.line_rate import format_pps
from linerate.cli.durations import as_seconds
from linerate.cli.options import JsonOption, RunsOption, WaitOption
from linerate.cli.rates import parse_pps
from linerate.cli.run_into_folder import measure_into, run_folder
from linerate.cli.testbed_options import (
    CardOption,
    DutOption,
    LinkOption,
    LoadtestOption,
    TestbedArgument,
    WireOption,
    WorkersOption,
    check_able,
    chosen_testbed,
)
from linerate.cli.traffic_options import (
    DirectionsOption,
    RateOption,
    TrafficOption,
    check_steady,
    profile_or_standard,
)
from linerate.cli.usage import FAILED, report_user_errors
from linerate.experiments.asked_load import FULL_SCALE_PPM
from linerate.experiments.latency import PERCENTS, LatencyLoadsBench, Loads, latency_plan
from linerate.experiments.search import How
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed
from linerate.report import latency_loads as report
from linerate.report.html import timed
from linerate.results.goals import NDR
from linerate.results.store import Run, RunFolder
from linerate.traffic.connections import check_duration
from linerate.ui.console import Console
from linerate.ui.screen import complain, one_line, say

#: Value of `--ndr` for the line rate.
LINE: Literal["line"] = "line"


def latency(
    testbed: TestbedArgument = None,
    loadtest: LoadtestOption = None,
    traffic: TrafficOption = None,
    rate: RateOption = None,
    directions: DirectionsOption = None,
    ndr: Annotated[
        str | None,
        typer.Option(
            help="The highest load, all directions together, instead of a search for it: "
            "packets a second, or line.",
            metavar="PPS|line",
        ),
    ] = None,
    loads: Annotated[
        str | None,
        typer.Option(help="In percent of the highest load.", metavar="10,50,100"),
    ] = None,
    duration: Annotated[
        float,
        typer.Option(help="How long each trial sends.", parser=as_seconds, metavar="2s"),
    ] = "2s",  # type: ignore[assignment]  # the parser makes a number of it
    dut: DutOption = None,
    card: CardOption = None,
    workers: WorkersOption = None,
    wire: WireOption = None,
    link: LinkOption = None,
    runs: RunsOption = Path("runs"),
    wait: WaitOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure latency at 10 % to 100 % of the NDR, beside the bare wire's."""
    with report_user_errors():
        chosen = chosen_testbed(testbed, dut=dut, card=card, workers=workers, wire=wire, link=link)
        loadtests = profile_or_standard(traffic, rate, directions, chosen, loadtest)
        check_steady(loadtests, "latency over load")
        check_duration(loadtests, duration)
        wanted = _loads(ndr, loads)
        _check_top(wanted, loadtests, chosen)
        plan = latency_plan(chosen, loadtests, duration, tuple(sys.argv))
    check_able(chosen, loadtests, "latency")
    how = How((NDR,), duration_seconds=min(duration, 1.0))
    with run_folder(chosen, runs, "latency", wait=wait) as folder:
        run, code = measure_into(plan, folder, partial(LatencyLoadsBench, how=how, loads=wanted))
        page = timed.render(run, folder.path.resolve().name).html
        write_whole(folder.path / "report.html", page)
        _report(run, folder, as_json)
    raise typer.Exit(code if code not in (0, FAILED) else outcome(run))


def _loads(ndr: str | None, percents: str | None) -> Loads:
    """Read the two options; raises ValueError."""
    shares = (
        PERCENTS if percents is None else tuple(sorted(set(map(_percent, percents.split(",")))))
    )
    top: Literal["NDR", "given", "line"] = "NDR" if ndr is None else "given"
    if ndr == LINE:
        return Loads(shares, LINE)
    return Loads(shares, top, _pps(ndr) if ndr is not None else 0.0)


def _check_top(loads: Loads, loadtests: tuple[Loadtest, ...], testbed: Testbed) -> None:
    """Raise ValueError where the highest load is more than there is to ask for."""
    for one in loadtests:
        most_pps = one.full_pps(testbed.line_bps)
        if round(FULL_SCALE_PPM * loads.top_pps / most_pps) > FULL_SCALE_PPM:
            raise ValueError(
                f"--ndr: {format_pps(loads.top_pps, '.6g')}; {one.name} has "
                f"{format_pps(most_pps, '.6g')} at most, which --ndr {LINE} asks for"
            )


def _percent(text: str) -> int:
    if not text.strip().isascii() or not text.strip().isdigit() or not 1 <= int(text) <= 100:
        raise ValueError(f"--loads: expected 1 to 100, as 10,50,100; not '{text}'")
    return int(text)


def _pps(text: str) -> float:
    try:
        return parse_pps(text)
    except ValueError:
        raise ValueError(
            f"--ndr: expected packets a second, as 1.5M, or line; not '{text}'"
        ) from None


def outcome(run: Run) -> int:
    """0 when every load was measured and is valid."""
    by_trial = {result.trial: result for result in run.results}
    points = [point for loads in run.latencies for point in loads.points]
    whole = run.status == "complete" and points
    return 0 if whole and all(by_trial[point.trial].valid for point in points) else FAILED


def _report(run: Run, folder: RunFolder, as_json: bool) -> None:
    if not as_json:
        report.loads_report(Console(), run, folder.path)
        return
    say(json.dumps(report.loads_document(run, folder.path), indent=1))
    if run.problem:
        complain(one_line(f"linerate: {run.problem}"))
