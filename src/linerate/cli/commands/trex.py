"""`linerate trex`: the tester for TRex's stateless clients; and `t-rex-64`, as they start it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from linerate.base import ownership
from linerate.base.errors import TestbedError, UserError
from linerate.cli.option_classes import with_option_classes
from linerate.cli.run_into_folder import signals
from linerate.cli.testbed_options import TestbedOptions
from linerate.cli.usage import FAILED, USAGE, mistaken, report_user_errors, usage
from linerate.experiments.bench import Interrupted
from linerate.host import cpu_locks, session_share
from linerate.host import machine as host
from linerate.lab import rig
from linerate.model.testbed import Testbed
from linerate.trex_server import trex_config, trex_flags
from linerate.trex_server.server import Server
from linerate.trex_server.serving import Keeping, Listening, serve
from linerate.trex_server.sockets import REQUESTS_PORT, WAKE_PORT, Sockets
from linerate.ui.screen import complain, one_line, say

PORT_MAX = 65535
RUNS = Path("runs")


@with_option_classes
def trex_command(
    *,
    options: TestbedOptions,
    listen: Annotated[
        str, typer.Option(help="Address to listen at; clients need no password.", metavar="HOST")
    ] = "127.0.0.1",
    sync_port: Annotated[
        int, typer.Option(help="Port of requests; 0: any.", min=0, max=PORT_MAX)
    ] = REQUESTS_PORT,
    async_port: Annotated[
        int, typer.Option(help="Port that wakes clients; 0: any.", min=0, max=PORT_MAX)
    ] = WAKE_PORT,
    runs: Annotated[
        Path, typer.Option("--runs", help="Where run folders of clients' traffic are made.")
    ] = RUNS,
) -> None:
    """Serve TRex's stateless clients: the tester of a testbed is what they send with."""
    with report_user_errors():
        testbed = options.load()
        if not listen:
            mistaken("--listen: expected an address, as 127.0.0.1")
        _serve(testbed, Listening(listen, sync_port, async_port), runs)


def _serve(testbed: Testbed, listening: Listening, runs: Path) -> None:
    """Until a client or a signal ends it."""
    if lacking := rig.missing(testbed):
        usage("\n".join(map(str, lacking)))
    keeping = Keeping(runs, tuple(sys.argv))
    cpus = testbed.cpus or host.allowed_cpus()
    try:
        with (
            signals(),
            cpu_locks.held(cpus, None),
            session_share.raised(),
            # Streams on their way to the engine are their user's alone.
            ownership.temporary_folder("trex") as folder,
        ):
            serve(testbed, Path(folder), listening, _ready, _waiting, complain, keeping)
    except Interrupted:
        say("stopped by a signal")


def _waiting(text: str, _seconds: float) -> None:
    complain(text)


def _ready(server: Server, sockets: Sockets) -> None:
    """The lines that programs wait for that start TRex's own."""
    names = ", ".join(f"{port.number} ({port.info.name})" for port in server.ports)
    say(f"TRex clients: ports {sockets.requests_port} and {sockets.wake_port}; tester: {names}")
    say("-Per port stats table")


def t_rex_64(words: Sequence[str] | None = None) -> NoReturn:
    """`t-rex-64` with TRex's flags; those that change nothing here are accepted."""
    try:
        flags = trex_flags.parsed(sys.argv[1:] if words is None else words)
        _serve(trex_config.load(flags.config), Listening(flags.host), RUNS)
    except trex_flags.FlagError as error:
        complain(one_line(f"t-rex-64: {error}"))
        sys.exit(USAGE)
    except TestbedError as error:
        complain("\n".join(map(one_line, error.lines)))
        sys.exit(USAGE)
    except UserError as error:
        complain(one_line(f"t-rex-64: {error}"))
        sys.exit(FAILED)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    sys.exit(0)
