"""Reports for people: what `linerate bench` and `linerate show ledger` print.

Everything fits 80 columns and reads the same through a pipe.
"""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from linerate.base.line_rate import FrameRate, PcieLink, format_bps, in_mpps
from linerate.model.ledger import PacketLedger, TimeLedger
from linerate.report.cycles import clocks
from linerate.results.store import Result


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
