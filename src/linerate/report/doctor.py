"""Output of `linerate doctor`."""

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from linerate.base.published import Output, published
from linerate.model.findings import About, Finding, State
from linerate.report.host import printable
from linerate.report.plain_table import plain_table

_STYLES = {"fault": "red", "note": "yellow", "unknown": "magenta", "ok": "green"}
_WIDTH = 78
_CELLS = {"check": 22, "found": 30, "wanted": 23}


def print_findings(console: Console, findings: Sequence[Finding], every: bool) -> None:
    """Print faults and notes with all there is to them, the rest in a few words or as wholly."""
    shown = [one for one in findings if every or one.state in ("fault", "note")]
    if shown:
        console.print(Text(_row("check", "found", "wanted")[0], "bold"))
    for one in shown:
        _print_finding(console, one)
    _print_boot(console, shown)
    if not every:
        _print_rest(console, findings)
    count = sum(one.state == "fault" for one in findings)
    console.print()
    console.print(
        Text(f"{count} fault{'s' * (count != 1)}" if count else "no faults", "bold"), end=""
    )
    console.print(f" in {len(findings)} checks")


def _row(*cells: str) -> list[str]:
    """Lines of a row: each cell is broken within its column."""
    columns = [
        textwrap.wrap(cell, width, break_on_hyphens=False) or [""]
        for cell, width in zip(cells, _CELLS.values(), strict=True)
    ]
    height = max(map(len, columns))
    lines = []
    for number in range(height):
        parts = [
            (column[number] if number < len(column) else "").ljust(width)
            for column, width in zip(columns, _CELLS.values(), strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return lines


def _print_finding(console: Console, one: Finding) -> None:
    for line in _row(one.name, printable(one.found), one.wanted):
        console.print(Text(line, _STYLES[one.state]))
    if one.state == "ok":
        return
    for title, message in (("why", one.why), ("source", one.source)):
        _print_sentence(console, title, message)
    for command in one.fix:
        for line in command_lines(command):
            console.print(Text(line))
    _print_sentence(console, "do", one.advice)
    if one.boot:
        for line in command_lines(one.boot, "  boot: "):
            console.print(Text(line))


def _print_sentence(console: Console, title: str, message: str) -> None:
    lines = textwrap.wrap(
        message,
        _WIDTH,
        initial_indent=f"  {title}: ",
        subsequent_indent="    ",
        break_on_hyphens=False,
    )
    for line in lines if message else ():
        console.print(Text(line, "dim" if title == "source" else ""))


def command_lines(command: str, title: str = "  fix: ") -> Iterator[str]:
    """Break a command so that a shell still takes it: blanks in quotes are left alone."""
    line = title
    empty = True
    for word in _words(printable(command)):
        if not empty and len(line) + len(word) + 1 > _WIDTH - 2:
            yield line + " \\"
            line, empty = "    ", True
        line += word if empty else " " + word
        empty = False
    yield line


def _words(command: str) -> Iterator[str]:
    word, quoted = "", False
    for letter in command:
        quoted ^= letter == "'"
        if letter == " " and not quoted:
            if word:
                yield word
            word = ""
        else:
            word += letter
    if word:
        yield word


def _print_boot(console: Console, findings: Sequence[Finding]) -> None:
    """All boot parameters in one line, as they go into the boot loader's configuration."""
    parameters: dict[str, str] = {}
    for one in findings:
        for parameter in one.boot.split():
            parameters.setdefault(parameter.partition("=")[0], parameter)
    if not parameters:
        return
    console.print()
    console.print(
        "All boot parameters; add them to GRUB_CMDLINE_LINUX in /etc/default/grub, then\n"
        "sudo update-grub (grub2-mkconfig -o /boot/grub2/grub.cfg), and restart:"
    )
    for line in textwrap.wrap(
        " ".join(parameters.values()), _WIDTH, initial_indent="  ", subsequent_indent="  "
    ):
        console.print(Text(line))


def _print_rest(console: Console, findings: Sequence[Finding]) -> None:
    unknown = [one for one in findings if one.state == "unknown"]
    if unknown:
        console.print()
        table = plain_table(("unknown", "left"), ("why", "left"))
        for one in unknown:
            lines = textwrap.wrap(printable(one.found), _WIDTH - 24) or [""]
            table.add_row(Text(one.name[:22]), Text("\n".join(lines)))
        console.print(table)
    wrong = {one.check for one in findings if one.state != "ok"}
    right = list(dict.fromkeys(one.check for one in findings if one.check not in wrong))
    if right:
        console.print()
        console.print(Text("\n".join(textwrap.wrap(f"ok: {', '.join(right)}", _WIDTH))))


class FindingOutput(Output):
    """One check, on one subject."""

    check: str
    #: The card, where there may be several.
    subject: str
    #: fault: costs rate or makes figures doubtful. note: worth knowing. unknown: `found` says why.
    state: State
    found: str
    wanted: str
    #: Why it matters, with a figure where one is known, and where that is from.
    why: str
    source: str
    #: Commands that mend it, as they are to be typed.
    fix: tuple[str, ...]
    #: Advice where no command does it, or in addition.
    advice: str
    #: Boot parameters that mend it.
    boot: str
    #: Whether --fix mends it.
    repairable: bool


@published("doctor", "JSON of `linerate doctor --json`")
class DoctorOutput(Output):
    """Findings on a host."""

    #: CPUs of the workers.
    workers: tuple[int, ...]
    #: Number of them.
    faults: int
    findings: tuple[FindingOutput, ...]
    #: The host, as far as it can be read.
    host: About


def output(workers: Sequence[int], findings: Sequence[Finding], host: About) -> DoctorOutput:
    """Spell out all findings, for programs."""
    return DoctorOutput(
        workers=tuple(workers),
        faults=sum(one.state == "fault" for one in findings),
        findings=tuple(map(FindingOutput.model_validate, findings)),
        host=host,
    )
