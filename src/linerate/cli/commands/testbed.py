"""`linerate testbed`: write a testbed file for a box, and check that all of it works."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from linerate.base.published import json_text
from linerate.cli.options import JsonOption
from linerate.cli.run_into_folder import signals
from linerate.cli.usage import FAILED, mistaken, report_user_errors
from linerate.engine import cleanup
from linerate.experiments.box_check.checking import BoxCheck, all_commands
from linerate.host import cpu_locks, machine
from linerate.lab.box.access import BoxError, opened
from linerate.model.testbed import BOXES, Testbed, load
from linerate.report import box_check as report
from linerate.ui.console import Console
from linerate.ui.screen import complain, confirmed, say

#: Longest wait for one line of configuration.
APPLY_SECONDS = 60.0

testbed = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Write a testbed file for a box, and check it: cables, addresses, routes, first packets.",
)


@testbed.callback()
def _group() -> None:
    """Options of the group itself: none."""


FileArgument = Annotated[Path, typer.Argument(help="Testbed file.", metavar="TESTBED.yaml")]


@testbed.command(
    epilog="Examples:\n\n[bold]linerate testbed check box.yaml[/] # 0 only if all is well\n\n"
    "[bold]linerate testbed check box.yaml --dry-run[/] # what would be run on the box\n\n"
    "[bold]linerate testbed check box.yaml --fix[/] # apply the missing lines, shown first"
)
def check(
    file: FileArgument,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only print the commands that runs and checks would run."),
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Apply the missing lines on the box; asks first.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --fix: don't ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a testbed with a box, line by line; the exit code is 0 only if all is well."""
    if fix and as_json and not yes:
        mistaken("--fix: add --yes, with --json it cannot ask")
    with report_user_errors():
        bed = load(file)
        _check_box(bed, file)
    if dry_run:
        _show_commands(bed, as_json)
        return
    checked = _checked(bed, as_json)
    if fix and checked.lines.lines and _apply(checked, bed, yes, as_json):
        checked = _checked(bed, as_json)
    if as_json:
        say(json_text(_output(checked, bed)))
    else:
        report.print_end(Console(), checked.findings)
    raise typer.Exit(0 if checked.passed else FAILED)


def _check_box(bed: Testbed, file: Path) -> None:
    if not bed.dut.is_box:
        raise ValueError(
            f"{file}: dut: expected a box (kind {', '.join(BOXES)}, with `at` and `ports`), not "
            f"'{bed.dut.kind}'; `linerate testbed new` writes such a file"
        )


def _show_commands(bed: Testbed, as_json: bool) -> None:
    at = bed.dut.at or "local"
    commands = all_commands(bed)
    if as_json:
        say(json_text(report.TestbedCommandsOutput(at=at, commands=commands)))
        return
    for command in commands:
        say(f"{at}: {command}")


def _checked(bed: Testbed, quiet: bool) -> BoxCheck:
    """Make all checks, each printed at once unless `quiet`."""
    console = Console()
    cpus = bed.cpus or machine.allowed_cpus()
    with (
        signals(),
        cpu_locks.held(cpus),
        tempfile.TemporaryDirectory(prefix="linerate-check-") as folder,
    ):
        tell = (lambda _one: None) if quiet else (lambda one: report.print_finding(console, one))
        checked = BoxCheck(bed, Path(folder), tell)
        try:
            checked.run()
        finally:
            cleanup.remove(cleanup.find_own())
    if not quiet:
        report.print_lines(console, checked.lines.language, checked.lines.lines)
    return checked


def _apply(checked: BoxCheck, bed: Testbed, yes: bool, quiet: bool) -> bool:
    """Run what is missing on the box, once the user agrees; whether anything was done."""
    if quiet:
        for line in checked.lines.commands:
            complain(f"{bed.dut.at}: {line}")
    if not yes and not confirmed(f"apply these lines on {bed.dut.at}?"):
        return False
    with opened(bed.dut.at or "local") as access:
        for command in checked.lines.commands:
            ran = access.run(command, APPLY_SECONDS)
            if ran.status:
                lines = (ran.error or ran.text).strip().splitlines()
                why = lines[-1] if lines else f"it ended with status {ran.status}"
                raise BoxError(f"{access.where}: `{command}`: {why}")
    complain(f"applied on {bed.dut.at}; checking again")
    return True


def _output(checked: BoxCheck, bed: Testbed) -> report.TestbedCheckOutput:
    return report.TestbedCheckOutput(
        at=bed.dut.at or "local",
        kind=bed.dut.kind,
        passed=checked.passed,
        findings=tuple(map(report.CheckedLine.model_validate, checked.findings)),
        language=checked.lines.language,
        lines=checked.lines.lines,
    )
