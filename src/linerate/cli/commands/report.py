"""`linerate report` and `linerate compare`: pages, tables, JSON of runs on disk."""

import io
from pathlib import Path
from typing import Annotated, Literal

import typer

from linerate.base.atomic_write import write_whole
from linerate.cli.campaign_pages import campaign_of, show_campaign
from linerate.cli.ci_files import JunitOption, SummaryOption, write_ci_files
from linerate.cli.completion import complete_run
from linerate.cli.dataset_options import DEFAULT, DatasetOption
from linerate.cli.options import JsonOption
from linerate.cli.run_groups import folder_of, group
from linerate.cli.usage import GATE_FAILS, GATE_UNKNOWN, USAGE, mistaken
from linerate.report import comparison
from linerate.report.document import Document
from linerate.report.of_run import document_of
from linerate.report.render import csv, html, terminal
from linerate.report.render import json as as_json_text
from linerate.report.render import markdown as as_markdown
from linerate.results import baselines
from linerate.results import compare as comparing
from linerate.results.gates import GateError, parse_gate
from linerate.results.store import Run, StoreError, load_run
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

#: Columns of text that goes into a file.
FILE_WIDTH = 100
Form = Literal["text", "html", "markdown", "csv"]


Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write it here.", metavar="FILE")
]


def report(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Runs' folders.", metavar="[RUN…]", autocompletion=complete_run),
    ] = None,
    output: Output = None,
    form: Annotated[
        Literal["html", "markdown", "csv"],
        typer.Option("--format", help="A page (RUN/report.html), or text to standard output."),
    ] = "html",
    as_json: JsonOption = False,
    campaign: Annotated[
        str | None,
        typer.Option(
            help="Pages of a whole campaign, or of a dataset, into the folder of -o: versions and "
            "scenarios side by side, trials as CSV and Parquet.",
            metavar="NAME|URL",
        ),
    ] = None,
    dataset: DatasetOption = DEFAULT,
    against: Annotated[
        str,
        typer.Option(help="The version that the others are compared with.", metavar="VERSION"),
    ] = "",
) -> None:
    """Make a page of a run's pictures that opens offline; or Markdown, or CSV; or a campaign's."""
    if campaign is not None:
        if runs or form != "html":
            mistaken("--campaign makes pages of a dataset: give it no runs, and no --format")
        show_campaign(campaign_of(campaign, dataset, against), output, as_json)
        return
    if not runs:
        mistaken("name a run, as runs/20261121-101500-router, or a campaign with --campaign")
    pages = form == "html" and output is None and not as_json
    if len(runs) > 1 and not pages:
        several = " ".join(map(str, runs))
        mistaken(
            f"pages alone can be of several; linerate compare {several} puts them side by side"
        )
    for run in runs:
        _report(run, output, form, as_json=as_json)


def _report(run: Path, output: Path | None, form: Form, *, as_json: bool) -> None:
    folder = folder_of(run)
    document = document_of(load_run(run), folder)
    if as_json:
        say_or_write(output, as_json_text.render(document))
    elif form == "html":
        write(output or folder / "report.html", html.page(document).html)
    else:
        say_or_write(output, (as_markdown if form == "markdown" else csv).render(document))


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Runs; commas between those of one device, or a folder of them: A1,A2 B1,B2.",
            metavar="RUN RUN…",
            autocompletion=complete_run,
        ),
    ],
    output: Output = None,
    form: Annotated[
        Form,
        typer.Option("--format", help="Text, Markdown and CSV go to standard output without -o."),
    ] = "text",
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            help="End with 3 where a figure changed by more, and by more than noise: cycles (all "
            "and by node), rate, loss, p99; again for more.",
            metavar="'cycles>3%'",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Compare with the runs that `linerate baseline` keeps.", metavar="NAME"),
    ] = None,
    runs_folder: Annotated[
        Path, typer.Option("--runs", help="Where baselines are.", metavar="DIR")
    ] = Path("runs"),
    as_json: JsonOption = False,
    junit: JunitOption = None,
    summary: SummaryOption = None,
) -> None:
    """Put runs side by side: which is faster, by how much, is it more than the spread.

    The exit code is 3 where a change of --fail-if was found; 4 where none was, but there are too
    few repeats to tell of one that is as large.
    """
    try:
        gates = [parse_gate(one) for one in fail_if or ()]
    except GateError as error:
        mistaken(str(error))
    if form == "html" and output is None and not as_json:
        complain("the command line: --format html needs -o FILE.html")
        raise typer.Exit(USAGE)
    try:
        groups = [group(words) for words in runs]
        if baseline is not None:
            groups.insert(0, _kept(runs_folder, baseline))
        pairs = comparing.compare(comparing.sides(groups), gates)
    except comparing.CompareError as error:
        raise StoreError(str(error)) from error
    document = comparison.document(pairs)
    _show(document, form, output, as_json)
    write_ci_files(document, junit, summary)
    raise typer.Exit(_gated(pairs))


def _gated(pairs: list[comparing.Pair]) -> int:
    """Exit code of gates."""
    outcomes = {one.outcome for pair in pairs for one in pair.gates}
    if "fails" in outcomes:
        return GATE_FAILS
    return GATE_UNKNOWN if "unknown" in outcomes else 0


def _kept(runs: Path, name: str) -> list[tuple[str, Run]]:
    """Runs of a baseline, named after it."""
    return [(name, load_run(folder)) for folder in baselines.find(runs, name)]


def _show(document: Document, form: Form, output: Path | None, as_json: bool) -> None:
    """Print a comparison, or write it."""
    if as_json:
        say_or_write(output, as_json_text.render(document))
    elif form == "html" and output is not None:
        write(output, html.page(document).html)
    elif form in ("markdown", "csv"):
        say_or_write(output, (as_markdown if form == "markdown" else csv).render(document))
    elif output is None:
        terminal.show(Console(), document)
    else:
        out = io.StringIO()
        terminal.show(Console(width=FILE_WIDTH, file=out), document)
        write(output, out.getvalue())


def say_or_write(output: Path | None, text: str) -> None:
    """Print it, or write it where the user wants it."""
    if output is None:
        say(text.removesuffix("\n"))
    else:
        write(output, text)


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all, and say where."""
    try:
        write_whole(path, text.removesuffix("\n"))
    except OSError as error:
        raise StoreError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    say(path)
