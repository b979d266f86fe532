"""Parts that the documents of all runs share: title, machine, how it ended, where its files are."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from linerate.model.environment import Environment
from linerate.model.port_kinds import ports_text
from linerate.report import cases, sheet
from linerate.report.document import (
    Chapter,
    Document,
    Figure,
    Heading,
    Listing,
    Note,
    Section,
    Table,
    table,
)
from linerate.report.host import host_line
from linerate.report.summary import about
from linerate.results.store import Run

NOTHING = Note("Nothing was measured.", "text")


def framed(
    run: Run,
    folder: Path,
    label: str,
    sections: Iterable[Section],
    *,
    data: Callable[[], Any],
    schema: str = "",
    title: str = "",
    details: Callable[[], Iterable[Section]] = tuple,
    rows: Callable[[], Iterable[Sequence[object]]] | None = None,
    more: Sequence[str] = (),
    abbreviated: str = "",
) -> Document:
    """A run's document of these sections.

    `more`: commands and files that lead on from it; `abbreviated`: what a terminal shortens.
    """
    doubt = host_line(run.host)
    places = (f"everything is in {folder}", *more)
    return Document(
        title=title or heading(run),
        page_title=f"{folder.resolve().name}: linerate {label}",
        about=about_run(run, folder, label),
        preface=(
            Note(environment_line(run.environment)),
            *((Note(doubt, "doubt"),) if doubt else ()),
        ),
        sections=filled(sections),
        details=lambda: filled((*details(), *_measured_on(run))),
        data=data,
        schema=schema or label,
        testbed=run.testbed,
        cases=partial(cases.of_run, run),
        sheet=rows or partial(sheet.trials, run),
        abbreviations=(Note(abbreviated),) if abbreviated else (),
        status=None
        if run.status == "complete"
        else Note(f" {run.problem or 'stopped before the end'}", "warning", f"{run.status}:"),
        ending=tuple(Note(line, "text") for line in places),
    )


def filled(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Sections without tables that have no rows, and pictures of nothing."""
    kept = [section for section in sections if _has_content(section)]
    after: Iterable[Section | None] = (*kept[1:], None)
    return tuple(
        section
        for section, next_one in zip(kept, after, strict=True)
        # A chapter of which nothing is left.
        if not (isinstance(section, Chapter) and isinstance(next_one, Heading | None))
    )


def _has_content(section: Section) -> bool:
    if isinstance(section, Figure):
        return section.plot is not None or section.table is not None
    return not isinstance(section, Table | Listing) or bool(section.rows)


def heading(run: Run) -> str:
    """The device under test, and its ports."""
    testbed = run.testbed
    workers = f"{testbed.dut.workers} worker" + "s" * (testbed.dut.workers > 1)
    if testbed.dut.rx_mode != "polling":
        workers += f", rx mode {testbed.dut.rx_mode}"
    who = f"{testbed.dut.name}, {workers}" if testbed.dut.built_in else testbed.dut.name
    links = f"; links: {run.environment.links}" if run.environment.links else ""
    testers = run.tester_workers.text if run.tester_workers is not None else ""
    return "; ".join(filter(None, (who, ports_text(testbed) + links, testers)))


def about_run(run: Run, folder: Path, label: str) -> tuple[tuple[str, str], ...]:
    """When, on which machine, by which versions: beneath a page's title."""
    environment = run.environment
    seconds = (run.finished - run.started).total_seconds() if run.finished else 0.0
    length = f", {seconds / 60:.0f} min" if seconds >= 90 else f", {seconds:.0f} s"
    pairs = (
        ("run", folder.resolve().name),
        ("measured", f"{run.started:%-d %B %Y, %H:%M %Z}" + (length if run.finished else "")),
        ("machine", environment_line(environment).partition(";")[0]),
        ("host", environment.hostname),
        ("kernel", environment.kernel),
        ("DPDK", environment.dpdk.removeprefix("DPDK ")),
        ("linerate", f"{environment.linerate} {environment.commit}".strip()),
        ("the host was busy", host_line(run.host).removeprefix("host: ")),
    )
    return tuple((name, value) for name, value in pairs if value)


def environment_line(environment: Environment) -> str:
    """The machine in one line."""
    cpus = f"{len(environment.cpus)} CPU" + "s" * (len(environment.cpus) > 1)
    where = f"{environment.cpu_model}, {cpus}" + ", virtual machine" * environment.hypervisor
    also = [part for part in (environment.dpdk, environment.memory) if part]
    if environment.autogroup_nice is not None:
        also.append(f"autogroup nice {environment.autogroup_nice}")
    return "; ".join([where, *also])


def _measured_on(run: Run) -> list[Section]:
    """The machine and the command, in full."""
    found = table("Environment and command", ("what", "value"), about(run), words=(0, 1))
    return [Heading("Measured on", "environment"), found.untitled]
