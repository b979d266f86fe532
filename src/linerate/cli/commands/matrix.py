"""`linerate matrix`: all configurations that this host can run, in one go."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from linerate.base.errors import SetupError
from linerate.base.published import printed
from linerate.cli.completion import several_of
from linerate.cli.option_classes import with_option_classes
from linerate.cli.options import DurationOption, RepeatOption, RunOptions, WaysOption
from linerate.cli.run_into_folder import measure_into, report, run_folder
from linerate.cli.testbed_options import chosen_testbed
from linerate.cli.usage import report_user_errors
from linerate.engine import cleanup
from linerate.experiments import matrix
from linerate.experiments.sweep import How, sweep_plan
from linerate.host import machine
from linerate.lab.syscall_loops import measure_hop
from linerate.model import matrix_cases
from linerate.model.run_records import Hop
from linerate.model.testbed import Testbed
from linerate.report.matrix import MatrixListOutput, list_report
from linerate.report.of_run import document_of
from linerate.ui.console import Console
from linerate.ui.screen import complain, say


def _names() -> list[str]:
    """Names of all cases, and the words that select several."""
    keys = [case.configuration.key for case in matrix_cases.cases()]
    return keys + [f"{key}=" for key in matrix_cases.CHOSEN_BY]


complete_cases = several_of(_names)


@with_option_classes
def matrix_command(
    *,
    testbed: Annotated[
        Path | None,
        typer.Argument(help="Testbed file: its card, link, CPUs.", metavar="[TESTBED.yaml]"),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="Only these cases: names, '*rx-only*', mode=l2-switch, driver=io_uring.",
            metavar="CASE,…",
            autocompletion=complete_cases,
        ),
    ] = None,
    repeat: RepeatOption = 3,
    duration: DurationOption = "1s",  # type: ignore[assignment]  # the parser makes a number of it
    directions: WaysOption = 2,
    only_list: Annotated[
        bool, typer.Option("--list", help="Only say what can be run here, and what can't.")
    ] = False,
    output: RunOptions,
) -> None:
    """Run every configuration that this host can, and compare them: rate, limit, cost."""
    with report_user_errors():
        base = chosen_testbed(testbed)
        if base.by_server:
            raise ValueError(
                "tester: a matrix is of this host's forwarders, with our own tester: expected "
                "kind: engine"
            )
        looked = matrix.look(base, (case.configuration for case in matrix_cases.select(only)))
    if only_list:
        _list(looked, output.as_json)
        return
    how = How((matrix.FRAME_BYTES,), repeat, directions, duration)
    if not output.as_json:
        complain(_announced(len(looked.lines), how))
    with run_folder(base, "matrix", output) as folder:
        hop = _hop(base, looked)
        plan = sweep_plan(base, looked.lines, how, tuple(sys.argv), "matrix", looked.absent, hop)
        run, code = measure_into(plan, folder)
        report(document_of(run, folder.path), folder, run, output)
    raise typer.Exit(code)


def _hop(base: Testbed, looked: matrix.Looked) -> Hop | None:
    """Cost of the link by itself; without it, costs are printed unadjusted."""
    if not any(line.testbed.wire == "veth" for line in looked.lines):
        return None
    try:
        cleanup.remove(cleanup.find())
        return measure_hop(base.cpus or machine.allowed_cpus())
    except SetupError as error:
        complain(f"the wire's own cost is not known: {error}")
        return None


def _announced(count: int, how: How) -> str:
    """Say how long it will take, before it starts."""
    took = matrix.seconds(count * how.repeats, how.duration_seconds)
    long = f"{took / 60:.0f} minutes" if took >= 90 else f"{took:.0f} seconds"
    times = f", {how.repeats} times" if how.repeats > 1 else ""
    return f"matrix: {count} configurations{times}, {how.duration_seconds:g} s each: about {long}"


def _list(looked: matrix.Looked, as_json: bool) -> None:
    able = [line.configuration.name for line in looked.lines]
    if as_json:
        say(
            printed(
                "matrix-list", MatrixListOutput(configurations=tuple(able), absent=looked.absent)
            )
        )
    else:
        list_report(Console(), able, looked.absent)
