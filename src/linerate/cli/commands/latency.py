"""`linerate latency`: latency of a device at 10 % to 100 % of what it forwards without loss."""

import sys
from functools import partial
from typing import Annotated, Literal

import typer

from linerate.base.line_rate import format_pps
from linerate.cli.option_classes import with_option_classes
from linerate.cli.options import DurationOption, RunOptions
from linerate.cli.rates import parse_pps
from linerate.cli.run_into_folder import measure_into, report, run_folder
from linerate.cli.testbed_options import LoadtestOption, TestbedOptions, check_able
from linerate.cli.traffic_options import TrafficOptions, check_steady
from linerate.cli.usage import FAILED, report_user_errors
from linerate.experiments.asked_load import FULL_SCALE_PPM
from linerate.experiments.latency import PERCENTS, LatencyLoadsBench, Loads, latency_plan
from linerate.experiments.search import How
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed
from linerate.report import latency_loads
from linerate.results.goals import NDR
from linerate.results.store import Run
from linerate.traffic.connections import check_duration

#: Value of `--ndr` for the line rate.
LINE: Literal["line"] = "line"


@with_option_classes
def latency(
    *,
    loadtest: LoadtestOption = None,
    traffic: TrafficOptions,
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
        typer.Option(help="Loads, in percent of the highest one.", metavar="10,50,100"),
    ] = None,
    duration: DurationOption = "2s",  # type: ignore[assignment]  # the parser makes a number of it
    testbed: TestbedOptions,
    output: RunOptions,
) -> None:
    """Measure latency at 10 % to 100 % of the NDR, beside the bare link's."""
    with report_user_errors():
        chosen = testbed.load()
        loadtests = traffic.profiled_or_standard(chosen, loadtest)
        check_steady(loadtests, "latency over load")
        check_duration(loadtests, duration)
        wanted = _loads(ndr, loads)
        _check_top(wanted, loadtests, chosen)
        plan = latency_plan(chosen, loadtests, duration, tuple(sys.argv))
    check_able(chosen, loadtests, "latency")
    how = How((NDR,), duration_seconds=min(duration, 1.0))
    with run_folder(chosen, "latency", output) as folder:
        run, code = measure_into(plan, folder, partial(LatencyLoadsBench, how=how, loads=wanted))
        report(latency_loads.document(run, folder.path), folder, run, output)
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
