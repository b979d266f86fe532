"""The matrix for people and for programs: rates and factors, verdicts, costs, what is missing."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from linerate.analysis.cost import Cost
from linerate.report import json_output
from linerate.report.ending import how_it_ended
from linerate.report.host import host_line
from linerate.report.terminal import LIMIT_STYLES, environment_line, mpps, plain_table
from linerate.results.matrix_rows import Group, Row, groups
from linerate.results.store import Absent, Run

NONE = "–"
EXPLAINED = (
    "Mpps and %: what came through, all ports together, and of their line; ±: half of the spread "
    "of the trials; × slowest, × DPDK: the rate over that of the slowest, and of DPDK's driver, of "
    "the same table; * suspect: --json says why"
)
COSTS_EXPLAINED = (
    "Costs, of each packet received (rx) or sent (tx): clk: cycles of the node that does it; "
    "above: those of sending beside the hop's own; sys: system calls; B: bytes copied; all: cycles "
    "of all nodes, of each that came through; free: Mpps on a wire that costs nothing; kern: share "
    "of the time spent in the kernel; –: not counted"
)
#: Descriptions of a mode's cases.
SAID = {
    "rx-only": "all is received, nothing sent",
    "tx-only": "sends by itself, receives nothing",
    "loopback-2": "one port to the other",
    "loopback-4": "two loopbacks over four ports",
    "l2-switch": "by MAC address",
    "one-way": "one port to the other, in one direction only",
}
INDENT = (0, 0, 0, 2)


def matrix_report(console: Console, run: Run, rows: list[Row], folder: Path) -> None:
    """Print the whole comparison, what is compared with each other together."""
    assert run.sweep is not None
    console.print(Text(f"matrix: {len(rows)} configurations, {_how(run)}", "bold"))
    console.print(environment_line(run.environment), style="dim")
    if doubtful := host_line(run.host):
        console.print(Text(doubtful, "yellow"))
    wire = ""
    for group in groups(rows):
        if group.wire != wire:
            wire = group.wire
            console.print()
            console.print(Text(f"Over wire {wire}{bare(run, wire)}", "bold underline"))
        _print_group(console, group)
    if rows:
        console.print()
        console.print(Text(EXPLAINED, "dim"))
        console.print(Text(COSTS_EXPLAINED, "dim"))
    _print_absent(console, run)
    how_it_ended(console, run, folder, f"the page: {folder}/report.html")


def _print_group(console: Console, group: Group) -> None:
    """Rates, then costs, then what limits each."""
    rows = list(group.rows)
    console.print()
    if group.mode:
        console.print(Text(heading(group), "bold"))
    console.print(rate_table(rows))
    if cost_columns(rows):
        console.print()
        console.print(cost_table(rows))
    console.print()
    for row in rows:
        message = row.verdict.sentence if row.point.pps is not None else row.point.result.invalid[0]
        line = Text.assemble((row.label, "bold"), f": {message}")
        console.print(Padding(line, INDENT, expand=False))


def heading(group: Group) -> str:
    """`veth, rx-only: all is received, nothing sent`."""
    message = SAID.get(group.mode)
    return f"{group.wire}, {group.mode}" + (f": {message}" if message else "")


def _how(run: Run) -> str:
    assert run.sweep is not None
    size, repeats = run.sweep.frame_bytes[0], run.sweep.repeats
    trials = "one trial" if repeats == 1 else f"{repeats} trials"
    return f"{size}-byte frames, {trials} each, in turn"


def bare(run: Run, wire: str) -> str:
    """Rate of the link itself: the tester alone, its ports joined to each other."""
    found = [ceiling.pps for ceiling in run.ceilings if ceiling.wire == wire and ceiling.pps]
    if not found:
        return ""
    message = (
        f"; bare, the tester does {mpps(max(found))} Mpps, {1e9 / max(found):,.0f} ns a packet"
    )
    hop = run.sweep.hop if run.sweep and wire == "veth" else None
    return (
        f"{message}; a hop costs its sender {hop.clocks:,.0f} cycles ({hop.call})"
        if hop
        else message
    )


def rate_table(rows: list[Row]) -> Table:
    """Rates and factors."""
    columns = ("Mpps", "±", "%", "× slowest", "× DPDK")
    table = plain_table(
        ("configuration", "left"), *((name, "right") for name in columns), ("limit", "left")
    )
    for row in rows:
        point = row.point
        limit = row.verdict.limit
        table.add_row(
            row.label + "*" * bool(point.pps and point.result.disturbed),
            NONE if point.pps is None else mpps(point.pps),
            NONE if point.spread_percent is None else f"{point.spread_percent / 2:.0f} %",
            figure(point.percent, 1),
            figure(row.over_slowest, 2),
            figure(row.over_dpdk, 2),
            Text(limit, LIMIT_STYLES.get(limit, "yellow")),
        )
    return table


def figure(value: float | None, digits: int) -> str:
    """Write a figure, or that there is none."""
    return NONE if value is None else f"{value:,.{digits}f}"


def cost_table(rows: list[Row]) -> Table:
    """Costs, rx and tx separate; columns without a counter are left out."""
    columns = ["configuration", *_fitting(cost_columns(rows))]
    table = plain_table((columns[0], "left"), *((name, "right") for name in columns[1:]), gap=1)
    for row in rows:
        cells = cost_cells(row)
        table.add_row(row.label, *(cells[name] for name in columns[1:]))
    return table


def _fitting(columns: list[str]) -> list[str]:
    """Those for which 80 characters have room; the page and JSON have all."""
    if "above" not in columns:
        return columns
    return [name for name in columns if name not in ("tx clk", "kern %")]


def cost_columns(rows: list[Row]) -> list[str]:
    """Those in which any row has a figure."""
    all_cells = [cost_cells(row) for row in rows]
    return [
        name
        for name in (all_cells[0] if all_cells else {})
        if any(cells[name] != NONE for cells in all_cells)
    ]


def cost_cells(row: Row) -> dict[str, str]:
    """By column."""
    given = row.point.pps is not None
    costs = row.costs if given else type(row.costs)()
    cells = {}
    for way, cost in (("rx", costs.rx), ("tx", costs.tx)):
        cells[f"{way} clk"] = clocks(cost.clocks)
        if way == "tx":
            cells["above"] = clocks(row.tx_above_clocks if given else None)
        cells[f"{way} sys"] = figure(cost.syscalls, 2)
        cells[f"{way} B"] = figure(cost.copied_bytes, 0)
    cells["all clk"] = clocks(costs.all_clocks)
    free_pps = row.free_wire_pps if given else None
    cells["free"] = NONE if free_pps is None else mpps(free_pps)
    cells["kern %"] = figure(costs.kernel_percent, 0)
    return cells


def clocks(value: float | None) -> str:
    """Write cycles/packet with significant digits."""
    return figure(value, 0 if value is not None and value >= 100 else 1)


def _print_absent(console: Console, run: Run) -> None:
    assert run.sweep is not None
    for title, lines in (
        ("Not run here", [one for one in run.sweep.absent if one.planned]),
        ("Not measured, or not to the end", [one for one in run.sweep.absent if not one.planned]),
    ):
        if not lines:
            continue
        console.print()
        console.print(Text(title, "bold"))
        for reason, names in _together(lines).items():
            console.print(Padding(Text(f"{', '.join(names)}: {reason}"), INDENT, expand=False))


def _together(absent: list[Absent]) -> dict[str, list[str]]:
    """Cases that lack the same prerequisite share a line."""
    found: dict[str, list[str]] = {}
    for one in absent:
        reason = f"{one.reason}; {one.remedy}" if one.remedy else one.reason
        found.setdefault(reason, []).append(one.configuration)
    return found


def list_report(console: Console, able: list[str], absent: tuple[Absent, ...]) -> None:
    """Print what would be run, and what can't be."""
    for name in able:
        console.print(Text(name), soft_wrap=True)
    for reason, names in _together(list(absent)).items():
        line = f"{', '.join(names)}: not here: {reason}"
        console.print(Text(line, "dim"), soft_wrap=True)


