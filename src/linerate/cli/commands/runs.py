"""`linerate runs` and `linerate export`: all runs of a folder, as a list or as tables."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from linerate.base.published import Output, printed, published
from linerate.cli.completion import complete_run, one_of
from linerate.cli.options import JsonOption
from linerate.cli.usage import mistaken
from linerate.report.document import NONE
from linerate.report.plain_table import plain_table
from linerate.report.render.terminal import LIMIT_STYLES
from linerate.results.index import Index, Query, QueryError
from linerate.results.index.query import COLUMNS
from linerate.results.index.row import loadtests_text
from linerate.results.index.tables import Form
from linerate.results.index.tables import export as export_tables
from linerate.results.store import Run, StoreError, load_run
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

RUNS = Path("runs")
#: Columns behind the outcome.
ABOUT = ("dut", "wire", "card", "loadtests", "labels", "host", "commit")
#: Runs that did not end as wanted.
STATUS_STYLES = {
    "interrupted": "yellow",
    "running": "yellow",
    **dict.fromkeys(("failed", "killed", "broken"), "red"),
}

Runs = Annotated[Path, typer.Option("--runs", help="Where run folders are.", metavar="DIR")]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="Only runs for which it holds: dut=router, mpps>5, started>=2026-11-01, "
        "limit=worker-cpu, or words anywhere; again for more.",
        metavar="COLUMN=TEXT",
    ),
]


def runs_command(
    filters: Filters = None,
    sort: Annotated[
        str,
        typer.Option(
            help="By this column; with a dash before it, the largest first.",
            metavar="COLUMN",
            autocompletion=one_of(f"{dash}{name}" for name in COLUMNS for dash in ("", "-")),
        ),
    ] = "-started",
    runs: Runs = RUNS,
    as_json: JsonOption = False,
) -> None:
    """List the runs of a folder: what was measured when, how fast, what limits."""
    found = _select(runs, tuple(filters or ()), sort)
    if as_json:
        say(printed("runs", found))
    else:
        _print(Console(), found)


def _select(runs: Path, filters: tuple[str, ...], sort: str) -> list[dict[str, Any]]:
    if not runs.is_dir():
        raise StoreError(f"{runs}: no such folder; say where runs are with --runs DIR")
    index = Index(runs)
    index.refresh()
    try:
        return index.select(Query(filters, sort))
    except QueryError as error:
        mistaken(str(error))


def _print(console: Console, found: list[dict[str, Any]]) -> None:
    """One line a run; of a broken one, why it is."""
    if not found:
        console.print("no such run")
        return
    table = plain_table(
        ("run", "left"),
        *((name, "right") for name in ("Mpps", "% of line", "NDR")),
        *((name, "left") for name in ("verdict", "status", *ABOUT)),
    )
    for row in found:
        broken = row["status"] == "broken"
        about = row | {"loadtests": loadtests_text(row["loadtests"])}
        table.add_row(
            Text(row["name"], STATUS_STYLES.get(row["status"], "")),
            Text(_mpps(row["received_pps"]), "bold"),
            NONE if row["line_percent"] is None else f"{min(row['line_percent'], 100.0):.1f}",
            _mpps(row["ndr_pps"]),
            Text(row["problem"], "red") if broken else _verdict(row["verdict"]),
            Text(row["status"], STATUS_STYLES.get(row["status"], "")),
            *(Text(about[name] or NONE) for name in ABOUT),
        )
    # Names are there to be copied: a line that is too long for the terminal is not cut.
    unbounded = console.options.update(max_width=1000)
    needed = console.measure(table, options=unbounded).maximum
    console.width = max(console.width, needed)
    console.print(table)


def _verdict(limits: str) -> Text:
    """Limits, those that are no result in red."""
    words = [
        Text(limit, LIMIT_STYLES.get(limit, "yellow")) for limit in limits.split(", ") if limit
    ]
    return Text(", ").join(words) if words else Text(NONE)


def _mpps(pps: float | None) -> str:
    return NONE if pps is None else f"{pps / 1e6:.3f}"


class TableOutput(Output):
    """One table that was written."""

    table: str
    file: str
    rows: int


published("export", "JSON of `linerate export --json`")(list[TableOutput])


def export(
    runs_given: Annotated[
        list[Path] | None,
        typer.Argument(
            help="These runs only; else all of --runs.",
            metavar="[RUN…]",
            autocompletion=complete_run,
        ),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(help="Write runs, results, goals, losses, node_cycles here.", metavar="DIR"),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="The same as CSV.", metavar="DIR")] = None,
    filters: Filters = None,
    runs: Runs = RUNS,
    as_json: JsonOption = False,
) -> None:
    """Write runs as tables (Parquet, CSV) for DuckDB, pandas, spreadsheets."""
    wanted: list[tuple[Form, Path]] = []
    if parquet is not None:
        wanted.append(("parquet", parquet))
    if csv is not None:
        wanted.append(("csv", csv))
    if not wanted:
        mistaken("say where to: --parquet DIR or --csv DIR")
    folders = runs_given or _chosen(runs, tuple(filters or ()))
    made = [
        TableOutput(table=table, file=f"{folder / table}.{form}", rows=count)
        for form, folder in wanted
        for table, count in export_tables(_loaded(folders), folder, form).items()
    ]
    if as_json:
        say(printed("export", made))
        return
    for one in made:
        say(f"{one.file}: {one.rows:,} rows")


def _chosen(runs: Path, filters: tuple[str, ...]) -> list[Path]:
    return [runs / row["name"] for row in _select(runs, filters, "started")]


def _loaded(folders: list[Path]) -> Iterator[tuple[str, Run]]:
    """Those that can be read; of the others, why they can't."""
    for folder in folders:
        try:
            yield folder.resolve().name, load_run(folder)
        except StoreError as error:
            complain(f"left out: {error}")
