"""`linerate doctor`: the host as an expert looks at it before a test, and what to mend."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from linerate.base import ownership
from linerate.base.published import printed
from linerate.cli.completion import one_of
from linerate.cli.options import JsonOption
from linerate.cli.usage import mistaken, report_user_errors
from linerate.host.doctor import Host, PortNeeds, examine, look_at
from linerate.host.doctor.about import about, about_text
from linerate.host.doctor.cpus import cpus_of
from linerate.host.doctor.host_view import RecordingHost
from linerate.host.doctor.nics import nics
from linerate.host.doctor.repairing import Outcome, RepairError, apply, describe, undo
from linerate.lab.box import host_files
from linerate.lab.box.access import opened
from linerate.lab.rig import hugepages_megabytes
from linerate.model.box import At
from linerate.model.findings import Finding, faults
from linerate.model.testbed import Testbed, load
from linerate.report.doctor import output, print_findings
from linerate.ui.console import Console
from linerate.ui.screen import complain, confirmed, say

FOUND = 1


def doctor(
    ctx: typer.Context,
    testbed: Annotated[
        Path | None,
        typer.Argument(
            help="Testbed file: look at what its ports and engines need.", metavar="[TESTBED]"
        ),
    ] = None,
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
    at: Annotated[
        str | None,
        typer.Option(
            help="Look at a box there instead: ssh://LOGIN@HOST, container:NAME, netns:NAME, "
            "local; with a testbed file at the cards of dut.ports.",
            metavar="PLACE",
            autocompletion=one_of(["ssh://root@", "container:", "netns:"]),
        ),
    ] = None,
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
    with report_user_errors():
        bed = None if testbed is None else load(testbed)
        host = ctx.with_resource(_place(at, root, record))
    workers = _given_cpus(cpus)
    if testbed is not None and nic:
        mistaken("--nic: the testbed file names its ports")
    if fix and as_json and not yes:
        mistaken("--fix: add --yes, with --json it cannot ask")
    if fix or take_back:
        _may_change(host, alone=fix != take_back)
    needs = None if bed is None or at else _needs(bed)
    cards = _box_cards(host, bed) if bed and at else tuple(nic or ())
    workers = workers or _own_cpus(None if at else bed)
    try:
        if take_back:
            raise typer.Exit(_say(undo(host), "nothing to take back"))
        looking = partial(look_at, host, tuple(sorted(workers)), cards, needs)
        look = looking()
        if nic and not look.nics:
            mistaken(f"--nic: no such card: {', '.join(nic)}")
        findings = examine(look)
        if fix:
            _mend(host, findings, yes)
            look = looking()
            findings = examine(look)
    except RepairError as error:
        complain(f"linerate: {error}")
        raise typer.Exit(FOUND) from error
    if as_json:
        say(printed("doctor", output(look.workers, findings, about(host))))
    else:
        print_findings(Console(), findings, every)
    raise typer.Exit(FOUND if faults(findings) else 0)


def _given_cpus(cpus: str | None) -> frozenset[int]:
    """CPUs of --cpus; ends where it has none."""
    workers = cpus_of(cpus) or frozenset()
    if cpus is not None and not workers:
        mistaken(f"--cpus: expected a list of CPUs as 2-5,8, not '{cpus}'")
    return workers


def _own_cpus(bed: Testbed | None) -> frozenset[int]:
    return frozenset(bed.cpus or ()) if bed is not None else frozenset()


def _may_change(host: Host, *, alone: bool) -> None:
    """End where nothing can be changed; `alone`: one of --fix and --undo was given."""
    if not host.live:
        mistaken("--fix, --undo: a recorded host can't be changed")
    if not alone:
        mistaken("--fix, --undo: one of them")
    if host.root == Path("/") and os.geteuid():
        mistaken("--fix, --undo: run it with sudo")


def _needs(testbed: Testbed) -> PortNeeds:
    return PortNeeds(
        addresses=tuple(port.device for port in testbed.pci_ports),
        hugepages_megabytes=hugepages_megabytes(testbed),
    )


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


@contextmanager
def _here(root: Path, record: Path | None) -> Iterator[Host]:
    yield _host(root, record)


def _place(at: str | None, root: Path, record: Path | None) -> AbstractContextManager[Host]:
    """Where to look; ends where two places are named."""
    if at is None:
        return _here(root, record)
    if record is not None or root != Path("/"):
        mistaken("--at: without --root and --record")
    return _host_at(at)


@contextmanager
def _host_at(at: str) -> Iterator[Host]:
    """A box's files, as a recorded host. Raises BoxError."""
    try:
        place = TypeAdapter(At).validate_python(at)
    except ValidationError as error:
        mistaken(f"--at: {error.errors()[0]['msg'].removeprefix('Value error, ')}")
    with ownership.temporary_folder("box") as folder:
        with opened(place) as access:
            host_files.fetch(access, Path(folder))
        host = Host(Path(folder))
        complain(f"{place}: {about_text(about(host))}")
        yield host


def _box_cards(host: Host, bed: Testbed) -> tuple[str, ...]:
    """Cards of the box's ports; a port that is none is named. Ends where the file has no box."""
    if bed.dut.box_ports is None:
        mistaken("--at: the testbed file has no dut.ports: name cards by --nic")
    names = [port.name for port in bed.dut.box_ports]
    for name in names:
        if not nics(host, (name,)):
            complain(f"{name}: no card on PCI, it is not looked at")
    return tuple(names)


def _mend(host: Host, findings: tuple[Finding, ...], yes: bool) -> None:
    """Ask for each finding, and repair."""
    able = [one for one in findings if one.state == "fault" and one.repair]
    for one in able:
        lines = [describe(repair) for repair in one.repair]
        complain(f"{one.name}: {one.found}; wanted: {one.wanted}")
        complain("\n".join(f"  {line}" for line in lines))
        if yes or confirmed("  do it?"):
            _say(apply(host, one.repair), "", complain)
    if not able:
        complain("nothing that --fix would mend")


def _say(outcomes: list[Outcome], nothing: str, tell: Callable[[object], None] = say) -> int:
    """Say what came of repairs; returns the exit code."""
    for outcome in outcomes:
        tell(f"{'done' if outcome.done else 'not done'}: {outcome.line}")
    if not outcomes:
        tell(nothing)
    return 0 if all(outcome.done for outcome in outcomes) else FOUND
