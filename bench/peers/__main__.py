"""`python -m bench.peers`: progress while it measures, then a table or JSON."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TaskID

from bench.peers import curves, kinds, place, registry, report
from bench.peers.handover import take_stamp
from bench.peers.model import Kind, Place, Result
from bench.peers.runner import Runner
from linerate import __version__
from linerate.base.atomic_write import write_whole
from linerate.cli.app import run_command
from linerate.cli.options import JsonOption
from linerate.cli.run_into_folder import BY_SIGNAL, new_progress, signals
from linerate.cli.usage import FAILED, USAGE
from linerate.engine import engine_process
from linerate.experiments.bench import Interrupted
from linerate.host import machine
from linerate.ui.console import Console
from linerate.ui.screen import complain, say

app = typer.Typer(rich_markup_mode="rich", add_completion=False)
__all__ = ["app", "kinds"]


class Bar:
    """A progress bar on standard error, for people who watch."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._task: TaskID = progress.add_task("starting", total=total)

    def step(self, text: str) -> None:
        """Say what is measured from now on; drawn then only, to leave the CPUs alone."""
        self._progress.update(self._task, description=text)
        self._progress.refresh()

    def done(self) -> None:
        """Move on."""
        self._progress.advance(self._task)
        self._progress.refresh()


@app.command()
def peers(
    only: Annotated[
        str | None,
        typer.Option(help="Only these.", metavar="NAME,…"),
    ] = None,
    repeats: Annotated[int, typer.Option(help="How often each is measured.", min=1, max=100)] = 5,
    seconds: Annotated[
        float, typer.Option(help="How long each measurement takes.", min=0.05, max=60)
    ] = 0.4,
    html: Annotated[
        Path | None, typer.Option(help="Draw the curves into this page.", metavar="PAGE.html")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure linerate itself in cycles/packet, beside its peers."""
    try:
        chosen = registry.select(only)
    except ValueError as error:
        complain(f"the command line: {error}")
        raise typer.Exit(USAGE) from error
    environment = machine.environment(__version__, machine.allowed_cpus())
    where = place.choose(environment)
    results, code = _measure(chosen, where, repeats, seconds)
    if as_json:
        say(json.dumps([result.document() for result in results], indent=1))
    else:
        report.print_report(Console(), results, environment, where)
    if html is not None:
        drawn = {kind.name: kind.curve for kind in chosen if kind.curve is not None}
        write_whole(html, curves.render(drawn, results))
    failed = any(result.mpps is None for result in results)
    raise typer.Exit(code or (FAILED if failed else 0))


def _measure(
    chosen: tuple[Kind, ...], where: Place, repeats: int, seconds: float
) -> tuple[list[Result], int]:
    """Measure all; a signal ends it, and what was measured until then is reported."""
    progress = new_progress()
    results: list[Result] = []
    own_cpus = os.sched_getaffinity(0)
    # Never on the CPU that is measured.
    os.sched_setaffinity(0, {where.main_cpu})
    try:
        with signals(), progress:
            engine_process.sweep()
            bar = Bar(progress, len(chosen))
            runner = Runner(where, repeats, seconds, bar, take_stamp)
            for kind in chosen:
                results.append(runner.run(kind))
                bar.done()
    except Interrupted as interrupted:
        return results, BY_SIGNAL + interrupted.signal_number
    finally:
        os.sched_setaffinity(0, own_cpus)
    return results, 0


if __name__ == "__main__":
    run_command(app, "python -m bench.peers")
