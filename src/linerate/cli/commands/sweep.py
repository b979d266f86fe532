"""`linerate sweep`: rates over frame sizes, for one or several configurations."""

import sys
from typing import Annotated

import typer

from linerate.base.errors import TestbedError
from linerate.cli.option_classes import with_option_classes
from linerate.cli.options import DurationOption, RepeatOption, RunOptions, WaysOption
from linerate.cli.run_into_folder import measure_into, report, run_folder
from linerate.cli.testbed_options import TestbedArgument, chosen_testbed
from linerate.cli.usage import report_user_errors
from linerate.experiments.sweep import (
    How,
    Line,
    default_sizes,
    largest_frame,
    parse_sizes,
    sweep_plan,
)
from linerate.host import machine
from linerate.model.sut_config import (
    Configuration,
    ConfigurationError,
    applied,
    configuration_of,
    keys,
    parse_all,
    words,
)
from linerate.model.testbed import Testbed
from linerate.model.worker_cpus import check_cpus
from linerate.report import sweep as sweep_report


def complete_configuration(incomplete: str) -> list[str]:
    """Complete the last word of `mode=io,dri…`."""
    before, comma, last = incomplete.rpartition(",")
    key, equals, typed = last.partition("=")
    if equals:
        found = [f"{key}={word}" for word in words(key) if word.startswith(typed)]
    else:
        found = [f"{key}=" for key in keys() if key.startswith(last)]
    return [f"{before}{comma}{word}" for word in found]


Configurations = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        help="What forwards, and on what; again for each further line.",
        metavar="mode=io,driver=…",
        autocompletion=complete_configuration,
    ),
]


@with_option_classes
def sweep(
    *,
    testbed: TestbedArgument = None,
    configurations: Configurations = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Frame sizes, FCS counted: 64,512,1518 or 64:1518:64 (from, to, step).",
            metavar="SIZES",
        ),
    ] = None,
    repeat: RepeatOption = 3,
    duration: DurationOption = "2s",  # type: ignore[assignment]  # the parser makes a number of it
    directions: WaysOption = 2,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead.")] = False,
    output: RunOptions,
) -> None:
    """Measure rate and % of line over frame sizes, trials repeated and alternating."""
    with report_user_errors():
        base = chosen_testbed(testbed)
        lines = _lines(base, configurations)
        largest = largest_frame(line.testbed for line in lines)
        chosen = default_sizes(largest) if sizes is None else parse_sizes(sizes, largest)
    how = How(chosen, repeat, directions, duration)
    plan = sweep_plan(base, lines, how, tuple(sys.argv))
    with run_folder(plan.testbed, "sweep", output) as folder:
        run, code = measure_into(plan, folder)
        document = sweep_report.document(run, folder.path)
        report(document, folder, run, output, as_csv=as_csv)
    raise typer.Exit(code)


def _lines(base: Testbed, given: list[str] | None) -> tuple[Line, ...]:
    """Make a testbed of each configuration; without any, the testbed as it is."""
    if given:
        found = tuple(Line(one, _applied(base, one)) for one in parse_all(given))
    else:
        one: Configuration = configuration_of(base)
        found = (Line(one, base),)
    for line in found:
        check_cpus(line.testbed, machine.allowed_cpus())
    return found


def _applied(base: Testbed, one: Configuration) -> Testbed:
    try:
        return applied(base, one)
    except TestbedError as error:
        raise ConfigurationError(f"--config {one.name}: {'; '.join(error.lines)}") from error
