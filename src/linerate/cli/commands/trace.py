"""`linerate trace`: the way of single packets through a live engine's nodes."""

from typing import Annotated

import typer

from linerate.base.errors import UserError
from linerate.base.published import printed
from linerate.cli.live_engine import EngineName, connect
from linerate.cli.options import JsonOption
from linerate.engine.packet_trace import PACKETS_MAX, node_names, trace_packets
from linerate.report.packet_trace import trace_text, traced
from linerate.ui.screen import say


def _complete_node(incomplete: str) -> list[str]:
    """Nodes of the only live engine; without one there is nothing to complete."""
    try:
        with connect(None) as telemetry:
            names = node_names(telemetry)
    except UserError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def trace(
    node: Annotated[
        str,
        typer.Option(
            "--node",
            help="Node where traces begin, as `show runtime` names it.",
            metavar="NODE",
            autocompletion=_complete_node,
        ),
    ],
    count: Annotated[
        int, typer.Option("--count", help="Number of packets.", min=1, max=PACKETS_MAX)
    ] = 10,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds to wait for them.", min=0.1, max=3600)
    ] = 5.0,
    name: EngineName = None,
    as_json: JsonOption = False,
) -> None:
    """Trace packets through the nodes of a live engine, with what each node decided."""
    with connect(name) as telemetry:
        packets = trace_packets(telemetry, node, count, timeout)
    if as_json:
        say(printed("trace", traced(packets)))
    elif packets:
        say(trace_text(packets))
    else:
        say(f"no packet came to {node} in {timeout:g} s")
