"""The `linerate` command: one command, one thin function."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from linerate import __version__, host, rig, wire
from linerate.auditing import audit_table
from linerate.bench import suite_plan
from linerate.benching import bench_into_folder
from linerate.card import PRESETS
from linerate.cleaning import clean
from linerate.doctoring import doctor
from linerate.drivers import INTERFACE_DRIVERS
from linerate.engine import EngineError
from linerate.explaining import explain_command
from linerate.matrixing import matrix_command
from linerate.nic.command import nic
from linerate.report import machine, terminal
from linerate.reporting import compare, report
from linerate.searching import search
from linerate.selfbenching import self_bench
from linerate.showing import show
from linerate.store import StoreError
from linerate.suite import SUITES, Loadtest, select
from linerate.suite import find as find_suite
from linerate.sweeping import sweep
from linerate.telemetry import TelemetryError
from linerate.telling import as_seconds
from linerate.testbed import (
    DUTS,
    ENGINE_MODES,
    RX_MODES,
    TESTERS,
    WIRES,
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
app.add_typer(nic, name="nic")

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
FOREIGN = tuple(name for name in DUTS if name != "engine")
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


def _one_of(words: Iterable[str], text: str, *flags: str) -> Any:  # noqa: ANN401 (typer's own)
    """An option that completes to one of some words."""
    known = list(words)
    return typer.Option(
        *flags, help=text, autocompletion=lambda incomplete: _complete(known, incomplete)
    )


def _complete_only(incomplete: str) -> list[str]:
    """Complete the last of several names: `U1,B` to `U1,B1` and so on."""
    before, comma, last = incomplete.rpartition(",")
    names = [test.name for suite in SUITES.values() for test in suite.loadtests]
    fitting = [name for name in names if name.lower().startswith(last.lower())]
    return [f"{before}{comma}{name}" for name in fitting]


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
        _one_of(SUITES, "Suite of loadtests."),
    ] = "standard",
    only: Annotated[
        str | None,
        typer.Option(help="Only these loadtests.", metavar="U1,B2", autocompletion=_complete_only),
    ] = None,
    duration: Annotated[
        float, typer.Option(help="How long each trial sends.", parser=as_seconds, metavar="5s")
    ] = "5s",  # type: ignore[assignment]  # the parser makes a number of it
    dut: Annotated[
        str | None,
        typer.Option(
            help=f"Device under test: ours ({', '.join(ENGINE_MODES)}), or "
            f"{', '.join(FOREIGN)} (testpmd:MODE).",
            autocompletion=lambda incomplete: _complete([*ENGINE_MODES, *FOREIGN], incomplete),
        ),
    ] = None,
    card: Annotated[
        str | None,
        _one_of(
            [*PRESETS, "default"],
            f"Virtual card: {', '.join(PRESETS)} or default; limits: pps=2000000,link=10G.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Workers of the device under test.", min=1, max=16)
    ] = None,
    rx_mode: Annotated[
        str | None,
        _one_of(
            RX_MODES, f"How workers wait for frames: {', '.join(RX_MODES[:-1])} or {RX_MODES[-1]}."
        ),
    ] = None,
    wire_name: Annotated[
        str | None,
        _one_of(WIRES, f"What joins tester and device: {', '.join(WIRES)}.", "--wire"),
    ] = None,
    tester: Annotated[
        str | None,
        _one_of(TESTERS, f"Tester: {', '.join(TESTERS)}."),
    ] = None,
    driver: Annotated[
        str | None,
        _one_of(
            INTERFACE_DRIVERS,
            f"Driver of the tester's ports on interfaces: {', '.join(INTERFACE_DRIVERS)}.",
        ),
    ] = None,
    dut_driver: Annotated[
        str | None,
        _one_of(INTERFACE_DRIVERS, "The same of our device under test."),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(help="Rate that 100 % of the load is, of wires without one.", metavar="10G"),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where run folders are made.")] = Path("runs"),
    as_json: Json = False,
) -> None:
    """Run the loadtests of a suite and say how fast, where packets were lost, what limits."""
    try:
        given = load(testbed) if testbed else Testbed()
        chosen = with_options(
            given, dut, card, workers, rx_mode, wire_name, tester, driver, dut_driver, link
        )
        chosen = find_suite(suite).base(chosen)
        check_cpus(chosen, host.allowed_cpus())
        loadtests = _that_can_be_forwarded(chosen, select(suite, only))
    except TestbedError as error:
        _usage("\n".join(error.lines))
    except ValueError as error:
        _usage(f"the command line: {error}")
    plan = suite_plan(chosen, suite, loadtests, duration, tuple(sys.argv))
    raise typer.Exit(bench_into_folder(plan, runs, as_json))


def _that_can_be_forwarded(
    testbed: Testbed, loadtests: tuple[Loadtest, ...]
) -> tuple[Loadtest, ...]:
    """Leave out what the device can't forward, and say so; ends when this host lacks something."""
    if lacking := rig.missing(testbed):
        _usage("\n".join(map(str, lacking)))
    able = tuple(loadtest for loadtest in loadtests if rig.can_run(testbed, loadtest))
    if left_out := [loadtest.name for loadtest in loadtests if loadtest not in able]:
        line = f"{', '.join(left_out)}: left out, {rig.why_not(testbed)}"
        if not able:
            _usage(line)
        print(line, file=sys.stderr)
    return able


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
    name="explain",
    epilog="Examples:\n\n"
    "[bold]linerate explain runs/20261121-101500-router[/] the verdict on each trial\n\n"
    "[bold]linerate explain runtime.txt errors.txt dmesg.txt --json[/] what others printed",
)(explain_command)


