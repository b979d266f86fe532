"""`linerate dataset`: trials of many runs in one Parquet dataset, added, listed, put together."""

from pathlib import Path
from typing import Annotated

import typer

from linerate.base.published import Output, printed, published
from linerate.cli.completion import complete_run
from linerate.cli.dataset_options import DEFAULT, DatasetOption, ToOption, dataset_at
from linerate.cli.options import JsonOption
from linerate.cli.usage import FAILED
from linerate.report.plain_table import plain_table
from linerate.results.dataset.dataset import Dataset
from linerate.results.dataset.listing import Listing, listing
from linerate.results.dataset.row import TrialKeys
from linerate.ui.console import Console
from linerate.ui.screen import complain, one_line, say

dataset = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Keep trials of many runs in one Parquet dataset: a folder, S3, sftp.",
)


class AddedOutput(Output):
    """One run of a command, and what became of it."""

    run: str
    unit_key: str
    trials: int
    #: Whether it was written now; else the dataset had it already.
    added: bool


published("dataset-add", "JSON of `linerate dataset add --json`")(list[AddedOutput])


class CompactOutput(Output):
    """Files before and after, and the trials in them."""

    dataset: str
    files_before: int
    files_after: int
    trials: int


published("dataset-compact", "JSON of `linerate dataset compact --json`")(CompactOutput)


@dataset.callback()
def _group() -> None:
    """Options of the group itself: none."""


@dataset.command(
    epilog="Examples:\n\n[bold]linerate dataset add runs/*[/] # into ./dataset\n\n"
    "[bold]linerate dataset add runs/20261127-* --to s3://lab/trials --version v2.1[/]"
)
def add(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Runs to add.", metavar="RUN…", autocompletion=complete_run),
    ],
    to: ToOption = DEFAULT,
    version: Annotated[
        str, typer.Option(help="Version of the device; else the run's label `version`.")
    ] = "",
    commit: Annotated[
        str, typer.Option(help="Commit of the device; else the run's label `commit`.")
    ] = "",
    setting: Annotated[
        str, typer.Option(help="Name of its settings; else the run's label `setting`.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Add the trials of runs, each run once however often it is added."""
    target = dataset_at(to)
    keys = TrialKeys(version=version, commit=commit, setting=setting)
    done, left_out = _added(target, runs, keys)
    if as_json:
        say(printed("dataset-add", done))
    else:
        _say(target, done)
    if left_out:
        raise typer.Exit(FAILED)


def _added(
    target: Dataset, folders: list[Path], keys: TrialKeys
) -> tuple[list[AddedOutput], list[Path]]:
    """Add runs; the others are those that can't be: why is printed."""
    from linerate.results.dataset.adding import add_run  # noqa: PLC0415 (slow to load)
    from linerate.results.store import StoreError  # noqa: PLC0415 (slow to load)

    there = target.unit_keys()
    done, left_out = [], []
    for folder in folders:
        try:
            done.append(AddedOutput.model_validate(add_run(target, folder, keys, there)))
        except StoreError as error:
            complain(one_line(f"left out: {error}"))
            left_out.append(folder)
    return done, left_out


def _say(target: Dataset, done: list[AddedOutput]) -> None:
    new = [one for one in done if one.added]
    trials = sum(one.trials for one in new)
    known = f", {len(done) - len(new):,} there already" if len(new) < len(done) else ""
    say(f"{target.shown}: {trials:,} trials of {len(new):,} runs added{known}")


@dataset.command(
    "list",
    epilog="Examples:\n\n[bold]linerate dataset list[/]\n\n"
    "[bold]linerate dataset list --dataset s3://lab/trials --json[/]",
)
def list_command(url: DatasetOption = DEFAULT, as_json: JsonOption = False) -> None:
    """List what a dataset holds, by scenario and month."""
    found = listing(dataset_at(url).require())
    if as_json:
        say(printed("dataset-list", found))
    else:
        _print(found)


def _print(found: Listing) -> None:
    numbers = ("trials", "invalid", "units", "testbeds", "devices", "versions")
    table = plain_table(
        ("scenario", "left"), ("month", "left"), *((name, "right") for name in numbers)
    )
    for part in found.parts:
        counts = (f"{getattr(part, name):,}" for name in numbers)
        table.add_row(part.scenario, part.month, *counts)
    Console().print(table)
    size = f"{found.bytes / 1e6:,.1f} MB"
    say(f"\n{found.trials:,} trials in {found.files:,} files, {size}")


@dataset.command(
    epilog="Examples:\n\n[bold]linerate dataset compact[/] # questions over many runs get fast\n\n"
    "[bold]linerate dataset compact --dataset sftp://lab/srv/trials[/]"
)
def compact(url: DatasetOption = DEFAULT, as_json: JsonOption = False) -> None:
    """Put the files of each scenario and month together; no trial is lost or doubled by it."""
    target = dataset_at(url).require()
    found = target.compact()
    result = CompactOutput(
        dataset=target.shown,
        files_before=found.files_before,
        files_after=found.files_after,
        trials=found.trials,
    )
    if as_json:
        say(printed("dataset-compact", result))
        return
    say(
        f"{target.shown}: {found.files_before:,} files became {found.files_after:,}, "
        f"{found.trials:,} trials in them"
    )
