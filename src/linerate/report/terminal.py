"""Reports for people: what `linerate bench` and `linerate show ledger` print.

Everything fits 80 columns and reads the same through a pipe.
"""

from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from linerate.base.line_rate import FrameRate, PcieLink, format_bps, in_mpps
from linerate.model.environment import Environment
from linerate.model.ledger import PacketLedger, TimeLedger
from linerate.model.port_kinds import ports_text
from linerate.report import flow_table, marks, offered
from linerate.report.cycles import clocks, cycles_table
from linerate.report.ending import how_it_ended
from linerate.report.host import host_line
from linerate.results.store import Result, Run

EXPLAINED = "rates and % of line: received, both directions together"
L2_EXPLAINED = "; L2 counts the FCS"
#: Columns of the one table, between test and limit.
L2 = "L2 Gb/s"
FIGURES = ("offered", "received", "Mpps", "L1 Gb/s", L2, "% of line", "loss")
LIMIT_STYLES = {
    "line": "green",
    "none": "green",
    "invalid": "red",
    "unknown": "red",
    "unexplained": "red",
}


def plain_table(*columns: tuple[str, str], gap: int = 2) -> Table:
    """Make a table without lines: columns of a name and `left` or `right`."""
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for name, side in columns:
        table.add_column(name, justify="left" if side == "left" else "right", no_wrap=True)
    return table


def count(packets: int, width: int = 11) -> str:
    """Write a number of packets; in thousands when it would not fit."""
    text = f"{packets:,}"
    return text if len(text) <= width else f"{packets // 1000:,}k"


def loss(result: Result) -> str:
    """Write the loss so that none differs from little."""
    if result.packets.sent - result.came_back == 0 or not result.loss_percent:
        return "0"
    if result.loss_percent < 0.01:
        return "<0.01 %"
    digits = 2 if result.loss_percent < 10 else 1
    return f"{result.loss_percent:.{digits}f} %"


def mpps(packets_per_second: float) -> str:
    """Write a packet rate with as many digits as it deserves."""
    value = packets_per_second / 1e6
    return in_mpps(packets_per_second, 1 if value >= 100 else 2 if value >= 10 else 3)


def bench_report(console: Console, run: Run, folder: Path) -> None:
    """Print a whole run."""
    results = run.reported()
    console.print(heading(run))
    console.print(environment_line(run.environment), style="dim")
    if doubtful := host_line(run.host):
        console.print(Text(doubtful, "yellow"))
    console.print()
    if not results:
        console.print("nothing was measured")
    else:
        figures = fitting_table(console, results)
        console.print(figures)
        shows_l2 = any(str(column.header) == L2 for column in figures.columns)
        console.print(EXPLAINED + L2_EXPLAINED * shows_l2, style="dim")
        _print_offered(console, results, folder)
        _print_flow_table(console, results)
        for made in (_invalid, _losses):
            _print_section(console, made(results))
    if run.absent:
        lines = [(one.configuration, one.reason) for one in run.absent]
        _print_section(console, ("Not measured, because", lines))
    if results:
        _print_limits(console, results)
        for section in marks.footnotes(results):
            _print_section(console, section)
        table = cycles_table([result for result in results if result.valid])
        if table is not None:
            console.print()
            console.print(Text("The forwarder's cycles: cycles/packet, by node", "bold"))
            console.print(table)
    how_it_ended(console, run, folder, f"each packet and cycle: linerate show ledger {folder}")


def heading(run: Run) -> Text:
    """Say what was measured: one line."""
    testbed = run.testbed
    workers = f"{testbed.dut.workers} worker" + "s" * (testbed.dut.workers > 1)
    if testbed.dut.rx_mode != "polling":
        workers += f", rx mode {testbed.dut.rx_mode}"
    who = f"{testbed.dut.name}, {workers}" if testbed.dut.built_in else testbed.dut.name
    links = f"; links: {run.environment.links}" if run.environment.links else ""
    return Text(f"{who}; {ports_text(testbed)}{links}", "bold")


def environment_line(environment: Environment) -> str:
    """Say on what it was measured: one line."""
    cpus = f"{len(environment.cpus)} CPU" + "s" * (len(environment.cpus) > 1)
    where = f"{environment.cpu_model}, {cpus}" + ", virtual machine" * environment.hypervisor
    what = [part for part in (environment.dpdk, environment.memory) if part]
    if environment.autogroup_nice is not None:
        what.append("before other sessions")
    return "; ".join([where, *what])


