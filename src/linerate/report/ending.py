"""End of a run's report: the reason why it is incomplete, and the places of its files."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from linerate.results.store import Run


def how_it_ended(console: Console, run: Run, folder: Path, *more: str) -> None:
    """Say it, and then `more`, a line each that is not folded: people copy from it."""
    console.print()
    if run.status != "complete":
        console.print(Text(f"{run.status}: {run.problem or 'stopped before the end'}", "red"))
    for line in (f"everything is in {folder}", *more):
        console.print(Text(line), soft_wrap=True)
