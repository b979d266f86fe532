"""TRex's console (`stats`, `tui`), and the screen of its server (`t-rex-64`).

Both draw a column for each port. Rates are of the last second; packets count since the start or
since `clear`. `drop_rate` is a rate, and no count of packets.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Port, Quote, Tester
from linerate.parsers.numbers import NUMBER, count, number
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser
from linerate.parsers.trex_ports import between

#: First words of the heads that both tables have.
_HEADS = ("port", "ports")
#: Rows with packets or bytes, as the tables name them.
_COUNTS = ("opackets", "ipackets", "obytes", "ibytes", "oerrors", "ierrors")
_RATES = {"tx pps": "tx_pps", "rx pps": "rx_pps", "line util.": "line", "speed": "speed"}
#: Rows whose figures stand in others too, and those that only draw.
_OTHER = frozenset(
    {
        *("owner", "state", "cpu util.", "tx bps l2", "tx bps l1", "rx bps", "tx bw"),
        *("tx-pkts", "rx-pkts", "tx-bytes", "rx-bytes"),
        *("-", "--", "---", "----", "-----"),
    }
)
#: `5.44 Gb/sec`; arrows before it show its trend.
_SCALED = re.compile(rf"[^\w.]*({NUMBER})\s*([KMGT]?)(?:[a-zA-Z][\w/]*|%)?[^\w.]*")
_SCALE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
#: The console prints its totals in two columns.
_TOTAL = re.compile(
    r"\b(?P<name>(?<!rx_)cpu_util|total_pps|queue_full|queue_drop|Total_queue_full|Total-PPS"
    r"|Cpu Utilization|Total-tx-pkt|Total-rx-pkt)\.?\s*:\s*(?P<value>[\d,.]{1,30})\s*"
    r"(?P<scale>[KMGT]?)"
)
_TOTAL_WORDS = ("cpu_util", "total_", "queue_", "Total", "Cpu Util", "drop", "async_util")
#: Totals without a figure of their own.
_PASSED = re.compile(
    r"\s*(?:connection|version|async_util\.|total_cps\.|Platform_factor|Total-[TRC]\S+|Expected-\S+"
    r"|Active-flows|Open-flows|drop-rate|current time|test duration|Total-\S+)\s*:.*"
    r"|\s*-(?:Per port stats table|Global stats enabled)\s*|\s*Global Statisti\w{1,6}\s*"
    r"|\s*Port Statistics\s*"
)


@dataclass(slots=True)
class _Column:
    """One port's figures; later screens replace earlier ones."""

    quote: Quote
    counts: dict[str, int] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    up: bool | None = None


@dataclass(slots=True)
class _Screen:
    columns: dict[str, _Column] = field(default_factory=dict)
    #: Ports of the table that is being read, in the order of its columns.
    order: list[str] = field(default_factory=list)
    totals: dict[str, float] = field(default_factory=dict)
    quote: Quote | None = None
    #: Line of the sent packets: it shows all that the losses come from.
    sent: Quote | None = None


@parser("TRex console")
def trex_console(text: Text) -> Evidence | None:
    """Read the tables of ports, and the totals; of several screens the last one counts."""
    screen = _Screen()
    for line in text.rows:
        if "|" in line.text:
            _row(text, line, screen)
        elif ":" in line.text and any(word in line.text for word in _TOTAL_WORDS):
            _totals(text, line, screen)
    if not screen.columns and not screen.totals:
        return None
    for line in text.rows:
        if _PASSED.fullmatch(line.text):
            text.take(line)
    return _evidence(screen)


def _row(text: Text, line: Line, screen: _Screen) -> None:
    name, *cells = (cell.strip() for cell in line.text.split("|"))
    key = name.lower()
    if key in _HEADS and cells and cells[0].isdecimal():
        screen.order = [cell for cell in cells if cell.isdecimal() and len(cell) <= 3]
        quote = text.take(line)
        for port in screen.order:
            screen.columns.setdefault(port, _Column(quote))
    elif screen.order and (key in _COUNTS or key in _RATES or key == "link"):
        quote = text.take(line)
        if key == "opackets":
            screen.sent = quote
        for port, cell in zip(screen.order, cells, strict=False):
            _cell(screen.columns[port], key, cell, quote)
    elif screen.order and (key in _OTHER or not key):
        text.take(line)


def _cell(column: _Column, key: str, cell: str, quote: Quote) -> None:
    if key == "link":
        column.up = {"UP": True, "DOWN": False}.get(cell)
    elif key in _COUNTS:
        value = count(cell)
        if value is not None:
            column.counts[key] = value
            column.quote = quote if key == "opackets" else column.quote
    elif (match := _SCALED.fullmatch(cell)) and (rate := number(match[1])) is not None:
        column.rates[_RATES[key]] = rate * _SCALE[match[2]]


def _totals(text: Text, line: Line, screen: _Screen) -> None:
    for match in _TOTAL.finditer(line.text):
        value = number(match["value"])
        if value is None:
            continue
        quote = text.take(line)
        screen.totals[match["name"]] = value * _SCALE[match["scale"]]
        screen.quote = screen.quote or quote
        if match["name"] == "Total-tx-pkt":
            screen.sent = quote


def _evidence(screen: _Screen) -> Evidence | None:
    quote = screen.sent or screen.quote
    known = {"opackets", "ipackets"}
    if quote is None or not (screen.totals or any(c.counts for c in screen.columns.values())):
        return None
    columns = list(screen.columns.values())
    counted = columns and all(known <= column.counts.keys() for column in columns)
    lines = [column.rates["line"] for column in columns if "line" in column.rates]
    tester = Tester(
        name="trex",
        sent_packets=_sum(columns, "opackets") if counted else _whole(screen, "Total-tx-pkt"),
        received_packets=_sum(columns, "ipackets") if counted else _whole(screen, "Total-rx-pkt"),
        tx_pps=_first(screen.totals, "total_pps", "Total-PPS"),
        rx_pps=sum(column.rates["rx_pps"] for column in columns)
        if columns and all("rx_pps" in column.rates for column in columns)
        else None,
        cpu_percent=_first(screen.totals, "cpu_util", "Cpu Utilization"),
        queue_full=_whole(screen, "queue_full", "queue_drop", "Total_queue_full"),
        line_percent=max(lines, default=None),
        quote=quote,
    )
    return between(tester, [_port(name, one) for name, one in screen.columns.items()])


def _sum(columns: list[_Column], name: str) -> int:
    return sum(column.counts[name] for column in columns)


def _first(totals: Mapping[str, float], *names: str) -> float | None:
    return next((totals[name] for name in names if name in totals), None)


def _whole(screen: _Screen, *names: str) -> int | None:
    value = _first(screen.totals, *names)
    return None if value is None else int(value)


def _port(name: str, column: _Column) -> Port:
    speed = column.rates.get("speed", 0.0)
    return Port(
        name=name,
        side="tester",
        up=column.up,
        link_bps=round(speed) if 0 < speed < 1e13 else None,
        rx_packets=column.counts.get("ipackets"),
        tx_packets=column.counts.get("opackets"),
        rx_bytes=column.counts.get("ibytes"),
        tx_bytes=column.counts.get("obytes"),
        rx_pps=column.rates.get("rx_pps"),
        tx_pps=column.rates.get("tx_pps"),
        counters={
            key: column.counts[key] for key in ("ierrors", "oerrors") if key in column.counts
        },
        quote=column.quote,
    )