def fitting_table(console: Console, results: list[Result]) -> Table:
    """Make the one table, nearer together when figures are long, and at last without L2."""
    unbounded = console.options.update(max_width=1000)
    tables = [
        bench_table(results, gap=2),
        bench_table(results),
        bench_table(results, tuple(name for name in FIGURES if name != L2)),
        bench_table(results, tuple(name for name in FIGURES if "Gb/s" not in name)),
    ]
    fitting = (
        table
        for table in tables
        if console.measure(table, options=unbounded).maximum <= console.width
    )
    return next(fitting, tables[-1])


def bench_table(results: list[Result], columns: tuple[str, ...] = FIGURES, gap: int = 1) -> Table:
    """Make the one table."""
    if marks.any_left_out(results):
        columns = (*columns, marks.COLUMN)
    table = plain_table(
        ("test", "left"), *((name, "right") for name in columns), ("limit", "left"), gap=gap
    )
    for result in results:
        limit = Text(result.verdict.limit, LIMIT_STYLES.get(result.verdict.limit, "yellow"))
        if not result.valid:
            table.add_row(result.test, *["–"] * len(columns), limit)
            continue
        figures = _figures(result)
        name = result.test + marks.marks(result)
        table.add_row(name, *(figures[column] for column in columns), limit)
    return table


def _figures(result: Result) -> dict[str, str]:
    """By FIGURES."""
    cells = (
        count(result.packets.sent),
        count(result.came_back),
        mpps(result.received_pps),
        f"{result.l1_bps / 1e9:.2f}",
        f"{result.l2_bps / 1e9:.2f}",
        f"{result.percent_of_line:.1f}",
        loss(result),
    )
    return dict(zip(FIGURES, cells, strict=True)) | {marks.COLUMN: marks.left_out(result)}


def _print_offered(console: Console, results: list[Result], folder: Path) -> None:
    """Traffic profiles, and the streams that lost most."""
    for result in (one for one in results if one.profile is not None):
        console.print()
        for line in offered.lines(result):
            console.print(Text(line), soft_wrap=True)
        rows = offered.worst(result, folder)
        if rows:
            table = plain_table(
                *((name, "left" if name == "stream" else "right") for name in offered.COLUMNS)
            )
            for row in rows:
                table.add_row(*row)
            console.print(table)


def _print_flow_table(console: Console, results: list[Result]) -> None:
    rows = flow_table.rows(results)
    if not rows:
        return
    words = flow_table.COLUMNS[: flow_table.WORDS]
    table = plain_table(
        *((name, "left" if name in words else "right") for name in flow_table.COLUMNS)
    )
    for row in rows:
        table.add_row(*row.cells)
    console.print()
    console.print(Text(flow_table.TITLE, "bold"))
    console.print(table)
    console.print(flow_table.EXPLAINED, style="dim")


Section = tuple[str, list[tuple[str, str]]]


def _print_section(console: Console, section: Section) -> None:
    title, lines = section
    if not lines:
        return
    console.print()
    console.print(Text(title, "bold"))
    for test, line in lines:
        console.print(Text(f"  {test:<4} {line}"), soft_wrap=True)


def _invalid(results: list[Result]) -> Section:
    lines = [(result.test, reason) for result in results for reason in result.invalid]
    return ("No result, because", lines)


def _losses(results: list[Result]) -> Section:
    lines = []
    for result in (result for result in results if result.valid):
        for place, packets in result.packets.losses.items():
            share = 100 * packets / result.packets.sent if result.packets.sent else 0.0
            lines.append((result.test, f"{packets:>13,}  {share:5.2f} %  {place}"))
        if result.packets.unexplained:
            lines.append((result.test, f"{result.packets.unexplained:>13,}           unexplained"))
    return ("Where each lost packet went", lines)


def _print_limits(console: Console, results: list[Result]) -> None:
    """Say why each limit was named; `line` says it all itself."""
    limited = [result for result in results if result.valid and result.verdict.limit != "line"]
    if not limited:
        return
    console.print()
    console.print(Text("What limits, and how we know", "bold"))
    for result in limited:
        # Verdicts are sentences: they wrap, under themselves.
        message = Text(f"{result.test:<4} {result.verdict.limit}: {result.verdict.sentence}")
        lines = message.wrap(console, console.width - 7)
        console.print(Padding(lines[0], (0, 0, 0, 2)))
        for line in lines[1:]:
            console.print(Padding(line, (0, 0, 0, 7)))


