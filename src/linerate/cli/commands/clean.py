"""`linerate clean`: what killed labs left behind, shown and removed."""

from typing import Annotated

import typer

from linerate.base.published import Output, printed, published
from linerate.cli.options import JsonOption
from linerate.engine import cleanup
from linerate.ui.screen import say

Kept = Annotated[bool, typer.Option("--dry-run", help="Say what there is, remove nothing.")]


class LeftoverOutput(Output):
    """Something that a killed lab left behind."""

    kind: str
    name: str
    removed: bool


@published("clean", "JSON of `linerate clean --json`")
class CleanOutput(Output):
    """All of it."""

    dry_run: bool
    found: tuple[LeftoverOutput, ...]


def clean(dry_run: Kept = False, as_json: JsonOption = False) -> None:
    """Remove processes, namespaces and folders that killed labs left behind."""
    found = cleanup.find()
    if not dry_run:
        cleanup.remove(found)
        # The folder of an engine that lived until now is left over only since.
        known = {(one.kind, one.name) for one in found}
        since = [one for one in cleanup.find() if (one.kind, one.name) not in known]
        cleanup.remove(since)
        found += since
    # Leftovers that could not be removed: they belong to a user with more rights.
    left = {(one.kind, one.name) for one in cleanup.find()} if found else set()
    rows = tuple(
        LeftoverOutput(kind=one.kind, name=one.name, removed=(one.kind, one.name) not in left)
        for one in found
    )
    if as_json:
        say(printed("clean", CleanOutput(dry_run=dry_run, found=rows)))
    else:
        _say(rows, dry_run)
    if not dry_run and left:
        raise typer.Exit(1)


def _say(rows: tuple[LeftoverOutput, ...], dry_run: bool) -> None:
    for row in rows:
        done = "removed" if row.removed else "left" if dry_run else "could not be removed"
        say(f"{row.kind} {row.name}: {done}")
    if not rows:
        say("nothing was left behind")
