"""`linerate scenario`: a box set up as a file says, checked frame by frame, then measured."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from linerate.base import ownership
from linerate.base.errors import UserError
from linerate.base.published import printed
from linerate.cli.ci_files import write_ci_files
from linerate.cli.completion import complete_run, one_of
from linerate.cli.option_classes import with_option_classes
from linerate.cli.options import DurationOption, JsonOption, RunOptions
from linerate.cli.run_groups import group
from linerate.cli.run_into_folder import measure_into, run_folder, signals
from linerate.cli.run_into_folder import show as show_report
from linerate.cli.scenario_options import (
    BoxOption,
    FrameBytesOption,
    NameArgument,
    SetOption,
    TestbedOption,
    complete_box,
    mistakes,
    values_of,
)
from linerate.cli.traffic_options import RATES
from linerate.cli.usage import FAILED, usage
from linerate.engine import cleanup, engine_process
from linerate.engine.engine_process import EngineError
from linerate.engine.telemetry import TelemetryError
from linerate.experiments.scenarios.checking import Checked
from linerate.experiments.scenarios.checking import check as check_frames
from linerate.experiments.scenarios.preparing import Chosen, Prepared, missing, prepared
from linerate.experiments.scenarios.scenario_bench import ScenarioBench, scenario_plan
from linerate.host import cpu_locks, machine
from linerate.lab.rig import Rig
from linerate.lab.trial import TrialError
from linerate.model.scenario import load, names
from linerate.model.testbed import Testbed
from linerate.model.testbed import load as load_testbed
from linerate.report import bench as bench_report
from linerate.report import scenario as report
from linerate.report import scenario_pair
from linerate.report.document import Document
from linerate.report.render import json as as_json_text
from linerate.report.render import terminal
from linerate.results.scenario_cost import pair_of
from linerate.results.store import Run
from linerate.ui.console import Console
from linerate.ui.screen import complain, one_line, say

#: Runs of each side of a pair: as many have an interval.
PAIRS = 6

scenario = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Set a box up for a feature, check it frame by frame, measure it.",
)


@scenario.callback()
def _group() -> None:
    """Options of the group itself: none."""


@scenario.command(name="list", epilog="Example: [bold]linerate scenario list --json[/]")
def list_command(as_json: JsonOption = False) -> None:
    """List the scenarios that come with linerate."""
    with mistakes():
        document = report.list_document([load(name) for name in names()])
    _print(document, as_json)


@scenario.command(
    epilog="Examples:\n\n[bold]linerate scenario show ip4-route[/]\n\n"
    "[bold]linerate scenario show mine/scenario.yaml --box kernel[/]"
)
def show(
    name: NameArgument,
    box: Annotated[
        str | None,
        typer.Option(help="This box alone.", metavar="KIND", autocompletion=complete_box),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a scenario compares, and how it sets each box up."""
    with mistakes():
        loaded = load(name)
        if box is not None:
            _ = Chosen(loaded, box, {}, Testbed()).spec
    _print(report.show_document(loaded, box), as_json)


