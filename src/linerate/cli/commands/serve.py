"""`linerate serve`: pages over the runs folder, and over the run that is being measured."""

import os
import resource
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from linerate.cli.dataset_options import DEFAULT, VARIABLE
from linerate.cli.usage import FAILED, mistaken
from linerate.ui.screen import complain, say
from linerate.ui.serve.app import Settings, make_app
from linerate.ui.web.address import host_and_port, is_loopback
from linerate.ui.web.guard import Rules
from linerate.ui.web.server import Server

LISTEN = "127.0.0.1:8270"
#: Connections, files and engines' sockets; the system may allow less.
FILES = 8192


def serve(
    runs: Annotated[
        Path, typer.Option(help="Where run folders are, and are made.", metavar="DIR")
    ] = Path("runs"),
    dataset: Annotated[
        Path,
        typer.Option(
            help="Folder of the dataset whose campaigns are shown.",
            metavar="DIR",
            envvar=VARIABLE,
        ),
    ] = Path(DEFAULT),
    listen: Annotated[
        str,
        typer.Option(
            help="Where to listen; off loopback nothing is read without the token.",
            metavar="HOST:PORT",
        ),
    ] = LISTEN,
    no_start: Annotated[
        bool, typer.Option("--no-start", help="No bench can be started or stopped here.")
    ] = False,
    ask_token: Annotated[
        bool,
        typer.Option("--ask-token", help="Ask for the token to read, too, on loopback as well."),
    ] = False,
) -> None:
    """Show runs and live benches as pages, in a browser; start and stop benches from there."""
    address = host_and_port(listen)
    if address is None:
        mistaken(f"--listen: expected HOST:PORT, as {LISTEN}; not '{listen}'")
    host, port = address[0] or "0.0.0.0", address[1]
    rules = Rules(closed=ask_token or not is_loopback(host))
    app = make_app(Settings(runs.resolve(), rules, start=not no_start, dataset=dataset.resolve()))
    try:
        server = Server(app, host, port)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        complain(f"linerate: {listen}: {(reason or str(error)).lower()}")
        raise typer.Exit(FAILED) from error
    _give_way()
    shown = server.address
    say(f"pages at {shown}/")
    if rules.closed or not no_start:
        why = "to read" if no_start else "to start benches" if not rules.closed else "for all"
        say(f"{why}: {shown}/?token={rules.token}")
    server.run()


def _give_way() -> None:
    """Be on the CPU that the lab shares with its tester; threads are last in the queue there."""
    with suppress(OSError):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with suppress(OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