app.command(
    name="clean",
    epilog="Examples:\n\n[bold]linerate clean --dry-run[/] what was left behind\n\n"
    "[bold]linerate clean[/] the same, removed",
)(clean)


app.command(
    name="doctor",
    epilog="Examples:\n\n[bold]linerate doctor[/] what is wrong here, and how to mend it\n\n"
    "[bold]linerate doctor --cpus 2-5 --nic 05:00.0 --json[/]\n\n"
    "[bold]sudo linerate doctor --fix[/] and [bold]--undo[/] hugepages, governor, drivers",
)(doctor)


app.command(
    epilog="Examples:\n\n[bold]linerate sweep[/] a router on a virtual card, 64 to 1518 bytes\n\n"
    "[bold]linerate sweep --config mode=io --config mode=router --sizes 64:1518:64[/]\n\n"
    "[bold]linerate sweep testbed.yaml --repeat 5 --csv[/]",
)(sweep)


app.command(
    epilog="Examples:\n\n[bold]linerate search[/] NDR and PDR of a router on a virtual card\n\n"
    "[bold]linerate search --loadtest B2 --goal 0.1% --card pps=2000000,link=10G[/]\n\n"
    "[bold]linerate search testbed.yaml --sizes 64,512,1518 --duration 10s --json[/]",
)(search)


app.command(
    name="matrix",
    epilog="Examples:\n\n[bold]linerate matrix[/] everything that this host can run\n\n"
    "[bold]linerate matrix --list[/] what that is, and what is missing for the rest\n\n"
    "[bold]linerate matrix --only loopback*,l2-switch --repeat 5 --json[/]",
)(matrix_command)


app.command(
    name="self-bench",
    epilog="Examples:\n\n[bold]linerate self-bench[/] all, against the peers that are here\n\n"
    "[bold]linerate self-bench --only io,macswap --repeats 9 --json[/]",
)(self_bench)

app.command(
    epilog="Examples:\n\n[bold]linerate report runs/20261121-101500-router[/] a page in the run\n\n"
    "[bold]linerate report runs/20261121-101500-router --format csv -o run.csv[/]",
)(report)

app.command(
    epilog="Examples:\n\n[bold]linerate compare runs/…-router runs/…-io[/]\n\n"
    "[bold]linerate compare A1,A2,A3 B1,B2,B3 --format html -o compared.html[/] repeated runs",
)(compare)


app.command(
    name="audit",
    epilog="Examples:\n\n[bold]linerate audit loadtests.csv[/]\n\n"
    "[bold]linerate audit board.csv --link 25G --json[/]",
)(audit_table)


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
