"""`linerate explain`: the verdict on a run, or on files that other tools wrote."""

from collections.abc import Callable
from functools import partial
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
from linerate.report.render import markdown, terminal
from linerate.results.store import StoreError, load_evidence, load_run
from linerate.results.verdicts import judged_again
from linerate.ui.console import Console
from linerate.ui.screen import say


def explain_command(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="A run's folder, the evidence of one trial in it, or what other tools printed "
            "during one trial: files, folders, a tar or zip archive, `-` for standard input.",
            metavar="RUN|FILE…",
            autocompletion=complete_run,
        ),
    ],
    test: Annotated[
        str | None, typer.Option(help="Only this loadtest of a run.", metavar="U2")
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for an issue or a mail.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Name what limits a forwarder: the evidence, the arithmetic, what to try.

    Reads runs of linerate, and pasted outputs of VPP, TRex, testpmd, the kernel and others
    (docs/sources.md lists all). Files behind a run belong to the trial that --test names.
    """
    if as_json and as_markdown:
        raise typer.BadParameter("--json or --markdown, not both")
    show = partial(_show, render=_renderer(as_json, as_markdown))
    runs = [path for path in sources if is_run(path)]
    if len(runs) > 1 or (runs and sources[0] != runs[0]):
        raise typer.BadParameter("one run, and behind it files of one of its trials")
    if runs and len(sources) == 1:
        show(_of_run(runs[0], test))
        return
    if len(sources) == 1 and (trial := measured_in(sources[0])) is not None:
        show(verdict.of_files(trial, explain(trial)))
        return
    try:
        evidence = evidence_of_files(sources[1:] if runs else sources)
    except TextError as error:
        raise StoreError(str(error)) from error
    if runs:
        # The measurement counts before the pasted text.
        evidence = _one_trial(runs[0], test).joined(evidence)
    show(verdict.of_files(evidence, explain(evidence)))


def _one_trial(path: Path, test: str | None) -> Evidence:
    """Evidence of the trial that files belong to. Raises StoreError."""
    folder = path if path.is_dir() else path.parent
    names = [result.test for result in load_run(path).reported()]
    chosen = [name for name in names if test is None or name.lower() == test.lower()]
    if len(chosen) != 1:
        raise StoreError(f"{path}: files belong to one trial: --test {'|'.join(names) or 'TEST'}")
    found = measured_in(folder / "evidence" / f"{chosen[0]}.json")
    if found is None:
        raise StoreError(f"{path}: no evidence of {chosen[0]}")
    return found


def measured_in(path: Path) -> Evidence | None:
    """Evidence in a file of a run's `evidence` folder; None where it is no such file."""
    if path.suffix != ".json" or path.parent.resolve().name != "evidence":
        return None
    folder, trial = path.resolve().parent.parent, path.stem
    text, measurement = load_evidence(folder, trial)
    return evidence_of(measurement, trial, path.name, reasons(measurement), text)


def is_run(path: Path) -> bool:
    """Whether it is a run's folder, or the run.json in one."""
    return path.name == "run.json" or (path / "run.json").is_file()


def _of_run(path: Path, test: str | None) -> Document:
    folder = path if path.is_dir() else path.parent
    run = judged_again(folder, load_run(path))
    results = [
        result for result in run.reported() if test is None or result.test.lower() == test.lower()
    ]
    if not results:
        measured = ", ".join(result.test for result in run.reported()) or "nothing"
        raise StoreError(f"{path}: no loadtest '{test}'; {measured} was measured")
    return verdict.of_run(run, results)


def _renderer(as_json: bool, as_markdown: bool) -> Callable[[Document], str] | None:
    if as_json:
        return as_json_text.render
    return markdown.render if as_markdown else None


def _show(document: Document, render: Callable[[Document], str] | None) -> None:
    """Print a verdict, in the terminal's own form where no other is asked for."""
    if render is not None:
        say(render(document))
    else:
        terminal.show(Console(), document)
