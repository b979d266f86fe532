"""The `linerate` command: one command, one thin function."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from linerate import __version__, host, wire
from linerate.bench import Plan
from linerate.benching import bench_into_folder
from linerate.card import PRESETS
from linerate.engine import EngineError
from linerate.report import machine, terminal
from linerate.selfbenching import self_bench
from linerate.showing import show
from linerate.store import StoreError
from linerate.suite import SUITES, select
from linerate.telemetry import TelemetryError
from linerate.testbed import (
    ENGINE_MODES,
    RX_MODES,
    Testbed,
    TestbedError,
    check_cpus,
    load,
    with_options,
)

app = typer.Typer(
    name="linerate",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="How fast a packet forwarder is, where each lost packet went, what stops it.",
)
app.add_typer(show, name="show")

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
USAGE = 2
FAILED = 1

#: PCIe slots that cards are commonly found in.
SLOTS = {
    "PCIe 2 x1": wire.PcieLink(5.0, 1),
    "PCIe 2 x4": wire.PcieLink(5.0, 4),
    "PCIe 2 x8": wire.PcieLink(5.0, 8),
    "PCIe 3 x4": wire.PcieLink(8.0, 4),
    "PCIe 3 x8": wire.PcieLink(8.0, 8),
    "PCIe 4 x8": wire.PcieLink(16.0, 8),
    "PCIe 4 x16": wire.PcieLink(16.0, 16),
}


def _complete(words: list[str], typed: str) -> list[str]:
    return [word for word in words if word.startswith(typed)]


def _complete_only(incomplete: str) -> list[str]:
    """Complete the last of several names: `U1,B` to `U1,B1` and so on."""
    before, comma, last = incomplete.rpartition(",")
    names = [test.name for test in SUITES["standard"]]
    return [f"{before}{comma}{name}" for name in _complete(names, last.upper())]


def _usage(line: str) -> NoReturn:
    """Say what was wrong with the command line or a file, and end."""
    print(line, file=sys.stderr)
    raise typer.Exit(USAGE)


def _print_json(document: Any) -> None:  # noqa: ANN401 (what JSON can hold)
    print(json.dumps(document, indent=1))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"linerate {__version__}")
        raise typer.Exit


@app.callback()
def linerate(
    _version_wanted: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Options of the command itself."""


def seconds(text: str) -> float:
    """Read a duration: `5s`, `500ms`, `2m`, `5`."""
    units = {"ms": 0.001, "s": 1.0, "m": 60.0, "": 1.0}
    number = text.strip().rstrip("ms")
    unit = text.strip()[len(number) :]
    try:
        value = float(number) * units[unit]
    except (ValueError, KeyError):
        value = 0.0
    if not 0.05 <= value <= 3600:
        raise typer.BadParameter(f"expected 50ms to 60m, as 5s; not '{text}'")
    return value


@app.command(
    epilog="Examples:\n\n"
    "[bold]linerate bench[/] all eight on a virtual 10 GbE card\n\n"
    "[bold]linerate bench --only U2,B2 --card cx5-en --workers 2[/]\n\n"
    "[bold]linerate bench testbed.yaml --duration 30s --json[/]"
)
def bench(
    testbed: Annotated[
        Path | None,
        typer.Argument(
            help="Testbed file; without one: a router on a virtual card.", metavar="[TESTBED.yaml]"
        ),
    ] = None,
    suite: Annotated[
        str,
        typer.Option(
            help="Suite of loadtests.",
            autocompletion=lambda incomplete: _complete(list(SUITES), incomplete),
        ),
    ] = "standard",
    only: Annotated[
        str | None,
        typer.Option(help="Only these loadtests.", metavar="U1,B2", autocompletion=_complete_only),
    ] = None,
    duration: Annotated[
        float, typer.Option(help="How long each trial sends.", parser=seconds, metavar="5s")
    ] = "5s",  # type: ignore[assignment]  # the parser makes a number of it
    dut: Annotated[
        str | None,
        typer.Option(
            help=f"Device under test: {', '.join(ENGINE_MODES[:-1])} or {ENGINE_MODES[-1]}.",
            autocompletion=lambda incomplete: _complete(list(ENGINE_MODES), incomplete),
        ),
    ] = None,
    card: Annotated[
        str | None,
        typer.Option(
            help=f"Virtual card: {', '.join(PRESETS)} or default.",
            autocompletion=lambda incomplete: _complete([*PRESETS, "default"], incomplete),
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Workers of the device under test.", min=1, max=16)
    ] = None,
    rx_mode: Annotated[
        str | None,
        typer.Option(
            help=f"How workers wait for frames: {', '.join(RX_MODES[:-1])} or {RX_MODES[-1]}.",
            autocompletion=lambda incomplete: _complete(list(RX_MODES), incomplete),
        ),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where run folders are made.")] = Path("runs"),
    as_json: Json = False,
) -> None:
    """Run the loadtests of a suite and say how fast, where packets were lost, what limits."""
    try:
        chosen = with_options(load(testbed) if testbed else Testbed(), dut, card, workers, rx_mode)
        check_cpus(chosen, host.allowed_cpus())
        loadtests = select(suite, only)
    except TestbedError as error:
        _usage("\n".join(error.lines))
    except ValueError as error:
        _usage(f"the command line: {error}")
    plan = Plan(chosen, suite, loadtests, duration, tuple(sys.argv))
    raise typer.Exit(bench_into_folder(plan, runs, as_json))


@app.command(
    epilog="Examples:\n\n[bold]linerate line 10G 64[/] line rate\n\n"
    "[bold]linerate line 2.5G 64 --pps 3280000[/] of a measured rate"
)
def line(
    link: Annotated[str, typer.Argument(help="Link rate, as 10G or 2.5G.", metavar="LINK")],
    frame_bytes: Annotated[
        int,
        typer.Argument(
            help="Frame size, FCS counted.",
            min=wire.FRAME_BYTES_MIN,
            max=wire.FRAME_BYTES_MAX,
            metavar="FRAME_BYTES",
        ),
    ],
    pps: Annotated[
        float | None, typer.Option(help="Packets a second, instead of the line's rate.", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what fits on a link and through PCIe: packets/s, L1, L2, L2 without FCS."""
    try:
        link_bps = wire.parse_bps(link)
    except ValueError as error:
        _usage(f"the command line: link: {error}")
    rate = wire.FrameRate(frame_bytes, pps) if pps else wire.line_rate(link_bps, frame_bytes)
    if as_json:
        _print_json(machine.line(rate, link_bps, SLOTS))
    else:
        terminal.line_report(Console(highlight=False), rate, link_bps, SLOTS)


app.command(
    name="self-bench",
    epilog="Examples:\n\n[bold]linerate self-bench[/] all, against the peers that are here\n\n"
    "[bold]linerate self-bench --only io,macswap --repeats 9 --json[/]",
)(self_bench)


def main() -> None:
    """Run the command; every expected failure is one line."""
    try:
        app(prog_name="linerate")
    except (EngineError, TelemetryError, StoreError) as error:
        print(f"linerate: {error}", file=sys.stderr)
        sys.exit(FAILED)
    except BrokenPipeError:
        # The reader of a pipe (head, less) went away: nothing is left to say.
        sys.stderr.close()
        sys.exit(FAILED)