def document(run: Run, rows: list[Row], folder: Path) -> dict[str, Any]:
    """As JSON."""
    assert run.sweep is not None
    return {
        "run": str(folder),
        "status": run.status,
        "problem": run.problem,
        "frame_bytes": run.sweep.frame_bytes[0],
        "repeats": run.sweep.repeats,
        "configurations": [_row(row) for row in rows],
        "absent": [one.model_dump() for one in run.sweep.absent],
    }


def _row(row: Row) -> dict[str, Any]:
    point = row.point
    return {
        "configuration": row.configuration,
        "wire": row.wire,
        "mode": row.case.mode,
        "pps": point.pps,
        "percent_of_line": point.percent,
        "spread_percent": point.spread_percent,
        "rates_pps": list(point.rates_pps),
        "over_slowest": row.over_slowest,
        "over_dpdk": row.over_dpdk,
        "limit": row.verdict.limit,
        "rx": _cost(row.costs.rx),
        "tx": _cost(row.costs.tx),
        "clocks": row.costs.all_clocks,
        "hop_clocks": row.hop_clocks,
        "tx_above_clocks": row.tx_above_clocks,
        "free_wire_pps": row.free_wire_pps,
        "kernel_percent": row.costs.kernel_percent,
        "trial": json_output.trial(point.result),
    }


def _cost(cost: Cost) -> dict[str, float | None]:
    return cost.model_dump()
