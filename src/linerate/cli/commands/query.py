"""`linerate query`: questions in SQL over a dataset of trials, one's own and ready ones."""

from itertools import islice
from typing import Annotated, Any

import typer
from rich.text import Text

from linerate.base.published import Output, printed, published
from linerate.cli.completion import one_of
from linerate.cli.dataset_options import DEFAULT, DatasetOption, dataset_at
from linerate.cli.options import JsonOption
from linerate.cli.usage import mistaken
from linerate.report.answer import answer, csv_lines, plain_value
from linerate.report.plain_table import plain_table
from linerate.results.dataset.asking import Answer, ask
from linerate.results.dataset.dataset import Dataset
from linerate.results.dataset.questions import Question, ready
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

#: Rows that a terminal is given.
ROWS_MAX = 1000
#: Files from which on `dataset compact` is worth its time.
FILES_MANY = 500


class ColumnOutput(Output):
    """A column of an answer."""

    name: str
    #: DuckDB's type.
    type: str


class QueryOutput(Output):
    """An answer: columns in their order, and a row an object."""

    columns: list[ColumnOutput]
    rows: list[dict[str, Any]]


published("query", "JSON of `linerate query --json`")(QueryOutput)


class ReadyOutput(Output):
    """A question that is ready to ask."""

    name: str
    title: str
    #: By name, what --set may give.
    values: dict[str, str]
    sql: str


published("query-list", "JSON of `linerate query --list --json`")(list[ReadyOutput])


def query(
    sql: Annotated[
        str | None,
        typer.Argument(help="A SELECT over the view `trials`.", metavar="['select …']"),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--ready",
            help="A question of --list.",
            metavar="NAME",
            autocompletion=one_of(ready()),
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A value of the question, `$NAME` in its SQL; again for more.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    list_ready: Annotated[
        bool, typer.Option("--list", help="List the questions that are ready to ask.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--sql", help="Print the SQL of a ready question instead.")
    ] = False,
    url: DatasetOption = DEFAULT,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead.")] = False,
) -> None:
    """Ask a dataset of trials in SQL; it can be read, and nothing else."""
    if list_ready:
        _list(as_json)
        return
    if (sql is None) == (name is None):
        mistaken("expected a question, 'select …', or --ready NAME; --list has those")
    question = _ready(name) if name is not None else None
    if show:
        say((question.sql if question else str(sql)).rstrip("\n"))
        return
    values = _values(given or [], question)
    dataset = dataset_at(url).require()
    found = ask(dataset, question.sql if question else str(sql), values)
    if as_json:
        say(printed("query", _output(found)))
    elif as_csv:
        for line in csv_lines(found.names, found.rows):
            say(line)
    else:
        _print(found, question, dataset)


def _ready(name: str) -> Question:
    if name not in ready():
        mistaken(f"--ready: no question '{name}'; there are {', '.join(ready())}")
    return ready()[name]


def _values(given: list[str], question: Question | None) -> dict[str, str | None]:
    """Values that are set; of a ready question the others are not known."""
    values: dict[str, str | None] = dict.fromkeys(question.values) if question else {}
    for one in given:
        key, sign, value = one.partition("=")
        if not sign:
            mistaken(f"--set: expected NAME=VALUE, not '{one}'")
        if question is not None and key not in values:
            known = ", ".join(values) or "none"
            mistaken(f"--set: '{question.name}' has no value '{key}'; it has {known}")
        values[key] = value
    return values


def _list(as_json: bool) -> None:
    questions = ready().values()
    if as_json:
        say(printed("query-list", [ReadyOutput.model_validate(one) for one in questions]))
        return
    table = plain_table(("question", "left"), ("title", "left"), ("--set", "left"))
    for one in questions:
        table.add_row(one.name, one.title, ", ".join(one.values))
    Console().print(table)


def _output(found: Answer) -> QueryOutput:
    names = found.names
    return QueryOutput(
        columns=[ColumnOutput(name=name, type=kind) for name, kind in found.columns],
        rows=[dict(zip(names, map(plain_value, row), strict=True)) for row in found.rows],
    )


def _print(found: Answer, question: Question | None, dataset: Dataset) -> None:
    console = Console()
    rows = list(islice(found.rows, ROWS_MAX + 1))
    if question is not None:
        console.print(Text(question.title, "bold"))
    if rows:
        console.print(answer(console, found.columns, rows[:ROWS_MAX]))
    else:
        say("no such trials")
    if len(rows) > ROWS_MAX:
        complain(f"the first {ROWS_MAX:,} rows; --csv and --json have all")
    files = len(dataset.store.files())
    if files >= FILES_MANY:
        complain(f"{files:,} files: `linerate dataset compact` makes questions faster")
