"""`linerate schema`: JSON Schemas of what commands print with --json, and of a run's files."""

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from linerate.base.atomic_write import write_whole
from linerate.base.published import KINDS, Kind, Output, printed, published
from linerate.cli.app import COMMANDS
from linerate.cli.options import JsonOption
from linerate.cli.usage import mistaken
from linerate.report.reference import reference
from linerate.ui.screen import say


def all_kinds() -> dict[str, Kind]:
    """Every kind by name: the modules of all commands are imported, and with them the models."""
    for listed in COMMANDS:
        import_module(listed.where.partition(":")[0])
    return dict(sorted(KINDS.items()))


class SchemaOutput(Output):
    """One schema."""

    name: str
    version: int
    #: Where it is printed or kept.
    text: str


published("schemas", "JSON of `linerate schema --json`")(list[SchemaOutput])


def _complete(incomplete: str) -> list[str]:
    return [name for name in all_kinds() if name.startswith(incomplete)]


def _text(kind: Kind) -> str:
    return json.dumps(kind.schema(), indent=1)


def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of an output or a file; without one, all are listed.",
            metavar="[NAME]",
            autocompletion=_complete,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Write all schemas into this folder, NAME.json each.", metavar="DIR"),
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="With a NAME: a reference of its keys instead.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the JSON Schema of what a command prints as JSON, or of a file; or list them."""
    kinds = all_kinds()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for kind in kinds.values():
            write_whole(folder / f"{kind.name}.json", _text(kind))
        say(f"{folder}: {len(kinds)} schemas")
    elif name is None and as_json:
        listed = [
            SchemaOutput(name=one.name, version=one.version, text=one.text)
            for one in kinds.values()
        ]
        say(printed("schemas", listed))
    elif name is None:
        width = max(map(len, kinds))
        say("\n".join(f"{one.name:<{width}}  {one.text}" for one in kinds.values()))
    elif name in kinds:
        kind = kinds[name]
        say(
            reference(f"{kind.text}: reference", name, kind.schema())
            if as_markdown
            else _text(kind)
        )
    else:
        mistaken(f"'{name}': no such schema; expected one of {', '.join(kinds)}")
