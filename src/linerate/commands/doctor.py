"""`linerate doctor`: the host as an expert looks at it before a test, and what to mend."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.console import Console

from linerate.commands.options import JsonOption
from linerate.commands.usage import mistaken
from linerate.doctor import Host, examine, faults, look_at
from linerate.doctor.cpus import cpus_of
from linerate.doctor.host import RecordingHost
from linerate.doctor.model import Finding
from linerate.doctor.repairing import Outcome, RepairError, apply, describe, undo
from linerate.report.doctor import document, print_findings

FOUND = 1


def doctor(
    cpus: Annotated[
        str | None,
        typer.Option(help="CPUs of the workers; else the isolated ones.", metavar="2-5"),
    ] = None,
    nic: Annotated[
        list[str] | None,
        typer.Option(
            help="Cards for packets, by address or interface; else those that the host has no "
            "routes over.",
            metavar="05:00.0",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show in full what is right, too.")] = False,
    root: Annotated[Path, typer.Option(help="A recorded host's folder.", metavar="FOLDER")] = Path(
        "/"
    ),
    record: Annotated[
        Path | None, typer.Option(help="Record this host into a new folder.", metavar="FOLDER")
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Mend what is safe and can be taken back: hugepages, governor, drivers."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --fix: don't ask.")] = False,
    take_back: Annotated[
        bool, typer.Option("--undo", help="Take back all that --fix did.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Look at the host as an expert would before a test: what is wrong, why, how to mend it.

    The exit code is 1 when there are faults, else 0; 2 when the command line is wrong.
    """
    host = _host(root, record)
    workers = cpus_of(cpus)
    if cpus is not None and not workers:
        mistaken(f"--cpus: expected a list of CPUs as 2-5,8, not '{cpus}'")
    if (fix or take_back) and not host.live:
        mistaken("--fix, --undo: a recorded host can't be changed")
    if fix and take_back:
        mistaken("--fix, --undo: one of them")
    if fix and as_json and not yes:
        mistaken("--fix: add --yes, with --json there is nobody to ask")
    try:
        if take_back:
            raise typer.Exit(_say(undo(host), "nothing to take back"))
        looking = partial(look_at, host, tuple(sorted(workers or ())), tuple(nic or ()))
        look = looking()
        if nic and not look.nics:
            mistaken(f"--nic: no such card: {', '.join(nic)}")
        findings = examine(look)
        if fix:
            _mend(host, findings, yes)
            look = looking()
            findings = examine(look)
    except RepairError as error:
        print(f"linerate: {error}", file=sys.stderr)
        raise typer.Exit(FOUND) from error
    if as_json:
        print(json.dumps(document(look.workers, findings), indent=1))
    else:
        print_findings(Console(highlight=False), findings, every)
    raise typer.Exit(FOUND if faults(findings) else 0)


def _host(root: Path, record: Path | None) -> Host:
    """The host to look at. Ends on a folder that is none."""
    if record is not None:
        if root != Path("/"):
            mistaken("--record: this host only, without --root")
        if record.exists() and (not record.is_dir() or any(record.iterdir())):
            mistaken(f"--record: {record} is there already")
        return RecordingHost(record)
    if not root.is_dir():
        mistaken(f"--root: {root}: no such folder")
    return Host(root)


def _mend(host: Host, findings: tuple[Finding, ...], yes: bool) -> None:
    """Ask for each finding, and repair."""
    able = [one for one in findings if one.state == "fault" and one.repair]
    for one in able:
        lines = [describe(repair) for repair in one.repair]
        print(f"{one.name}: {one.found}; wanted: {one.wanted}", file=sys.stderr)
        print("\n".join(f"  {line}" for line in lines), file=sys.stderr)
        if yes or typer.confirm("  do it?", err=True):
            _say(apply(host, one.repair), "", file=sys.stderr)
    if not able:
        print("nothing that --fix would mend", file=sys.stderr)


def _say(outcomes: list[Outcome], nothing: str, file: TextIO | None = None) -> int:
    """Say what came of repairs; returns the exit code."""
    for outcome in outcomes:
        print(f"{'done' if outcome.done else 'not done'}: {outcome.line}", file=file or sys.stdout)
    if not outcomes:
        print(nothing)
    return 0 if all(outcome.done for outcome in outcomes) else FOUND
