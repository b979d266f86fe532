"""`linerate explain`: the verdict on a run, or on files that other tools wrote."""

from pathlib import Path
from typing import Annotated

import typer

from linerate.analysis.explain import explain
from linerate.analysis.measured_evidence import evidence_of
from linerate.analysis.validity import reasons
from linerate.cli.completion import complete_run
from linerate.cli.options import JsonOption
from linerate.model.evidence import Evidence
from linerate.parsers.files import evidence_of_files
from linerate.parsers.text import TextError
from linerate.report import verdict
from linerate.report.document import Document
from linerate.report.render import json as as_json_text
from linerate.report.render import terminal
from linerate.results.store import StoreError, load_evidence, load_run
from linerate.results.verdicts import judged_again
from linerate.ui.console import Console
from linerate.ui.screen import say


def explain_command(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="A run's folder, the evidence of one trial in it, or files with what other tools "
            "printed during one trial.",
            metavar="RUN|FILE…",
            autocompletion=complete_run,
        ),
    ],
    test: Annotated[
        str | None, typer.Option(help="Of a run: only this loadtest.", metavar="U2")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Name what limits a forwarder: the evidence, the arithmetic, what to try.

    Reads runs of linerate, and what people paste: VPP's show runtime, show errors, show
    interface, show hardware-interfaces; TRex's statistics; testpmd's; dmesg and lspci;
    ethtool -S; /proc/net/softnet_stat and /proc/interrupts; RIOT's ring and port statistics.
    """
    if any(is_run(path) for path in sources):
        if len(sources) > 1:
            raise typer.BadParameter("one run, or files: not both, and one run at a time")
        _explain_run(sources[0], test, as_json)
        return
    if len(sources) == 1 and (trial := measured_in(sources[0])) is not None:
        _explain_files(trial, as_json)
        return
    try:
        evidence = evidence_of_files(sources)
    except TextError as error:
        raise StoreError(str(error)) from error
    _explain_files(evidence, as_json)


def measured_in(path: Path) -> Evidence | None:
    """Evidence in a file of a run's `evidence` folder; None where it is no such file."""
    if path.suffix != ".json" or path.parent.resolve().name != "evidence":
        return None
    folder, trial = path.resolve().parent.parent, path.stem
    text, measurement = load_evidence(folder, trial)
    return evidence_of(measurement, trial, path.name, reasons(measurement), text)


def is_run(path: Path) -> bool:
    """Whether it is a run's folder, or the run.json in one."""
    return path.is_dir() or path.name == "run.json"


def _explain_run(path: Path, test: str | None, as_json: bool) -> None:
    folder = path if path.is_dir() else path.parent
    run = judged_again(folder, load_run(path))
    results = [
        result for result in run.reported() if test is None or result.test.lower() == test.lower()
    ]
    if not results:
        measured = ", ".join(result.test for result in run.reported()) or "nothing"
        raise StoreError(f"{path}: no loadtest '{test}'; {measured} was measured")
    show(verdict.of_run(run, results), as_json)


def _explain_files(evidence: Evidence, as_json: bool) -> None:
    show(verdict.of_files(evidence, explain(evidence)), as_json)


def show(document: Document, as_json: bool) -> None:
    """Print a verdict."""
    if as_json:
        say(as_json_text.render(document))
    else:
        terminal.show(Console(), document)