def ledger_report(console: Console, result: Result) -> None:
    """Print both ledgers of one trial."""
    mark = "" if result.valid else "  (invalid: no result)"
    console.print(Text(f"{result.test}  {result.text}{mark}", "bold"))
    console.print(packet_table(result.packets))
    for ledger in result.time:
        console.print()
        console.print(time_table(ledger))
    console.print()


def packet_table(ledger: PacketLedger) -> Table:
    """Make the packet ledger: what went in, where it went, what is left over."""
    table = plain_table(("packets", "left"), ("", "left"), ("", "right"))
    for entry in ledger.entries:
        if entry.packets or entry.kind in ("sent", "received"):
            sign = "" if entry.kind in ("sent", "originated") else "-"
            table.add_row(entry.kind, entry.place, f"{sign}{entry.packets:,}")
    if ledger.added:
        table.add_row("added", "by the device", f"{ledger.added:,}")
    style = "red" if ledger.unexplained else "green"
    table.add_row(Text("unexplained", style), "", Text(f"{ledger.unexplained:,}", style))
    return table


def time_table(ledger: TimeLedger) -> Table:
    """Make a worker's time ledger: the use of its cycles, and the rest."""
    table = plain_table(
        (f"{ledger.worker}'s cycles", "left"),
        *((name, "right") for name in ("calls", "packets", "a call", "clocks/packet", "%")),
    )
    for name, node in sorted(ledger.nodes.items(), key=lambda item: -item[1].clocks):
        if node.calls:
            table.add_row(
                name,
                f"{node.calls:,}",
                f"{node.vectors:,}",
                f"{node.vectors_per_call:.1f}",
                clocks(node),
                f"{ledger.percent(node.clocks):.2f}",
            )
    idle_calls = sum(node.idle_calls for node in ledger.nodes.values())
    shares = (
        ("polls that found nothing", f"{idle_calls:,}", ledger.idle_percent),
        ("loop overhead", f"{ledger.loops:,}", ledger.percent(ledger.overhead_clocks)),
        *((("asleep", "", ledger.percent(ledger.sleep_clocks)),) if ledger.sleep_clocks else ()),
        ("descheduled", "", ledger.percent(ledger.away_clocks)),
        ("accounted for", "", ledger.closed_percent),
    )
    for title, calls, share in shares:
        table.add_row(title, calls, "", "", "", f"{share:.2f}")
    table.rows[-1].style = "green" if ledger.closes else "red"
    return table


def line_report(
    console: Console, rate: FrameRate, link_bps: float, slots: dict[str, PcieLink]
) -> None:
    """Print line-rate arithmetic."""
    console.print(
        Text(f"{rate.frame_bytes}-byte frames (FCS counted) on {format_bps(link_bps)}", "bold")
    )
    table = plain_table(("", "left"), ("", "right"), ("", "left"))
    table.show_header = False
    table.add_row("rate", f"{rate.packets_per_second:,.0f}", "packets/s")
    table.add_row("", f"{1e9 / rate.packets_per_second:.1f}", "ns a packet")
    table.add_row("line", f"{rate.percent_of(link_bps):.2f}", "%")
    table.add_row(
        "L1", f"{rate.l1_bps / 1e9:.3f}", "Gb/s  preamble, start delimiter, gap: 20 bytes more"
    )
    table.add_row("L2", f"{rate.l2_bps / 1e9:.3f}", "Gb/s  FCS counted")
    table.add_row("L2 without FCS", f"{rate.l2_bps_no_fcs / 1e9:.3f}", "Gb/s  as TRex says")
    console.print(table)
    console.print()
    console.print(Text("Through PCIe, in each direction, descriptors counted", "bold"))
    columns = ("Gb/s", "Mpps", "L1 Gb/s", "of this rate")
    pcie = plain_table(("slot", "left"), *((name, "right") for name in columns))
    for name, slot in slots.items():
        usable = slot.usable(rate.frame_bytes)
        times = usable.packets_per_second / rate.packets_per_second
        pcie.add_row(
            name,
            f"{slot.data_bps / 1e9:.2f}",
            f"{usable.packets_per_second / 1e6:.2f}",
            f"{usable.l1_bps / 1e9:.2f}",
            f"{times:.2f} ×",
        )
    console.print(pcie)
