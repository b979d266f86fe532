"""`linerate show …`: tables of live engines, ledgers of runs."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from linerate.cli.live_engine import EngineName, connect
from linerate.cli.options import JsonOption
from linerate.engine.readings import read_errors, worker_reading
from linerate.engine.telemetry import rows
from linerate.report import json_output, live, terminal
from linerate.report import offload as offloading
from linerate.results.store import Run, StoreError, load_run
from linerate.ui.console import Console
from linerate.ui.screen import say

show = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Tables of a live engine; ledgers of a run.",
)


def _print_json(document: Any) -> None:  # noqa: ANN401 (what JSON can hold)
    say(json.dumps(document, indent=1))


def _console() -> Console:
    return Console()


@show.command(epilog="Example: [bold]linerate show runtime --engine bench-1[/]")
def runtime(name: EngineName = None, as_json: JsonOption = False) -> None:
    """Show each worker's nodes, calls, vectors and Clocks, as VPP does."""
    with connect(name) as telemetry:
        hertz = int(telemetry.ask("/linerate/info")["tsc_hz"])
        answers = [
            (row, telemetry.ask(f"/linerate/runtime,{row['name']}"))
            for row in telemetry.table("/linerate/workers")
        ]
    if as_json:
        _print_json({row["name"]: row | answer for row, answer in answers})
        return
    readings = [
        (worker_reading(row, answer, hertz), int(answer["started_tsc"])) for row, answer in answers
    ]
    say(live.runtime(readings))


@show.command(epilog="Example: [bold]linerate show errors --json[/]")
def errors(name: EngineName = None, as_json: JsonOption = False) -> None:
    """Show each drop reason that counted packets, as VPP does."""
    with connect(name) as telemetry:
        drops = read_errors(telemetry)
    if as_json:
        _print_json([drop.model_dump() for drop in drops])
    else:
        say(live.errors(drops))


@show.command(epilog="Example: [bold]linerate show ports[/]")
def ports(name: EngineName = None, as_json: JsonOption = False) -> None:
    """Show the counters of each port."""
    with connect(name) as telemetry:
        counters = {
            row["name"]: row | telemetry.ask(f"/linerate/port,{row['name']}")
            for row in telemetry.table("/linerate/ports")
        }
    if as_json:
        _print_json(counters)
    else:
        live.ports(_console(), counters)


@show.command(epilog="Example: [bold]linerate show rings[/]")
def rings(name: EngineName = None, as_json: JsonOption = False) -> None:
    """Show each ring's fill level and counters, as RIOT does: control, high, normal priority."""
    with connect(name) as telemetry:
        table = telemetry.table("/linerate/rings")
    if as_json:
        _print_json(table)
    else:
        say(live.rings(table))


@show.command(epilog="Example: [bold]linerate show offload[/]")
def offload(name: EngineName = None, as_json: JsonOption = False) -> None:
    """Show which ports look flows up themselves, and what went wrong with it."""
    with connect(name) as telemetry:
        ports = {
            str(row["name"]): telemetry.ask(f"/linerate/offload,{row['name']}")
            for row in telemetry.table("/linerate/offload")
        }
    if as_json:
        _print_json(ports)
    elif ports:
        offloading.table(_console(), ports)
    else:
        say("nothing is offloaded: the engine has no forwarder.flowtable.offload")


class FlowOrder(StrEnum):
    """Sort order of `show flows`."""

    PPS = "pps"
    PACKETS = "packets"
    BYTES = "bytes"


@show.command(epilog="Example: [bold]linerate show flows --top 10 --by bytes[/]")
def flows(
    name: EngineName = None,
    top: Annotated[int, typer.Option("--top", help="How many.", min=0, max=50)] = 20,
    by: Annotated[FlowOrder, typer.Option("--by", help="The largest by what.")] = FlowOrder.PPS,
    as_json: JsonOption = False,
) -> None:
    """Show the largest flows of a flow table, and what it counted.

    Packets a second are those of the fifth of a second in which the engine looked.
    """
    with connect(name) as telemetry:
        answer = telemetry.ask(f"/linerate/flows,top={top},by={by.value}")
    largest = rows(answer, "/linerate/flows")
    if as_json:
        counters = {key: value for key, value in answer.items() if not isinstance(value, list)}
        _print_json(counters | {"flow": largest})
    else:
        live.flows(_console(), answer, largest)


@show.command(epilog="Example: [bold]linerate show ledger runs/20261121-101500-router U2[/]")
def ledger(
    run: Annotated[Path, typer.Argument(help="A run's folder.", metavar="RUN")],
    test: Annotated[
        str | None, typer.Argument(help="Only this loadtest.", metavar="[TEST]")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show both ledgers of a run's trials: each packet, each cycle."""
    loaded = load_run(run)
    results = [
        result
        for result in loaded.reported()
        if test is None or result.test.lower() == test.lower()
    ]
    if not results:
        raise StoreError(f"{run}: {_measured(loaded, test)}")
    if as_json:
        _print_json([json_output.ledgers(result) for result in results])
        return
    console = _console()
    for result in results:
        terminal.ledger_report(console, result)


def _measured(run: Run, test: str | None) -> str:
    names = ", ".join(result.test for result in run.reported())
    if not names:
        return "nothing was measured"
    return f"no loadtest '{test}' was measured; there are {names}"
