"""Options that name a dataset, and how far it is while one is read."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn

from linerate.cli.completion import one_of
from linerate.results.dataset.dataset import Dataset
from linerate.ui.console import Console

#: The dataset of a command that names none.
DEFAULT = "dataset"
#: Names it for all commands.
VARIABLE = "LINERATE_DATASET"

DatasetOption = Annotated[
    str,
    typer.Option(
        "--dataset",
        help="Folder of the dataset, or a URL that fsspec knows: s3://…, sftp://….",
        metavar="DIR|URL",
        envvar=VARIABLE,
        autocompletion=one_of((DEFAULT, "s3://", "sftp://")),
    ),
]
ToOption = Annotated[
    str,
    typer.Option(
        "--to",
        "--dataset",
        help="Folder of the dataset, or a URL that fsspec knows: s3://…, sftp://….",
        metavar="DIR|URL",
        envvar=VARIABLE,
        autocompletion=one_of((DEFAULT, "s3://", "sftp://")),
    ),
]


class Fetching:
    """A bar while files are fetched from a store; nothing in a pipe, or where all are here."""

    def __init__(self) -> None:
        self._bar: Progress | None = None

    def __call__(self, done: int, of: int) -> None:
        """Draw it."""
        if self._bar is None:
            if done == of:
                return
            columns = (TextColumn("fetching {task.completed} of {task.total} files"), BarColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task("", total=of)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done)
        if done == of:
            self._bar.stop()
            self._bar = None


def dataset_at(url: str) -> Dataset:
    """The dataset that was named. Raises DatasetError."""
    return Dataset(str(Path(url).expanduser()) if url.startswith("~") else url, Fetching())
