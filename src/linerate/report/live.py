"""Tables of a live engine, in VPP's format where VPP has the table."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from linerate.model.ledger import NodeTime
from linerate.model.measurement import DropCount, WorkerReading
from linerate.report.plain_table import plain_table
from linerate.report.terminal import count

#: Column heads and widths of VPP's `show runtime` (vlib/node_cli.c).
RUNTIME_HEAD = (
    f"{'Name':^30}{'State':^12}{'Calls':>16}{'Vectors':>16}{'Suspends':>16}"
    f"{'Clocks':>16}{'Vectors/Call':>16}"
)
ENTRANCES = ("port-rx", "generator")
EXITS = ("port-tx", "tester-tx")
#: Width of the table of rings.
RING_COLUMNS = 78


def vpp_float(value: float, digits: int = 2) -> str:
    """Write a number as VPP does: 2.79e1."""
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def runtime_row(name: str, state: str, node: NodeTime) -> str:
    """Write one line of `show runtime`; Clocks are per packet, or per call if there are none."""
    by = node.vectors or node.calls
    clocks = vpp_float(node.clocks / by if by else 0.0)
    vectors_per_call = node.vectors / node.calls if node.calls else 0.0
    return (
        f"{name:<30.30}{state:^12}{node.calls:>16}{node.vectors:>16}{0:>16}"
        f"{clocks:>16}{vectors_per_call:>16.2f}"
    )


def runtime(readings: list[tuple[WorkerReading, int]]) -> str:
    """Write VPP's `show runtime`: workers with the TSC at which each started."""
    blocks = [_worker(number, *pair) for number, pair in enumerate(readings, start=1)]
    return "\n---------------\n".join(blocks)


def _worker(number: int, reading: WorkerReading, started_tsc: int) -> str:
    clocks = reading.tsc - started_tsc
    seconds = clocks / reading.tsc_hz if reading.tsc_hz else 0.0
    inner = [node for name, node in reading.nodes.items() if not name.startswith(ENTRANCES)]
    calls = sum(node.calls for node in inner)
    rate = sum(node.vectors for node in inner) / calls if calls else 0.0
    rates = ", ".join(
        f"{what} {vpp_float(_vectors(reading, names) / seconds if seconds else 0.0, 4)}"
        for what, names in (("in", ENTRANCES), ("out", EXITS), ("drop", ("drop",)))
    )
    lines = [
        f"Thread {number} {reading.name} (lcore {reading.cpu})",
        f"Time {seconds:.1f}, {seconds:.1f} sec internal node vector rate {rate:.2f} "
        f"loops/sec {reading.loops / seconds if seconds else 0.0:.2f}",
        f"  vector rates {rates}, punt {vpp_float(0, 4)}",
        RUNTIME_HEAD,
        *_rows(reading),
        _shares(reading, clocks),
    ]
    return "\n".join(lines)


def _vectors(reading: WorkerReading, names: tuple[str, ...]) -> int:
    return sum(node.vectors for name, node in reading.nodes.items() if name.startswith(names))


def _rows(reading: WorkerReading) -> list[str]:
    """Nodes by name; polls that found nothing are a line of their own.

    A node that has packets but can do nothing with them (a full tx ring) is not idle.
    """
    lines = []
    for name, node in sorted(reading.nodes.items()):
        idle = NodeTime(calls=node.idle_calls, clocks=node.idle_clocks)
        if name not in reading.polling:
            state = "fused" if node.fused else "active"
            lines.append(runtime_row(name, state, _plus(node, idle)))
            continue
        if node.calls:
            lines.append(runtime_row(name, "polling", node))
        if idle.calls:
            lines.append(runtime_row(f"{name[:20]} (idle)", "polling", idle))
    return lines


def _plus(node: NodeTime, more: NodeTime) -> NodeTime:
    return NodeTime(
        calls=node.calls + more.calls, vectors=node.vectors, clocks=node.clocks + more.clocks
    )


def _shares(reading: WorkerReading, clocks: int) -> str:
    """Say where the worker's cycles went, in one line."""
    busy = sum(node.clocks for node in reading.nodes.values())
    idle = sum(node.idle_clocks for node in reading.nodes.values())
    parts = (
        ("in nodes", busy),
        ("in idle polls", idle),
        ("in the loop", reading.overhead_clocks),
        ("descheduled", reading.away_clocks),
        *((("asleep", reading.sleep_clocks),) if reading.sleep_clocks else ()),
    )
    text = ", ".join(f"{100 * part / clocks if clocks else 0:.1f} % {name}" for name, part in parts)
    return f"cycles: {text}"


