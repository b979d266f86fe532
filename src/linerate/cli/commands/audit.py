"""`linerate audit`: a published table, recomputed."""

from pathlib import Path
from typing import Annotated

import typer

from linerate.analysis.audit import TableError, audit, read_table
from linerate.base import line_rate
from linerate.base.published import printed
from linerate.cli.options import JsonOption
from linerate.cli.usage import USAGE
from linerate.report.audit import output, print_audit
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

CONTRADICTS = 1


def _complete(incomplete: str) -> list[str]:
    """Complete folders, and files that are called .csv."""
    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    try:
        found = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError:
        return []
    names = [f"{path}/" if path.is_dir() else str(path) for path in found]
    return [name for name in names if name.startswith(incomplete) and name.endswith((".csv", "/"))]


def audit_table(
    table: Annotated[
        Path,
        typer.Argument(
            help="Table of loadtests: docs/audit.md says which columns.",
            metavar="TABLE.csv",
            autocompletion=_complete,
        ),
    ],
    link: Annotated[
        str, typer.Option(help="Link of a table without the column link_gbps.", metavar="LINK")
    ] = "10G",
    as_json: JsonOption = False,
) -> None:
    """Recompute a published table: which rows contradict themselves, and why.

    The exit code is 1 when a percentage cannot follow from its packet rate, else 0; 2 when
    the file is no such table.
    """
    try:
        found = audit(read_table(table, line_rate.parse_bps(link)))
    except (TableError, ValueError) as error:
        line = str(error) if isinstance(error, TableError) else f"the command line: link: {error}"
        complain(line)
        raise typer.Exit(USAGE) from error
    if as_json:
        say(printed("audit", output(found)))
    else:
        print_audit(Console(), found)
    raise typer.Exit(CONTRADICTS if found.contradictions else 0)
