"""`linerate testbed`: write a testbed file for a box, and check that all of it works."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from linerate.base import ownership
from linerate.base.atomic_write import write_whole
from linerate.base.published import printed
from linerate.cli.commands import testbed_trace
from linerate.cli.completion import one_of
from linerate.cli.options import JsonOption
from linerate.cli.run_into_folder import signals
from linerate.cli.usage import FAILED, mistaken, report_user_errors, usage
from linerate.engine import cleanup
from linerate.experiments.box_check import writing
from linerate.experiments.box_check.checking import BoxCheck, Tell, all_commands
from linerate.host import cpu_locks, machine
from linerate.lab.box.access import BoxError, opened
from linerate.model.box_setup import Interface
from linerate.model.findings import Finding
from linerate.model.testbed import BOXES, Testbed, load
from linerate.report import box_check as report
from linerate.ui.console import Console
from linerate.ui.screen import answered, complain, confirmed, say

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


testbed.command(epilog=testbed_trace.EPILOG)(testbed_trace.trace)


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
    every: Annotated[bool, typer.Option("--all", help="List each command that is right.")] = False,
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
    tell = _teller(as_json, every)
    lines = (lambda _checked: None) if as_json else _print_lines
    checked = _checked(bed, tell)
    lines(checked)
    if fix and checked.lines.lines and _apply(checked, bed, yes, as_json):
        checked = _checked(bed, tell)
        lines(checked)
    if as_json:
        say(printed("testbed-check", _output(checked, bed), bed))
    else:
        report.print_end(Console(), checked.findings)
    raise typer.Exit(0 if checked.passed else FAILED)


@testbed.command(
    epilog="Examples:\n\n[bold]linerate testbed new box.yaml[/] # asks, and looks at the box\n\n"
    "[bold]linerate testbed new box.yaml --at ssh://root@box --tester eth1,eth2 --ports e0,e1[/]"
)
def new(
    file: Annotated[Path, typer.Argument(help="File to write.", metavar="TESTBED.yaml")],
    at: Annotated[
        str | None,
        typer.Option(
            help="Where the box's commands run: ssh://LOGIN@HOST, local, netns:NAME, "
            "container:NAME.",
            metavar="PLACE",
            autocompletion=one_of(["ssh://root@", "local", "netns:", "container:"]),
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help=f"Kind of box: {', '.join(BOXES)}; else found out.", autocompletion=one_of(BOXES)
        ),
    ] = None,
    ports: Annotated[
        str | None,
        typer.Option(
            help="The box's ports in the order in which packets come by: two; one that they enter "
            "and leave by; four or more, where they cross the box several times.",
            metavar="E0,E1",
        ),
    ] = None,
    addresses: Annotated[
        str | None,
        typer.Option(
            help="Addresses of those at the tester's ports.", metavar="100.64.1.1/30,100.64.2.1/30"
        ),
    ] = None,
    tester: Annotated[
        str | None,
        typer.Option(
            help="The tester's ports: interfaces, PCI addresses, memif sockets; two, or one where "
            "the box has one.",
            metavar="T0,T1",
        ),
    ] = None,
    link: Annotated[str | None, typer.Option(help="100 % of the load.", metavar="10G")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Look at a box, and write a testbed file for it; asks for what no option gives."""
    if file.exists() and not force:
        mistaken(f"{file} is there already: give another name, or --force")
    with report_user_errors():
        place = asked("at", at, "Where do the box's commands run", "ssh://root@box", needed=True)
        found, setup = writing.look(place, kind)
        known = writing.candidates(setup, place)
        _list(f"Ports of the box ({found})", known)
        chosen = listed("ports", ports, "The box's ports, that of t0 first", _names(known, 2))
        facing = writing.facing(chosen)
        own = writing.default_addresses(setup, facing)
        here = writing.candidates(writing.look_here())
        _list("Interfaces of this host", here)
        choices = writing.Choices(
            name=re.sub(r"[^A-Za-z0-9_-]", "-", file.stem)[:40] or "box",
            at=place,
            kind=found,
            ports=chosen,
            addresses=listed(
                "addresses", addresses, f"Addresses of {' and '.join(facing)}", own, len(facing)
            ),
            tester=listed(
                "tester",
                tester,
                f"The tester's {'ports' if len(facing) > 1 else 'port'}",
                _names(here, len(facing)) if is_asking() else (),
                len(facing),
            ),
            link=asked("link", link, "100 % of the load", writing.default_link(setup, chosen)),
        )
        write_whole(file, writing.text(choices, setup))
    if as_json:
        say(printed("testbed-new", report.TestbedNewOutput(file=str(file), at=place, kind=found)))
    else:
        say(f"{file}: written; now: linerate testbed check {file}")


def _list(title: str, interfaces: Sequence[Interface]) -> None:
    if is_asking():
        complain(f"{title}:")
        for one in interfaces:
            complain(f"  {writing.described(one)}")


def is_asking() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()


def asked(
    option: str, given: str | None, question: str, default: str = "", *, needed: bool = False
) -> str:
    """The option, or the answer to a question, or its default; without both the command ends."""
    if given is not None:
        return given
    if is_asking():
        return answered(question, default)
    if needed or not default:
        raise ValueError(f"--{option}: required where no terminal can be asked")
    return default


def _names(known: Sequence[Interface], count: int) -> tuple[str, ...]:
    """Names of the first interfaces; none where there are fewer."""
    names = tuple(one.name for one in known[:count])
    return names if len(names) == count else ()


def listed(
    option: str, given: str | None, question: str, default: Sequence[str], count: int | None = None
) -> tuple[str, ...]:
    """Words with commas between them: `count`, or a number of ports that a path has."""
    text = asked(option, given, question, ",".join(default))
    parts = tuple(part.strip() for part in text.split(","))
    fits = len(parts) == count if count else len(parts) == 1 or len(parts) % 2 == 0
    if not fits or not all(parts):
        raise ValueError(f"--{option}: expected {_COUNTS[count]}, not '{text}'")
    return parts


#: Ports that a path has, in words.
_COUNTS = {
    1: "one, as the box has one port",
    2: "two with a comma between them",
    None: "one, two, or two for each time that packets cross the box, with commas between them",
}


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
        say(
            printed("testbed-commands", report.TestbedCommandsOutput(at=at, commands=commands), bed)
        )
        return
    for command in commands:
        say(f"{at}: {command}")


def _teller(quiet: bool, every: bool) -> Tell:
    """Prints findings as they come; commands that are right are one line unless `every`."""
    if quiet:
        return lambda _one: None
    console = Console()

    def tell(one: Finding) -> None:
        if every or one.check != "command" or one.state != "ok":
            report.print_finding(console, one)

    return tell


def _print_lines(checked: BoxCheck) -> None:
    report.print_lines(Console(), checked.lines.language, checked.lines.lines)


def _checked(bed: Testbed, tell: Tell) -> BoxCheck:
    """Make all checks."""
    if bed.by_server:
        usage("tester: checks send with our own tester, expected kind: engine")
    cpus = bed.cpus or machine.allowed_cpus()
    with (
        signals(),
        cpu_locks.held(cpus),
        ownership.temporary_folder("check") as folder,
    ):
        checked = BoxCheck(bed, Path(folder), tell)
        try:
            checked.run()
        finally:
            cleanup.remove(cleanup.find_own())
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