def errors(drops: tuple[DropCount, ...]) -> str:
    """Write VPP's `show errors`."""
    lines = [f"{'Count':^10}{'Node':^30}{'Reason':^36}{'Severity':^10}".rstrip()]
    summed: dict[tuple[str, str, str], int] = {}
    for drop in drops:
        key = (drop.node, drop.reason, drop.severity)
        summed[key] = summed.get(key, 0) + drop.packets
    for (node, reason, severity), packets in sorted(summed.items()):
        lines.append(f"{packets:>10}{node:^30}{reason:^36}{severity:^10}".rstrip())
    return "\n".join(lines)


def ports(console: Console, counters: dict[str, dict[str, Any]]) -> None:
    """Print each port's counters: the common ones as a table, the driver's own below."""
    common = ("rx_packets", "rx_missed", "rx_no_mbuf", "tx_packets", "tx_full")
    table = plain_table(("port", "left"), ("driver", "left"), *((name, "right") for name in common))
    for name, values in counters.items():
        row = (f"{values.get(key, 0):,}" for key in common)
        table.add_row(name, str(values.get("driver", "")), *row)
    console.print(table)
    known = {*common, "driver", "name", "mac", "rx_bytes", "tx_bytes", "link_bps"}
    for name, values in counters.items():
        more = {key: value for key, value in values.items() if key not in known and value}
        if more:
            text = ", ".join(f"{key} {value:,}" for key, value in more.items())
            console.print(f"  {name}: {text}", soft_wrap=True)


def rings(table: list[dict[str, Any]]) -> str:
    """Write RIOT's `show riot ring-stats`: rings between workers, then those of cards."""
    line = "-" * RING_COLUMNS
    head = ("src", "dst", "pri", "used", "free", "enqs", "drops", "deqs")
    handed = [row for row in table if row.get("from")]
    rest = [row for row in table if not row.get("from")]
    rows = [_ring_row(head), *(_ring_row(_ring_cells(row)) for row in (*handed, *rest))]
    return "\n".join([line, f"{'ring_stats':^{RING_COLUMNS}}".rstrip(), line, *rows])


def _ring_cells(row: dict[str, Any]) -> tuple[str, ...]:
    source, destination = str(row.get("from") or ""), str(row.get("to") or "")
    if not source:
        # CARD_portN_rxQ, or …_txQ: from the card to the worker, or the other way.
        card, _, queue = str(row["name"]).rpartition("_")
        ends = (card, queue) if queue.startswith("rx") else (queue, card)
        source, destination = (end.replace("_port", ":") for end in ends)
    keys = ("used", "free", "enqueued", "dropped", "dequeued")
    priority = str(row.get("priority") or "-")
    return (source, destination, priority, *(str(row.get(key, 0)) for key in keys))


def _ring_row(cells: tuple[str, ...]) -> str:
    widths = (12, 12, 8, 7, 7, 12, 12, 0)
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def flows(console: Console, answer: dict[str, Any], largest: list[dict[str, Any]]) -> None:
    """Print what a flow table counted, and its largest flows."""
    for line in _flow_counters(answer):
        console.print(line, soft_wrap=True)
    heads = ("pps", "packets", "bytes")
    out = plain_table(
        ("", "left"),
        ("low end", "left"),
        ("high end", "left"),
        *((name, "right") for name in heads),
        ("rules", "left"),
    )
    for row in largest:
        out.add_row(
            row["protocol"],
            row["low"],
            row["high"],
            count(row["pps"], 9),
            count(row["packets_low"] + row["packets_high"], 9),
            count(row["bytes_low"] + row["bytes_high"], 9),
            row["rules"] if row["state"] == "open" else row["state"],
        )
    console.print(out, soft_wrap=True)


def _flow_counters(answer: dict[str, Any]) -> Iterator[str]:
    """Say in words what is above the table; what never happened is left out."""
    yield f"{answer['flows']:,} of {answer['capacity']:,} flows, {answer['packets']:,} packets"
    ends = ("idle", "closed", "hard")
    ended = ", ".join(f"{answer[f'ended_{end}']:,} {end}" for end in ends)
    yield f"{answer['created']:,} created; ended: {ended}"
    counted = (
        ("not_recorded_not_ip", "not recorded: not IP"),
        ("not_recorded_broken", "not recorded: broken headers"),
        ("not_recorded_fragment", "not recorded: fragment without its first"),
        ("not_recorded_full", "not recorded: table full"),
        ("marked", "found by the port's mark"),
        ("bad_marks", "marks of no flow that lives"),
        ("lost_exports", "export records lost"),
    )
    yield from (f"{answer[key]:,} {words}" for key, words in counted if answer[key])
