"""The matrix: rates and factors, verdicts, costs, what is missing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import Field
from rich.console import Console
from rich.text import Text

from linerate.analysis.explain.model import Limit
from linerate.base.published import Number, Output, published
from linerate.report import json_output, matrix_lead
from linerate.report.document import (
    LIMIT,
    NONE,
    Column,
    Document,
    Heading,
    Listing,
    Note,
    Section,
    Table,
    text,
)
from linerate.report.figures import rates
from linerate.report.framed import NOTHING, framed
from linerate.report.terminal import mpps
from linerate.results.matrix_rows import Group, Row, groups
from linerate.results.store import Absent, Run

EXPLAINED = (
    "rates of all ports together, medians of the trials; costs are of each packet received, sent "
    "or, of all nodes, forwarded; –: not counted; * suspect: --json says why"
)
#: Columns whose names a terminal shortens.
ABBREVIATED = (
    "±: half of the spread of the trials; %: of the line; × slowest, × DPDK: the rate over that of "
    "the slowest, and of DPDK's driver, of the same table; clk: cycles of the node that receives "
    "(rx) or sends (tx); above: those of sending beside the hop's own; sys: system calls; B: bytes "
    "copied; all: cycles of all nodes; free: Mpps on a link that costs nothing; kern: share of the "
    "time spent in the kernel"
)
#: Names of columns of costs, where there is room for them.
SPELLED = {
    "rx clk": "cycles to receive",
    "rx sys": "system calls to receive",
    "rx B": "bytes copied to receive",
    "tx clk": "cycles to send",
    "above": "of them beside the hop's own",
    "tx sys": "system calls to send",
    "tx B": "bytes copied to send",
    "all clk": "cycles of all nodes",
    "free": "Mpps on a link without cost",
    "kern %": "% of time in the kernel",
}
#: Descriptions of a mode's cases.
SAID = {
    "rx-only": "all is received, nothing sent",
    "tx-only": "sends by itself, receives nothing",
    "loopback-2": "one port to the other",
    "loopback-4": "two loopbacks over four ports",
    "l2-switch": "by MAC address",
    "one-way": "one port to the other, in one direction only",
}


def document(run: Run, folder: Path, found: list[Row]) -> Document:
    """The whole comparison, what is compared with each other together."""
    assert run.sweep is not None
    return framed(
        run,
        folder,
        "matrix",
        [
            *([matrix_lead.outcome(run, found)] if found else []),
            *_by_wire(run, found),
            *_explained(found),
            *_absent(run),
        ],
        title=f"matrix: {len(found)} configurations, {_how(run)}",
        data=partial(output, run, found, folder),
        rows=partial(as_rows, found),
        more=(f"the page: {folder}/report.html",),
        abbreviated=ABBREVIATED if found else "",
    )


def _by_wire(run: Run, found: list[Row]) -> Iterator[Section]:
    wire = ""
    for group in groups(found):
        if group.wire != wire:
            wire = group.wire
            yield Heading(f"Over wire {wire}", f"wire-{wire}", bare(run, wire))
        yield from _group(group)


def _group(group: Group) -> list[Section]:
    """Rates, then costs, then what limits each."""
    rows = list(group.rows)
    title = heading(group) if group.mode else f"Packet rates over wire {group.wire}"
    costs = cost_table(rows)
    reasons = tuple((row.label, _why(row)) for row in rows)
    return [
        rates.bars(group),
        replace(rate_table(title, rows), titled=bool(group.mode)),
        *([costs] if len(costs.columns) > 1 else []),
        Listing("What limits", ("configuration", "what limits"), reasons, titled=False),
    ]


def _why(row: Row) -> str:
    return row.verdict.sentence if row.point.pps is not None else row.point.result.invalid[0]


def _explained(found: list[Row]) -> list[Section]:
    return [Note(EXPLAINED)] if found else [NOTHING]


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
    message = f"bare, the tester does {mpps(max(found))} Mpps, {1e9 / max(found):,.0f} ns a packet"
    hop = run.sweep.hop if run.sweep and wire == "veth" else None
    cost = f"; a hop costs its sender {hop.clocks:,.0f} cycles ({hop.call})" if hop else ""
    return message + cost


def rate_table(title: str, found: list[Row]) -> Table:
    """Rates and factors."""
    columns = (
        *text("configuration"),
        Column("Mpps"),
        Column("±", spelled="± half the spread"),
        Column("%", spelled="% of line"),
        Column("× slowest", spelled="times the slowest"),
        Column("× DPDK", spelled="times DPDK's driver"),
        *LIMIT,
    )
    rows = (
        (
            row.label + "*" * bool(row.point.pps and row.point.result.disturbed),
            NONE if row.point.pps is None else mpps(row.point.pps),
            NONE if row.point.spread_percent is None else f"{row.point.spread_percent / 2:.0f} %",
            figure(row.point.percent, 1),
            figure(row.over_slowest, 2),
            figure(row.over_dpdk, 2),
            row.verdict.limit,
        )
        for row in found
    )
    return Table(title, columns, tuple(rows))


def figure(value: float | None, digits: int) -> str:
    """Write a figure, or that there is none."""
    return NONE if value is None else f"{value:,.{digits}f}"


def cost_table(found: list[Row]) -> Table:
    """Costs, rx and tx separate; columns without a counter are left out."""
    names = cost_columns(found)
    columns = (
        Column(name, spare=int(name in ("tx clk", "kern %")), spelled=SPELLED.get(name, ""))
        for name in names
    )
    cells = ((row, cost_cells(row)) for row in found)
    rows = ((row.label, *(by_name[name] for name in names)) for row, by_name in cells)
    made = Table("Costs of a packet", (*text("configuration"), *columns), tuple(rows))
    return made.untitled


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


def _absent(run: Run) -> list[Section]:
    assert run.sweep is not None
    planned = [one for one in run.sweep.absent if one.planned]
    ended = [one for one in run.sweep.absent if not one.planned]
    heads = ("configuration", "why")
    return [
        Listing(title, heads, tuple((", ".join(names), why) for why, names in reasons.items()))
        for title, reasons in (
            ("Not run here", _together(planned)),
            ("Not measured, or not to the end", _together(ended)),
        )
    ]


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


class CostOutput(Output):
    """Cost of one packet."""

    cycles_per_packet: float | None = Field(validation_alias="clocks")
    syscalls_per_packet: float | None = Field(validation_alias="syscalls")
    copied_bytes_per_packet: float | None = Field(validation_alias="copied_bytes")


class RowOutput(Output):
    """One case of the matrix."""

    configuration: str
    wire: str
    mode: str
    #: Median of the valid trials.
    received_pps: Number | None
    line_percent: Number | None
    #: Largest less smallest, of the median.
    spread_percent: Number | None
    trials_pps: tuple[float, ...]
    #: Its rate over that of the slowest case of its group, and of DPDK's driver.
    over_slowest: Number | None
    over_dpdk: Number | None
    limit: Limit
    #: Costs of a packet received, and of one sent.
    rx: CostOutput
    tx: CostOutput
    #: Cycles of all nodes, over the packets that were forwarded.
    cycles_per_packet: Number | None
    #: Cost of the link for its sender per packet.
    hop_cycles_per_packet: Number | None
    #: Cost of sending a packet, without the link's own.
    tx_above_cycles_per_packet: Number | None
    #: Rate on a wire that costs nothing.
    free_wire_pps: Number | None
    #: Share of the time spent in the kernel.
    kernel_percent: Number | None
    trial: json_output.TrialOutput


@published("matrix", "JSON of `linerate matrix --json`")
class MatrixOutput(json_output.RunOutput):
    """All configurations of a host, compared."""

    #: FCS counted.
    frame_bytes: int
    repeats: int
    configurations: tuple[RowOutput, ...]
    #: Configurations that were not measured, or not to the end.
    absent: tuple[Absent, ...]


@published("matrix-list", "JSON of `linerate matrix --list --json`")
class MatrixListOutput(Output):
    """Configurations that a host can run, and those that it can't."""

    configurations: tuple[str, ...]
    absent: tuple[Absent, ...]


