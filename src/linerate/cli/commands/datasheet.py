"""`linerate datasheet`: a page a box, and a ranking of several."""

import io
import math
import re
from typing import Annotated, Literal

import typer

from linerate.cli.commands.report import FILE_WIDTH, Output, say_or_write, write
from linerate.cli.completion import complete_run
from linerate.cli.options import JsonOption
from linerate.cli.run_groups import group
from linerate.cli.usage import USAGE
from linerate.report import datasheet as sheets_report
from linerate.report.render import csv, html, terminal
from linerate.report.render import json as as_json_text
from linerate.report.render import markdown as as_markdown
from linerate.results.compare import Side
from linerate.results.datasheet import By, Price, sheet
from linerate.ui.console import Console
from linerate.ui.screen import complain

_PRICE = re.compile(r"(\d{1,12}(?:\.\d{1,4})?)\s*([^\d\s,;]{0,8})")


def datasheet(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Runs, one box each; commas between those of one box: A1,A2 B.",
            metavar="RUN…",
            autocompletion=complete_run,
        ),
    ],
    name: Annotated[
        list[str] | None, typer.Option(help="Name of each box, in their order.", metavar="NAME")
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(help="Price of each box, in their order: 249EUR.", metavar="PRICE"),
    ] = None,
    by: Annotated[By, typer.Option(help="Order of the ranking.")] = "rate",
    output: Output = None,
    form: Annotated[
        Literal["text", "html", "markdown", "csv"],
        typer.Option("--format", help="Text, Markdown and CSV go to standard output without -o."),
    ] = "text",
    as_json: JsonOption = False,
) -> None:
    """Put a box on a page: NDR, p99, watts, energy a packet, price, what limits; rank several."""
    if form == "html" and output is None and not as_json:
        _mistake("--format html needs -o FILE.html")
    names, prices = name or [], [_price(one) for one in price or []]
    for option, given in (("--name", names), ("--price", prices)):
        if given and len(given) != len(runs):
            _mistake(f"{option}: expected one for each of {len(runs)} boxes, not {len(given)}")
    groups = [group(words) for words in runs]
    sheets = [
        sheet(
            Side(names[at] if names else one[0][0], tuple(run for _, run in one)),
            prices[at] if prices else None,
        )
        for at, one in enumerate(groups)
    ]
    document = sheets_report.document(sheets, by)
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


def _price(words: str) -> Price:
    match = _PRICE.fullmatch(words.strip())
    if match is None or not math.isfinite(float(match[1])):
        _mistake(f"--price: expected a number and a currency, as 249EUR; not '{words}'")
    assert match is not None
    return Price(float(match[1]), match[2])


def _mistake(text: str) -> None:
    complain(f"the command line: {text}")
    raise typer.Exit(USAGE)
