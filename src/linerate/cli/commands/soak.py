"""`linerate soak`: a load held for hours, a line a minute, a verdict at the end."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from linerate.base.line_rate import format_pps
from linerate.base.published import Output, published
from linerate.cli.durations import as_long_seconds
from linerate.cli.option_classes import with_option_classes
from linerate.cli.options import RunOptions
from linerate.cli.rates import parse_pps
from linerate.cli.run_into_folder import measure_into, run_folder, show
from linerate.cli.testbed_options import LoadtestOption, TestbedOptions, check_able
from linerate.cli.traffic_options import TrafficOptions, check_steady
from linerate.cli.usage import FAILED, report_user_errors
from linerate.experiments.soak import How, Minute, SoakBench, passed, soak_plan
from linerate.model.run_records import Search, SoakState, StopAt
from linerate.model.suites import Loadtest
from linerate.report import bench as bench_report
from linerate.report import json_output
from linerate.report.document import Document, Note
from linerate.results.goals import NDR
from linerate.results.store import Run, load_run
from linerate.traffic.connections import check_duration
from linerate.ui.console import Console

#: Fewer are a share that lacks its %.
LOAD_PPS_MIN = 2


@with_option_classes
def soak(
    *,
    offered: Annotated[
        str,
        typer.Option(
            "--load",
            help="Load: a share of the line (80%) or of --of, or packets a second.",
            metavar="80%|2M",
        ),
    ] = "80%",
    of: Annotated[
        Path | None,
        typer.Option(help="Run of a search: --load is a share of its NDR.", metavar="RUN"),
    ] = None,
    duration: Annotated[
        float,
        typer.Option("--for", help="How long.", parser=as_long_seconds, metavar="8h"),
    ] = "8h",  # type: ignore[assignment]  # the parser makes a number of it
    every: Annotated[
        float,
        typer.Option(help="Reporting interval.", parser=as_long_seconds, metavar="1m"),
    ] = "1m",  # type: ignore[assignment]
    stop_at: Annotated[
        StopAt, typer.Option(help="Packets lost that no counter explains; any lost; never.")
    ] = "unexplained",
    loadtest: LoadtestOption = None,
    traffic: TrafficOptions,
    testbed: TestbedOptions,
    output: RunOptions,
) -> None:
    """Hold a load for hours; stop with a verdict at the first loss that nothing explains."""
    with report_user_errors():
        chosen = testbed.load()
        one, *others = traffic.profiled_or_standard(chosen, loadtest)
        if others:
            raise ValueError(f"--loadtest: a soak holds one; expected one of {loadtest}")
        check_steady((one,), "a soak")
        check_duration((one,), duration)
        load = parse_load(offered) if of is None else share_of(offered, ndr_of(of, one))
        how = How(load, duration, min(every, duration), stop_at)
    check_able(chosen, (one,), "a soak")
    say = partial(_say, Console(stderr=output.as_json))
    with run_folder(chosen, "soak", output) as folder:
        plan = soak_plan(chosen, one, how, tuple(sys.argv))
        make = partial(SoakBench, how=how, on_minute=say)
        run, code = measure_into(plan, folder, make)
        if not output.as_json:
            Console().print()
        show(_document(run, folder.path), run, output)
    raise typer.Exit(code if code not in (0, FAILED) else outcome(run))


def parse_load(text: str) -> float:
    """Read `80%` or `2M`: a share of the line up to 1, or packets a second above it."""
    word = text.strip()
    try:
        value = float(word[:-1]) / 100 if word.endswith("%") else parse_pps(word)
    except ValueError:
        value = 0.0
    if not (0 < value <= 1 if word.endswith("%") else value >= LOAD_PPS_MIN):
        raise ValueError(f"--load: expected 80% or packets a second, as 2M; not '{text}'")
    return value


def share_of(text: str, pps: float) -> float:
    """Read `90%`: packets a second, so much of those given."""
    share = parse_load(text)
    if share > 1:
        raise ValueError(f"--load: with --of a share, as 90%; not '{text}'")
    return share * pps


def ndr_of(path: Path, loadtest: Loadtest) -> float:
    """NDR of a search with a loadtest, packets a second; raises ValueError, StoreError."""
    known = [
        (search, goal.lower_pps)
        for search in load_run(path).searches
        for goal in search.goals
        if search.found and goal.loss_ratio == NDR and goal.lower_pps
    ]
    if not known:
        raise ValueError(f"--of: {path} is no search that found an NDR")
    fitting = [pps for search, pps in known if _is_of(search, loadtest)]
    if len(fitting) != 1:
        names = ", ".join(search.loadtest for search, _ in known)
        raise ValueError(
            f"--of: {path} has NDRs of {names}; expected one of {loadtest.name}, "
            f"{loadtest.traffic.frame_bytes:g} B: --loadtest, --traffic say which"
        )
    return fitting[0]


def _is_of(search: Search, loadtest: Loadtest) -> bool:
    """Whether it sent the same frames; one of frame sizes is named LOADTEST@SIZE."""
    same = loadtest.name in (search.loadtest, search.loadtest.rpartition("@")[0])
    return same and search.frame_bytes == loadtest.traffic.frame_bytes


def outcome(run: Run) -> int:
    """0 when it lasted as long as was asked and nothing stopped it."""
    whole = run.status == "complete" and run.soak is not None and passed(run.soak)
    valid = all(result.valid for result in run.results)
    return 0 if whole and valid and run.results else FAILED


def minute_line(minute: Minute) -> str:
    """One line, 80 columns at most."""
    hours, rest = divmod(round(minute.seconds), 3600)
    when = f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}"
    away = max(minute.away_ms.values(), default=0.0)
    parts = [
        f"{when}  {format_pps(minute.pps, '.4f')}",
        f"lost {minute.lost:,} ({minute.lost_total:,})",
        f"on their way {minute.on_their_way:,}",
    ]
    if minute.watts is not None:
        parts.append(f"{minute.watts:.1f} W")
    if minute.celsius_most is not None:
        parts.append(f"{minute.celsius_most:.0f} °C")
    if minute.unexplained:
        parts.append(f"UNEXPLAINED {minute.unexplained:,}")
    elif away >= 1:
        parts.append(f"off CPU {away:.0f} ms")
    return "  ".join(parts)


def _say(console: Console, minute: Minute) -> None:
    console.print(minute_line(minute), soft_wrap=True)


def _document(run: Run, folder: Path) -> Document:
    """The report of a bench, and how the soak went: last in a terminal, and as JSON."""
    made = replace(
        bench_report.document(run, folder), data=partial(_output, run, folder), schema="soak"
    )
    if run.soak is None or not run.soak.verdict:
        return made
    verdict = Note(run.soak.verdict, "passed" if outcome(run) == 0 else "warning")
    return replace(made, ending=(*made.ending, verdict))


class _Ended(Output):
    passed: bool
    trials: tuple[json_output.TrialOutput, ...]


class SoakNotBegun(_Ended, json_output.RunOutput):
    """A soak that ended before its load was held."""


class SoakOutput(_Ended, SoakState, json_output.RunOutput):
    """A soak, and how it went."""


published("soak", "JSON of `linerate soak --json`")(SoakOutput | SoakNotBegun)


def _output(run: Run, folder: Path) -> SoakOutput | SoakNotBegun:
    about = json_output.run_fields(run, folder)
    ended: dict[str, Any] = {
        "passed": outcome(run) == 0,
        "trials": tuple(map(json_output.trial, run.results)),
    }
    if run.soak is None:
        return SoakNotBegun(**about, **ended)
    return SoakOutput(**about, **dict(run.soak), **ended)
