"""`linerate report` and `linerate compare`: pages, tables, JSON of runs on disk."""

import io
from pathlib import Path
from typing import Annotated, Literal

import typer

from linerate.base.atomic_write import write_whole
from linerate.cli.completion import complete_run
from linerate.cli.options import JsonOption
from linerate.cli.usage import USAGE
from linerate.report import comparison
from linerate.report.of_run import document_of
from linerate.report.render import csv, html, terminal
from linerate.report.render import json as as_json_text
from linerate.report.render import markdown as as_markdown
from linerate.results import compare as comparing
from linerate.results.store import Run, StoreError, load_run
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

#: Columns of text that goes into a file.
FILE_WIDTH = 100


Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write it here.", metavar="FILE")
]


def report(
    run: Annotated[
        Path, typer.Argument(help="A run's folder.", metavar="RUN", autocompletion=complete_run)
    ],
    output: Output = None,
    form: Annotated[
        Literal["html", "markdown", "csv"],
        typer.Option("--format", help="A page (RUN/report.html), or text to standard output."),
    ] = "html",
    as_json: JsonOption = False,
) -> None:
    """Make a page of a run's pictures that opens offline; or Markdown, or CSV."""
    folder = _folder(run)
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
            help="Runs; commas between those of one device: A1,A2 B1,B2.",
            metavar="RUN RUN…",
            autocompletion=complete_run,
        ),
    ],
    output: Output = None,
    form: Annotated[
        Literal["text", "html", "markdown", "csv"],
        typer.Option("--format", help="Text, Markdown and CSV go to standard output without -o."),
    ] = "text",
    as_json: JsonOption = False,
) -> None:
    """Put runs side by side: which is faster, by how much, is it more than the spread."""
    if form == "html" and output is None and not as_json:
        complain("the command line: --format html needs -o FILE.html")
        raise typer.Exit(USAGE)
    try:
        pairs = comparing.compare(comparing.sides([group(words) for words in runs]))
    except comparing.CompareError as error:
        raise StoreError(str(error)) from error
    document = comparison.document(pairs)
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


def group(words: str) -> list[tuple[str, Run]]:
    """Runs of one device: `A1,A2`; a folder may have a comma in its name."""
    names = [words] if Path(words).exists() else [name for name in words.split(",") if name]
    return [(_folder(Path(name)).resolve().name, load_run(Path(name))) for name in names]


def _folder(run: Path) -> Path:
    """The folder of a run that may be given as its run.json."""
    return run if run.is_dir() else run.parent


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