def output(run: Run, rows: list[Row], folder: Path) -> MatrixOutput:
    """As JSON."""
    assert run.sweep is not None
    return MatrixOutput(
        **json_output.run_fields(run, folder),
        frame_bytes=run.sweep.frame_bytes[0],
        repeats=run.sweep.repeats,
        configurations=tuple(map(_row, rows)),
        absent=run.sweep.absent,
    )


def _row(row: Row) -> RowOutput:
    point = row.point
    return RowOutput(
        configuration=row.configuration,
        wire=row.wire,
        mode=row.case.mode,
        received_pps=point.pps,
        line_percent=point.percent,
        spread_percent=point.spread_percent,
        trials_pps=point.rates_pps,
        over_slowest=row.over_slowest,
        over_dpdk=row.over_dpdk,
        limit=row.verdict.limit,
        rx=CostOutput.model_validate(row.costs.rx),
        tx=CostOutput.model_validate(row.costs.tx),
        cycles_per_packet=row.costs.all_clocks,
        hop_cycles_per_packet=row.hop_clocks,
        tx_above_cycles_per_packet=row.tx_above_clocks,
        free_wire_pps=row.free_wire_pps,
        kernel_percent=row.costs.kernel_percent,
        trial=json_output.trial(point.result),
    )


def as_rows(found: list[Row]) -> Iterator[Sequence[object]]:
    """A row for each configuration, by the names that JSON has too."""
    names = ("configuration", "wire", "mode", "received_pps", "line_percent", "spread_percent",
             "over_slowest", "over_dpdk", "limit")  # fmt: skip
    costs = (*CostOutput.model_fields,)
    whole = ("cycles_per_packet", "hop_cycles_per_packet", "tx_above_cycles_per_packet",
             "free_wire_pps", "kernel_percent")  # fmt: skip
    yield (*names, *(f"{way}_{cost}" for way in ("rx", "tx") for cost in costs), *whole)
    for row in map(_row, found):
        yield (
            *(getattr(row, name) for name in names),
            *(getattr(way, cost) for way in (row.rx, row.tx) for cost in costs),
            *(getattr(row, name) for name in whole),
        )
