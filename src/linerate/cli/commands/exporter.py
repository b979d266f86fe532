"""`linerate exporter`: Prometheus metrics of every engine on the host."""

import contextlib
import os
import secrets
import signal
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from linerate.base.safe_open import open_regular
from linerate.cli.durations import as_seconds
from linerate.cli.usage import FAILED, mistaken, usage
from linerate.ui.exporter.app import make_app
from linerate.ui.exporter.collector import Exporter
from linerate.ui.screen import complain, say
from linerate.ui.web.address import host_and_port, is_loopback
from linerate.ui.web.server import Server

LISTEN = "127.0.0.1:9470"
#: Nobody's scrape waits longer.
TIMEOUT_MAX = 30
TOKEN_BYTES = 24
#: Largest size of a token file.
TOKEN_CHARS_MAX = 1024


def exporter_command(
    listen: Annotated[
        str,
        typer.Option(help="Where to listen; off loopback only with a token.", metavar="HOST:PORT"),
    ] = LISTEN,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="Ask for the token in this file, which is made with one when it is not there.",
            metavar="FILE",
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            help="An engine that takes longer is skipped in this scrape.",
            parser=as_seconds,
            metavar="0.8s",
        ),
    ] = "0.8s",  # type: ignore[assignment]  # the parser makes a number of it
    once: Annotated[bool, typer.Option("--once", help="Print the metrics once, and end.")] = False,
) -> None:
    """Serve Prometheus metrics of every engine on this host, and of VPP where there is one."""
    if not 0 < timeout <= TIMEOUT_MAX:
        mistaken(f"--timeout: expected up to {TIMEOUT_MAX} s")
    exporter = Exporter(timeout)
    if once:
        say(exporter.text()[0].decode(), end="")
        return
    address = host_and_port(listen)
    if address is None or not address[0]:
        mistaken(f"--listen: expected HOST:PORT, as {LISTEN}, not '{listen}'")
    token = _token(address[0], token_file)
    try:
        server = Server(make_app(exporter, token), *address)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        complain(f"linerate: {listen}: {(reason or str(error)).lower()}")
        raise typer.Exit(FAILED) from error
    # The server ends, and then has the signal again.
    signal.signal(signal.SIGTERM, _end)
    say(f"metrics at {server.address}/metrics")
    with contextlib.suppress(KeyboardInterrupt):
        server.run()


def _end(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _token(host: str, file: Path | None) -> str | None:
    """The token to ask for; none on loopback when none was wanted."""
    if file is not None:
        return _kept_token(file)
    if is_loopback(host):
        return None
    token = secrets.token_urlsafe(TOKEN_BYTES)
    say(f"token (--token-file FILE keeps one): {token}")
    return token


def _kept_token(file: Path) -> str:
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError as error:
        usage(f"{file}: {(error.strerror or str(error)).lower()}")
    else:
        with os.fdopen(handle, "w", encoding="ascii") as made:
            made.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
    try:
        with open_regular(file) as kept:
            token = kept.read(TOKEN_CHARS_MAX).decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "expected a token in ASCII"
        usage(f"{file}: {(reason or str(error)).lower()}")
    if not token:
        usage(f"{file}: it is empty: remove it, and a token is made")
    return token
