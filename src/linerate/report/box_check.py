"""Output of `linerate testbed check`."""

import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from linerate.base.published import Output, published
from linerate.model.findings import Finding, State
from linerate.report.host import printable

_STYLES = {"fault": "red", "note": "yellow", "unknown": "magenta", "ok": "green"}
_WORDS = {"fault": "FAULT", "note": "note", "unknown": "?", "ok": "ok"}
_WIDTH = 78
_NAME = 24


def print_finding(console: Console, one: Finding) -> None:
    """Print a line as soon as it is known; below it, what to do."""
    found = printable(one.found)
    if one.wanted and one.state != "ok":
        found += f"; wanted: {one.wanted}"
    lines = textwrap.wrap(found, _WIDTH - _NAME - 7, break_on_hyphens=False) or [""]
    name = textwrap.wrap(printable(one.name), _NAME - 1, break_on_hyphens=False) or [""]
    for number in range(max(len(lines), len(name))):
        state = _WORDS[one.state] if number == 0 else ""
        console.print(
            Text(f"{state:<7}", _STYLES[one.state]),
            Text(f"{name[number] if number < len(name) else '':<{_NAME}}"),
            Text(lines[number] if number < len(lines) else ""),
            sep="",
            soft_wrap=True,
        )
    if one.state != "ok":
        for text in (*one.fix, one.advice):
            _print_advice(console, text)


def _print_advice(console: Console, text: str) -> None:
    for line in textwrap.wrap(
        text, _WIDTH, initial_indent="       do: ", subsequent_indent="           ",
        break_on_hyphens=False,
    ):  # fmt: skip
        console.print(Text(line), soft_wrap=True)


def print_lines(console: Console, language: str, lines: Sequence[str]) -> None:
    """Print the configuration that the box lacks, to be copied."""
    if not lines:
        return
    console.print()
    console.print(Text(f"missing on the box, in {language}'s words (--fix applies them):", "bold"))
    for line in lines:
        console.print(Text(f"  {printable(line)}"), soft_wrap=True)


def print_end(console: Console, findings: Sequence[Finding]) -> None:
    """Print the sum of it."""
    faults = sum(one.state == "fault" for one in findings)
    notes = sum(one.state == "note" for one in findings)
    text = f"{faults} fault{'s' * (faults != 1)}" if faults else "no faults"
    console.print()
    console.print(Text(f"{text}, {notes} note{'s' * (notes != 1)}", "bold"))


class CheckedLine(Output):
    """One check of a testbed."""

    check: str
    #: Port, command, prefix, where there are several.
    subject: str
    #: fault: no trial can be right. note: worth knowing. unknown: `found` says why.
    state: State
    found: str
    wanted: str
    #: Commands that help, on the box.
    fix: tuple[str, ...]
    advice: str


@published("testbed-check", "JSON of `linerate testbed check --json`")
class TestbedCheckOutput(Output):
    """Findings on a testbed with a box."""

    __test__ = False

    #: Where the box's commands ran, and its kind.
    at: str
    kind: str
    passed: bool
    findings: tuple[CheckedLine, ...]
    #: Language of the missing configuration: linux, openwrt, vpp, grout.
    language: str
    #: Configuration that the box lacks.
    lines: tuple[str, ...]


@published("testbed-new", "JSON of `linerate testbed new --json`")
class TestbedNewOutput(Output):
    """A testbed file that was written."""

    __test__ = False

    file: str
    #: Where the box's commands run.
    at: str
    #: Kind of box.
    kind: str


@published("testbed-commands", "JSON of `linerate testbed check --dry-run --json`")
class TestbedCommandsOutput(Output):
    """Commands that trials and checks run on a box."""

    __test__ = False

    at: str
    commands: tuple[str, ...]
