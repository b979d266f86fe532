"""`linerate baseline`: runs kept by a name, for `linerate compare --baseline`."""

from pathlib import Path
from typing import Annotated

import typer

from linerate.base.published import printed, published
from linerate.cli.completion import complete_run
from linerate.cli.options import JsonOption
from linerate.cli.usage import mistaken
from linerate.results import baselines
from linerate.results.store import load_run
from linerate.ui.screen import say

published("baseline", "JSON of `linerate baseline --json`")(baselines.Baselines)


def baseline(
    name: Annotated[
        str | None, typer.Argument(help="Name of a baseline; without one, all are listed.")
    ] = None,
    runs_given: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Runs to keep by it; several are repeats.",
            metavar="[RUN…]",
            autocompletion=complete_run,
        ),
    ] = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Forget the name; its runs stay.")
    ] = False,
    runs: Annotated[
        Path, typer.Option("--runs", help="Where run folders are.", metavar="DIR")
    ] = Path("runs"),
    as_json: JsonOption = False,
) -> None:
    """Keep runs by a name, for others to be compared with; or list those that are kept."""
    if remove:
        if name is None or runs_given:
            mistaken("--remove: expected one name, and no run")
        known = baselines.remove(runs, name)
    elif name is not None and runs_given:
        for run in runs_given:
            load_run(run)
        known = baselines.keep(runs, name, runs_given)
    else:
        known = baselines.read(runs)
        if name is not None:
            known = {name: tuple(path.name for path in baselines.find(runs, name))}
    if as_json:
        say(printed("baseline", known))
        return
    for one, folders in known.items():
        say(f"{one}: {', '.join(folders)}")
