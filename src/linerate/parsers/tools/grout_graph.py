"""grout's graph: `grcli stats show software`, of all workers or of one CPU.

Polls that found nothing are calls of `port_rx`, and the loop's of `overhead`; where a worker sleeps
its sleep is `idle`.
"""

import re
from collections.abc import Iterator

from linerate.model.evidence import Evidence, Loss, Node, Quote, Worker
from linerate.model.loss_causes import cause_of
from linerate.parsers import grout_tables as grout
from linerate.parsers.text import ROW_MAX_CHARS, Line, Text
from linerate.parsers.tools import parser

_CPU = re.compile(r"\bstats show(?: software)? cpu (?P<cpu>\d{1,5})\b|^\s*cpu (?P<own>\d{1,5})\s*$")
_HEAD = re.compile(r"\s*NODE\s+(?:BATCHES|CALLS)\s+PACKETS\b.*")
#: Polls that found packets cost more than others: counted as this many of those.
_COST_OF_FOUND = 10


@parser("grout graph")
def grout_graph(text: Text) -> Evidence | None:
    """Read each table; of several of the same CPU the last one counts, they count on."""
    if "PACKETS" not in text.whole:
        return None
    tables: dict[str, list[Line]] = {}
    cpu = ""
    rows: list[Line] = []
    for line in text:
        if match := _CPU.search(line.text[:ROW_MAX_CHARS]):
            cpu, rows = match["cpu"] or match["own"], []
            text.take(line)
        elif _HEAD.fullmatch(line.text):
            text.take(line)
            rows = tables[cpu] = [line]
        elif rows:
            rows.append(line)
    workers: list[Worker] = []
    losses: list[Loss] = []
    for name, lines in tables.items():
        found = grout.table((line.text for line in lines), grout.NODE_NAMES)
        quotes = {node: text.take(lines[at - 1]) for node, (_, at) in found.items()}
        nodes = {node: row for node, (row, _) in found.items() if "." not in node}
        losses += _losses(nodes, quotes)
        if (worker := _worker(name, nodes, quotes)) is not None:
            workers.append(worker)
    if not workers and not losses:
        return None
    return Evidence(workers=tuple(workers), losses=tuple(losses))


def _losses(nodes: dict[str, dict[str, float]], quotes: dict[str, Quote]) -> Iterator[Loss]:
    for node, row in nodes.items():
        packets = int(row.get("PACKETS", 0))
        if packets and grout.loses(node):
            where = grout.place(node)
            yield Loss(place=where, cause=cause_of(where), packets=packets, quote=quotes[node])


def _worker(
    cpu: str, nodes: dict[str, dict[str, float]], quotes: dict[str, Quote]
) -> Worker | None:
    """One worker, or all of them together."""
    whole = sum(grout.cycles(row) for row in nodes.values())
    sources = {name: row for name, row in nodes.items() if name.startswith(grout.SOURCE)}
    if whole <= 0 or not sources:
        return None
    worked = [
        name
        for name, row in nodes.items()
        if name not in (grout.IDLE, grout.OVERHEAD) and row.get("PACKETS")
    ]
    return Worker(
        name=f"grout-cpu{cpu}" if cpu else "grout, all its workers,",
        cpu=int(cpu) if cpu else None,
        nodes=tuple(_node(name, nodes[name], quotes[name]) for name in worked),
        idle_in_clocks=False,
        spare_percent=100.0 * _idle_cycles(nodes, sources) / whole,
        quote=quotes[max(sources, key=lambda one: sources[one].get("PACKETS", 0))],
    )


def _idle_cycles(nodes: dict[str, dict[str, float]], sources: dict[str, dict[str, float]]) -> float:
    """Sleep, and the polls and loops that found nothing, as far as the calls behind them tell."""
    polls = sum(grout.calls(row) for row in sources.values())
    behind = max((grout.calls(row) for name, row in nodes.items() if not _polls(name)), default=0.0)
    empty = max(0.0, 1.0 - _COST_OF_FOUND * behind / polls) if polls else 0.0
    polling = sum(grout.cycles(row) for name, row in nodes.items() if _polls(name))
    idle = nodes.get(grout.IDLE)
    slept = 0.0 if idle is None else grout.cycles(idle)
    return slept + empty * (polling - slept)


def _polls(name: str) -> bool:
    return name.startswith(grout.SOURCE) or name in (grout.IDLE, grout.OVERHEAD)


def _node(name: str, row: dict[str, float], quote: Quote) -> Node:
    calls, packets = int(grout.calls(row)), max(1, int(row["PACKETS"]))
    return Node(
        name=name,
        state="polling" if name.startswith(grout.SOURCE) else "active",
        calls=calls,
        vectors=packets,
        clocks_per_packet=grout.cycles(row) / packets,
        # Polls that found nothing are calls.
        vectors_per_call=0.0 if name.startswith(grout.SOURCE) else packets / max(calls, 1),
        quote=quote,
    )
