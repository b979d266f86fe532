"""`linerate campaign`: versions × settings × scenarios × loads × repeats, over several testbeds."""

import signal
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from rich.text import Text

from linerate.base.errors import UserError
from linerate.base.published import printed
from linerate.base.signals import noted
from linerate.cli.campaign_progress import ProgressBar
from linerate.cli.options import JsonOption
from linerate.cli.usage import FAILED, mistaken, usage
from linerate.experiments.campaign import keys as tls_keys
from linerate.experiments.campaign.prepared import Prepared, prepare
from linerate.experiments.campaign.state import StateFolder
from linerate.model.campaign import Campaign, CampaignError, CampaignState, load
from linerate.report import campaign_progress as report
from linerate.report.render import terminal
from linerate.ui.console import Console
from linerate.ui.screen import is_terminal, one_line, say

BY_SIGNAL = 128
LOOK_SECONDS = 1.0

campaign = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Measure versions × settings × scenarios × loads × repeats, over several testbeds.",
)

FileArgument = Annotated[Path, typer.Argument(help="Campaign file.", metavar="CAMPAIGN.yaml")]


@campaign.callback()
def _group() -> None:
    """Options of the group itself: none."""


def _loaded(file: Path) -> Campaign:
    try:
        return load(file)
    except CampaignError as error:
        usage("\n".join(map(one_line, error.lines)))


def _prepared(file: Path) -> Prepared:
    try:
        return prepare(file)
    except CampaignError as error:
        usage("\n".join(map(one_line, error.lines)))


@campaign.command(
    epilog="Example:\n\n[bold]linerate campaign plan nightly.yaml[/] # nothing is measured"
)
def plan(file: FileArgument, as_json: JsonOption = False) -> None:
    """Say how many trials, how long, which testbed can do what, and what can't be done and why."""
    from linerate.experiments.campaign.looking import look  # noqa: PLC0415 (brings Dask)
    from linerate.experiments.campaign.plan import plan_of  # noqa: PLC0415

    prepared = _prepared(file)
    made = plan_of(prepared, look(prepared), prepared.done())
    if as_json:
        say(printed("campaign-plan", made))
    else:
        terminal.show(Console(), report.plan_document(made))
    if made.impossible:
        raise typer.Exit(FAILED)


@campaign.command(
    epilog="Examples:\n\n[bold]linerate campaign run nightly.yaml[/] # or go on with it\n\n"
    "[bold]linerate campaign run nightly.yaml --json[/] # for programs: its state at the end"
)
def run(file: FileArgument, as_json: JsonOption = False) -> None:
    """Run a campaign, or go on with it; Ctrl-C stops when what is measured now has ended."""
    from linerate.experiments.campaign.run import run_campaign  # noqa: PLC0415 (brings Dask)

    prepared = _prepared(file)
    with noted() as interrupted, ProgressBar() as bar:
        state = run_campaign(prepared, interrupted, bar.show)
        code = BY_SIGNAL + signal.SIGINT if interrupted() else FAILED
    _show(state, as_json)
    raise typer.Exit(0 if state.status == "finished" else code)


@campaign.command(
    epilog="Examples:\n\n[bold]linerate campaign status nightly.yaml[/]\n\n"
    "[bold]linerate campaign status nightly.yaml --watch[/] # until it ends"
)
def status(
    file: FileArgument,
    watch: Annotated[bool, typer.Option("--watch", help="Show it until the run ends.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show how far a campaign is, what each testbed does, what gave no result and why."""
    chosen = _loaded(file)
    folder = StateFolder(chosen.dataset, chosen.name)
    state = folder.read()
    if state is None:
        raise UserError(f"{file}: not begun: linerate campaign run {file}")
    if watch and as_json:
        mistaken("--watch: expected without --json")
    if watch and is_terminal():
        state = _watched(folder, state)
    _show(state, as_json)


def _watched(folder: StateFolder, state: CampaignState) -> CampaignState:
    """Draw the state anew each second until the run has ended; return the last one."""
    console = Console()
    with Live(console=console, transient=True, auto_refresh=False) as live:
        while state.alive():
            with console.capture() as drawn:
                terminal.show(console, report.status_document(state))
            live.update(Text.from_ansi(drawn.get()), refresh=True)
            time.sleep(LOOK_SECONDS)
            state = folder.read() or state
    return state


def _show(state: CampaignState, as_json: bool) -> None:
    if as_json:
        say(printed("campaign-status", state))
    else:
        terminal.show(Console(), report.status_document(state))


@campaign.command(
    epilog="Example:\n\n[bold]linerate campaign stop nightly.yaml[/] # `run` goes on with it later"
)
def stop(file: FileArgument) -> None:
    """Stop a campaign, wherever its `run` is: what is measured now ends, nothing more begins."""
    chosen = _loaded(file)
    folder = StateFolder(chosen.dataset, chosen.name)
    state = folder.read()
    if state is None or not state.alive():
        raise UserError(f"{file}: no run goes on")
    folder.ask_stop()
    while state.alive():
        time.sleep(LOOK_SECONDS)
        state = folder.read() or state
    say(report.progress_line(state))


def _scheduled(file: Path, what: str) -> Campaign:
    chosen = _loaded(file)
    if chosen.scheduler is None:
        usage(f"{file}: scheduler: required for a {what}; without one `run` starts its own workers")
    return chosen


def _complete_testbed(incomplete: str) -> list[str]:
    """Testbeds of the campaign files in this folder."""
    names: dict[str, None] = {}
    for path in sorted(Path().glob("*.yaml")):
        try:
            names |= dict.fromkeys(one.name for one in load(path).testbeds)
        except CampaignError:
            continue
    return [name for name in names if name.startswith(incomplete)]


@campaign.command(
    epilog="Example:\n\n[bold]linerate campaign worker nightly.yaml --testbed lab-a[/]"
)
def worker(
    file: FileArgument,
    testbed: Annotated[
        str,
        typer.Option(
            help="The testbed that it owns.", metavar="NAME", autocompletion=_complete_testbed
        ),
    ],
) -> None:
    """Own a testbed: measure there what the campaign's scheduler gives, until a signal comes."""
    from linerate.experiments.campaign.cluster import serve_worker  # noqa: PLC0415 (brings Dask)

    chosen = _scheduled(file, "worker")
    known = [one.name for one in chosen.testbeds]
    if testbed not in known:
        mistaken(f"--testbed: no '{testbed}' in {file}; expected one of {', '.join(known)}")
    serve_worker(chosen, testbed)


@campaign.command(epilog="Example:\n\n[bold]linerate campaign scheduler nightly.yaml[/]")
def scheduler(file: FileArgument) -> None:
    """Be the scheduler that a campaign file names, until a signal comes."""
    from linerate.experiments.campaign.cluster import serve_scheduler  # noqa: PLC0415 (brings Dask)

    serve_scheduler(_scheduled(file, "scheduler"))


@campaign.command(
    epilog="Example:\n\n[bold]linerate campaign keys keys[/] # then `tls: keys` in the file"
)
def keys(folder: Annotated[Path, typer.Argument(help="Where they are made.")]) -> None:
    """Make the keys by which scheduler, workers and `run` know each other; copy them to each."""
    for path in tls_keys.make(folder):
        say(path)