@scenario.command(
    epilog="Examples:\n\n[bold]linerate scenario check ip4-route --box kernel[/] # 0 if all is "
    "well\n\n[bold]linerate scenario check ip4-route --box router --set routes=1000000[/]\n\n"
    "[bold]linerate scenario check ip4-route --box kernel --plant[/] # a mistake that is caught"
)
def check(
    name: NameArgument,
    box: BoxOption,
    values: SetOption = None,
    frame_bytes: FrameBytesOption = None,
    testbed: TestbedOption = None,
    plant: Annotated[
        bool,
        typer.Option("--plant", help="Plant the scenario's mistake: 0 only if it is caught."),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait while another run uses the CPUs, rather than end.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Set a box up, send 1,000 frames/s for a second, compare each that comes back."""
    chosen = _chosen(name, box, values, frame_bytes, testbed, plant=plant)
    _require(chosen)
    checks: list[report.CheckedOutput] = []
    with mistakes(), _folder(chosen, wait) as folder, prepared(chosen) as ready:
        for one in _checked(ready, folder):
            checks.append(report.checked_output(one.loadtest, one.judgement, dict(one.losses)))
            if not as_json:
                for line in report.check_lines(checks[-1]):
                    say(line)
    output = report.CheckOutput(
        scenario=chosen.use.name,
        digest=chosen.use.digest,
        box=box,
        values=chosen.use.values,
        passed=all(one.passed for one in checks),
        checks=tuple(checks),
    )
    if as_json:
        say(printed("scenario-check", output))
    raise typer.Exit(_check_code(chosen, output))


def _check_code(chosen: Chosen, output: report.CheckOutput) -> int:
    """0 when all frames are as expected; of a planted mistake, when it was caught."""
    if chosen.mistake is None:
        return 0 if output.passed else FAILED
    printed_lines = "\n".join(line for one in output.checks for line in report.check_lines(one))
    if output.passed:
        complain(f"linerate: the planted mistake was not caught: {chosen.mistake.about}")
        return FAILED
    if chosen.mistake.says not in printed_lines:
        complain(f"linerate: caught, but not as expected: '{chosen.mistake.says}'")
        return FAILED
    complain(f"linerate: caught: {chosen.mistake.about}")
    return 0


@scenario.command(
    epilog="Examples:\n\n[bold]linerate scenario run ip4-route --box router --set routes=1000000[/]"
    "\n\n[bold]linerate scenario run nft-acl --box kernel --pair[/] # what the rules cost\n\n"
    "[bold]linerate scenario run mine/scenario.yaml --box kernel --repeat 5 --json[/]"
)
@with_option_classes
def run(
    *,
    name: NameArgument,
    box: BoxOption,
    values: SetOption = None,
    frame_bytes: FrameBytesOption = None,
    testbed: TestbedOption = None,
    duration: DurationOption = "5s",  # type: ignore[assignment]  # the parser makes a number of it
    repeat: Annotated[
        int | None,
        typer.Option(
            help="Trials of each loadtest (1); with --pair, runs of each side (6).", min=1, max=100
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            help="Rate of a scenario's profile, as of `linerate bench`: 50%, 2mpps.",
            metavar="100%",
            autocompletion=one_of(RATES),
        ),
    ] = None,
    accept_suspect: Annotated[
        bool,
        typer.Option(
            "--accept-suspect",
            help="Where the machine gives no valid trial, show what came of one, marked.",
        ),
    ] = False,
    pair: Annotated[
        bool,
        typer.Option("--pair", help="Without the feature and with it, in turn: what it costs."),
    ] = False,
    output: RunOptions,
) -> None:
    """Check a scenario, then measure it as a bench does, into a run's folder."""
    chosen = replace(_chosen(name, box, values, frame_bytes, testbed), rate=rate)
    sides = _sides(chosen) if pair else ()
    _require(chosen)
    if sides:
        raise typer.Exit(_in_turn(sides, _Asked(duration, 1, accept_suspect), repeat, output))
    asked = _Asked(duration, repeat or 1, accept_suspect)
    made, code = _measured(chosen, asked, output)
    show_report(bench_report.document(made.run, made.folder), made.run, output)
    raise typer.Exit(code)


def _in_turn(
    sides: Sequence[Chosen], asked: "_Asked", rounds: int | None, output: RunOptions
) -> int:
    """Measure both sides of a pair, a run each, again and again; say what the feature costs."""
    rounds = rounds or PAIRS
    runs: tuple[list[Run], ...] = tuple([] for _ in sides)
    for number, (side, kept) in product(range(1, rounds + 1), zip(sides, runs, strict=True)):
        made, code = _measured(side, asked, output)
        complain(f"linerate: pair {number} of {rounds}: {made.folder}")
        if code > FAILED or made.run.status != "complete":
            show_report(bench_report.document(made.run, made.folder), made.run, output)
            return code
        kept.append(made.run)
    with mistakes():
        pair = pair_of(*runs)
    document = scenario_pair.document(pair)
    write_ci_files(document, output.junit, output.summary)
    _print(document, output.as_json)
    return 0 if {cost.test for cost in pair.costs} == set(runs[0][0].tests) else FAILED


@scenario.command(
    epilog="Examples:\n\n[bold]linerate scenario cost runs/…-acl-kernel runs/…-acl-kernel-2[/]\n\n"
    "[bold]linerate scenario cost A1,A2,A3 B1,B2,B3[/] # in turn: A1, B1, A2, …"
)
def cost(
    without: Annotated[
        str,
        typer.Argument(
            help="Runs without the feature; commas between several, or a folder of them.",
            metavar="WITHOUT",
            autocompletion=complete_run,
        ),
    ],
    with_it: Annotated[
        str,
        typer.Argument(help="Runs with it.", metavar="WITH", autocompletion=complete_run),
    ],
    as_json: JsonOption = False,
) -> None:
    """Say what a feature costs in cycles a packet and per cent, by runs of a scenario."""
    sides = ([run for _, run in group(words)] for words in (without, with_it))
    document = scenario_pair.document(pair_of(*sides))
    _print(document, as_json)


def _print(document: Document, as_json: bool) -> None:
    if as_json:
        say(as_json_text.render(document).removesuffix("\n"))
    else:
        terminal.show(Console(), document)


def _chosen(
    name: str,
    box: str,
    values: list[str] | None,
    frame_bytes: int | None,
    testbed: Path | None,
    plant: bool = False,
) -> Chosen:
    """Scenario, box and values that the command line asks for."""
    with mistakes():
        base = Testbed() if testbed is None else load_testbed(testbed)
        chosen = Chosen(load(name), box, values_of(values, frame_bytes), base, plant)
        _ = (chosen.spec, chosen.mistake, chosen.use)
    return chosen


def _sides(chosen: Chosen) -> list[Chosen]:
    """The scenario without its feature and with it."""
    with mistakes():
        scenario = chosen.loaded.scenario
        if not scenario.pair:
            raise UserError(f"{scenario.name}: no `pair`; expected --set of two values instead")
        if not chosen.spec.pair:
            others = " or ".join(name for name, box in scenario.boxes.items() if box.pair)
            raise UserError(
                f"{scenario.name} on {chosen.box}: not all frames are received without it: there "
                f"is no pair; expected --box {others}"
            )
        choices = [str(choice.value) for choice in scenario.values[scenario.pair]]
        asked = chosen.values.get(scenario.pair, choices[-1])
        if asked == choices[0]:
            raise UserError(f"--set {scenario.pair}={asked}: that is without it; expected another")
        sides = (choices[0], asked)
    return [replace(chosen, values={**chosen.values, scenario.pair: one}) for one in sides]


def _require(chosen: Chosen) -> None:
    """End with what this host lacks, before any work."""
    with mistakes():
        lacking = missing(chosen)
    if lacking:
        usage("\n".join(map(str, lacking)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """Trials that were asked for."""

    duration_seconds: float
    repeats: int
    accept_suspect: bool


@dataclass(frozen=True, slots=True)
class _Made:
    """A run, and where it is."""

    run: Run
    folder: Path


def _measured(chosen: Chosen, asked: _Asked, options: RunOptions) -> tuple[_Made, int]:
    """Measure a scenario with its values into a run's folder; its exit code."""
    label = f"{chosen.use.name}-{chosen.box.replace(':', '-')}"
    with ExitStack() as stack:
        with mistakes():
            ready = stack.enter_context(prepared(chosen))
        plan = scenario_plan(ready, asked.duration_seconds, tuple(sys.argv), asked.repeats)
        plan = replace(plan, accept_suspect=asked.accept_suspect)
        folder = stack.enter_context(run_folder(ready.testbed, label, options))
        run, code = measure_into(plan, folder, partial(ScenarioBench, ready))
    return _Made(run, folder.path), code


@contextmanager
def _folder(chosen: Chosen, wait: bool) -> Iterator[Path]:
    """A folder for a check's engines, while no other run has the CPUs."""
    own_cpus = os.sched_getaffinity(0)
    cpus = chosen.base.cpus or machine.allowed_cpus()
    with (
        signals(),
        cpu_locks.held(cpus, complain if wait else None),
        ownership.temporary_folder("check") as name,
    ):
        try:
            (Path(name) / "engine").mkdir()
            yield Path(name)
        finally:
            engine_process.sweep()
            cleanup.remove(cleanup.find_own())
            os.sched_setaffinity(0, own_cpus)


def _checked(ready: Prepared, folder: Path) -> Iterator[Checked]:
    """Check each loadtest; what ends a check early is a line."""
    rig = Rig(ready.testbed, lambda file: folder / "engine" / file, say=complain)
    try:
        with rig.with_box():
            for loadtest in ready.loadtests:
                yield check_frames(ready, rig, loadtest, lambda _progress: None)
    except (EngineError, TelemetryError, TrialError) as error:
        complain(one_line(f"linerate: {error}"))
        raise typer.Exit(FAILED) from error
