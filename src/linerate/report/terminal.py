"""Reports for people: what `linerate bench` and `linerate show ledger` print.

Everything fits 80 columns and reads the same through a pipe.
"""

from collections.abc import Iterator

import rich.table
from rich.console import Console
from rich.text import Text

from linerate.base.line_rate import FrameRate, PcieLink, format_bps, in_mpps
from linerate.model.ledger import Entry, PacketLedger, TimeLedger
from linerate.report import document
from linerate.report.cycles import clocks
from linerate.report.document import Column, Row, figures, sentences, text
from linerate.report.render.terminal import fitted
from linerate.results.store import Result


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


def percent_of_line(result: Result) -> str:
    """Share of the line; clocks of two hosts may measure a full one as a little more."""
    return f"{min(result.line_percent, 100.0):.1f}"


def mpps(packets_per_second: float) -> str:
    """Write a packet rate with as many digits as it deserves."""
    value = packets_per_second / 1e6
    return in_mpps(packets_per_second, 1 if value >= 100 else 2 if value >= 10 else 3)


def ledger_report(console: Console, result: Result) -> None:
    """Print both ledgers of one trial."""
    mark = "" if result.valid else "  (invalid: no result)"
    console.print(Text(f"{result.test}  {result.text}{mark}", "bold"))
    console.print(packet_table(console, result.packets))
    for ledger in result.time:
        console.print()
        console.print(time_table(console, ledger))
    console.print()


def packet_table(console: Console, ledger: PacketLedger) -> rich.table.Table:
    """Make the packet ledger: what went in, where it went, what is left over."""
    rows: list[Row] = [
        (entry.kind, entry.place, _signed(entry))
        for entry in ledger.entries
        if entry.packets or entry.kind in ("sent", "received")
    ]
    if ledger.added:
        rows.append(("added", "by the device", f"{ledger.added:,}"))
    rows.append(("unexplained", "", f"{ledger.unexplained:,}"))
    made = fitted(console, document.Table("", (*text("packets", ""), *figures("")), tuple(rows)))
    made.rows[-1].style = "red" if ledger.unexplained else "green"
    return made


def _signed(entry: Entry) -> str:
    sign = "" if entry.kind in ("sent", "originated") else "-"
    return f"{sign}{entry.packets:,}"


#: Columns of a worker's cycles; a narrow terminal leaves out the last ones first.
TIME_COLUMNS = (
    Column("calls", spare=2),
    Column("packets", spare=2),
    Column("a call", spare=1),
    *figures("clocks/packet", "%"),
)


def time_table(console: Console, ledger: TimeLedger) -> rich.table.Table:
    """Make a worker's time ledger: the use of its cycles, and the rest."""
    columns = (*text(f"{ledger.worker}'s cycles"), *TIME_COLUMNS)
    rows = tuple(_nodes(ledger)) + tuple(_shares(ledger))
    made = fitted(console, document.Table("", columns, rows))
    made.rows[-1].style = "green" if ledger.closes else "red"
    return made


def _nodes(ledger: TimeLedger) -> Iterator[Row]:
    for name, node in sorted(ledger.nodes.items(), key=lambda item: -item[1].clocks):
        if node.calls:
            yield (
                name,
                f"{node.calls:,}",
                f"{node.vectors:,}",
                f"{node.vectors_per_call:.1f}",
                clocks(node),
                f"{ledger.percent(node.clocks):.2f}",
            )


def _shares(ledger: TimeLedger) -> Iterator[Row]:
    idle_calls = sum(node.idle_calls for node in ledger.nodes.values())
    shares = (
        ("polls that found nothing", f"{idle_calls:,}", ledger.idle_percent),
        ("loop overhead", f"{ledger.loops:,}", ledger.percent(ledger.overhead_clocks)),
        *((("asleep", "", ledger.percent(ledger.sleep_clocks)),) if ledger.sleep_clocks else ()),
        ("descheduled", "", ledger.percent(ledger.away_clocks)),
        ("accounted for", "", ledger.closed_percent),
    )
    for title, calls, share in shares:
        yield (title, calls, "", "", "", f"{share:.2f}")


def line_report(
    console: Console, rate: FrameRate, link_bps: float, slots: dict[str, PcieLink]
) -> None:
    """Print line-rate arithmetic."""
    console.print(
        Text(f"{rate.frame_bytes}-byte frames (FCS counted) on {format_bps(link_bps)}", "bold")
    )
    rows = (
        ("rate", f"{rate.packets_per_second:,.0f}", "packets/s"),
        ("", f"{1e9 / rate.packets_per_second:.1f}", "ns a packet"),
        ("line", f"{rate.percent_of(link_bps):.2f}", "%"),
        ("L1", f"{rate.l1_bps / 1e9:.3f}", "Gb/s  preamble, start delimiter, gap: 20 bytes more"),
        ("L2", f"{rate.l2_bps / 1e9:.3f}", "Gb/s  FCS counted"),
        ("L2 without FCS", f"{rate.l2_bps_no_fcs / 1e9:.3f}", "Gb/s  as TRex says"),
    )
    columns = (*text(""), *figures(""), *sentences(""))
    made = fitted(console, document.Table("", columns, rows))
    made.show_header = False
    console.print(made)
    console.print()
    console.print(Text("Through PCIe, in each direction, descriptors counted", "bold"))
    pcie = (*text("slot"), *figures("Gb/s", "Mpps", "L1 Gb/s", "of this rate"))
    through = tuple(_through(name, slot, rate) for name, slot in slots.items())
    console.print(fitted(console, document.Table("", pcie, through)))


def _through(name: str, slot: PcieLink, rate: FrameRate) -> Row:
    usable = slot.usable(rate.frame_bytes)
    return (
        name,
        f"{slot.data_bps / 1e9:.2f}",
        f"{usable.packets_per_second / 1e6:.2f}",
        f"{usable.l1_bps / 1e9:.2f}",
        f"{usable.packets_per_second / rate.packets_per_second:.2f} ×",
    )
