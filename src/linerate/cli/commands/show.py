"""`linerate show …`: tables of live engines, ledgers of runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from linerate.base.frozen_model import FrozenModel
from linerate.base.published import Number, printed, published
from linerate.cli.live_engine import EngineName, connect
from linerate.cli.options import JsonOption
from linerate.engine.readings import read_errors, worker_reading
from linerate.engine.telemetry import rows
from linerate.model.measurement import DropCount
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


class RuntimeOutput(FrozenModel):
    """A worker, its cycles, and a column a counter of its nodes (docs/telemetry.md)."""

    name: str
    cpu: int
    tid: int
    role: str
    tsc: int
    #: When its counters began.
    started_tsc: int
    loops: int
    overhead_clocks: int
    away_clocks: int
    sleep_clocks: int
    node: list[str]
    calls: list[int]
    vectors: list[int]
    clocks: list[int]
    idle_calls: list[int]
    idle_clocks: list[int]
    state: list[str]


class PortOutput(FrozenModel):
    """A port and its counters; drivers have more of them."""

    name: str
    driver: str
    mac: str
    link_bps: int
    rx_packets: int
    #: FCS counted.
    rx_bytes: int
    rx_missed: int
    rx_no_mbuf: int
    tx_packets: int
    tx_bytes: int
    tx_full: int


class RingOutput(FrozenModel):
    """A ring of a card or between workers."""

    name: str
    size: int
    used: int
    free: int
    enqueued: int
    dropped: int
    dequeued: int


class OffloadOutput(FrozenModel):
    """A port that looks flows up; refusals by type, and times, beside."""

    state: str
    #: Why it is off.
    reason: str
    rules: int
    limit: int
    threshold_pps: int
    promoted: int
    demoted: int
    ended: int
    refused: int
    full: int
    silent: int
    lost: int


class FlowOutput(FrozenModel):
    """One flow, both directions together; addresses and ports of its two ends."""

    protocol: str
    low: str
    high: str
    state: str
    rules: str | int
    pps: Number
    packets_low: int
    packets_high: int
    bytes_low: int
    bytes_high: int


class FlowsOutput(FrozenModel):
    """A flow table's counters, and its largest flows."""

    flows: int
    capacity: int
    packets: int
    created: int
    flow: list[FlowOutput]


published("show-runtime", "JSON of `linerate show runtime --json`, by worker")(
    dict[str, RuntimeOutput]
)
published("show-errors", "JSON of `linerate show errors --json`")(list[DropCount])
published("show-ports", "JSON of `linerate show ports --json`, by port")(dict[str, PortOutput])
published("show-rings", "JSON of `linerate show rings --json`")(list[RingOutput])
published("show-offload", "JSON of `linerate show offload --json`, by port")(
    dict[str, OffloadOutput]
)
published("show-flows", "JSON of `linerate show flows --json`")(FlowsOutput)


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
        say(printed("show-runtime", {row["name"]: row | answer for row, answer in answers}))
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
        say(printed("show-errors", drops))
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
        say(printed("show-ports", counters))
    else:
        live.ports(_console(), counters)


@show.command(epilog="Example: [bold]linerate show rings[/]")
def rings(name: EngineName = None, as_json: JsonOption = False) -> None:
    """Show each ring's fill level and counters, as RIOT does: control, high, normal priority."""
    with connect(name) as telemetry:
        table = telemetry.table("/linerate/rings")
    if as_json:
        say(printed("show-rings", table))
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
        say(printed("show-offload", ports))
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
        say(printed("show-flows", counters | {"flow": largest}))
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
        say(printed("show-ledger", [json_output.ledgers(one) for one in results], loaded.testbed))
        return
    console = _console()
    for result in results:
        terminal.ledger_report(console, result)


def _measured(run: Run, test: str | None) -> str:
    names = ", ".join(result.test for result in run.reported())
    if not names:
        return "nothing was measured"
    return f"no loadtest '{test}' was measured; there are {names}"
