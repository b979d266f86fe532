"""`sar -n DEV`, `sar -n EDEV` and `ifstat`: rates of each interface, a row each interval.

The average counts where it is printed, else the last interval. A rate that no link carries is a
counter that jumped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, Evidence, Loss, Port, Quote
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_BEFORE = r"\s*(?:(?P<average>Average|Summary):?\s+)?(?:\d\d:\d\d:\d\d\s+)?(?:[AP]M\s+)?"
_HEADING = re.compile(_BEFORE + r"IFACE(?P<columns>(?:\s+[%a-zA-Z]{2,9}(?:/s)?){4,10})\s*")
_ROW = re.compile(
    _BEFORE
    + r"(?P<port>[a-zA-Z][\w.@:-]{0,39})(?P<values>(?:\s+\d{1,15}(?:[.,]\d{1,2})?){4,10})\s*",
    re.ASCII,
)
_MACHINE = re.compile(r"\s*Linux \S+ \([^()]{1,100}\)\s+\S+\s+_\w+_\s+\(\d{1,5} CPU\)\s*")
#: `ifstat`: names of the interfaces over pairs of columns.
_IFSTAT_UNITS = re.compile(
    r"\s*(?:HH:MM:SS\s+)?(?P<unit>KB/s|Kbps) in\s+(?:KB/s|Kbps) out"
    r"(?:\s+(?:KB/s|Kbps) in\s+(?:KB/s|Kbps) out){0,20}\s*"
)
_IFSTAT_NAMES = re.compile(
    r"\s*(?:Time\s+)?[a-zA-Z][\w.@:-]{1,30}(?:\s+[a-zA-Z][\w.@:-]{1,30}){0,20}\s*"
)
_IFSTAT_ROW = re.compile(r"\s*(?:\d+\.\d{2})(?:\s+\d+\.\d{2}){1,40}\s*", re.ASCII)
#: No link carries that many packets a second: 800 Gb/s of the smallest frames are 1,190 M.
RATE_MAX_PPS = 1e9
#: Other columns, of other reports of sar's with the same heading.
_PACKETS, _ERRORS = "rxpck/s", "rxerr/s"
_LOST: tuple[tuple[str, Cause, str], ...] = (
    ("rxfifo/s", "rx-ring", "rx fifo"),
    ("rxdrop/s", "other", "rx dropped"),
    ("rxerr/s", "damaged", "rx errors"),
    ("txdrop/s", "tx-ring", "tx dropped"),
)


@dataclass(slots=True)
class _Interface:
    """Rates of one interface, by column, and the lines that have them."""

    rates: dict[str, float] = field(default_factory=dict)
    quotes: dict[str, Quote] = field(default_factory=dict)
    average: bool = False


@dataclass(slots=True)
class _Reader:
    """All interfaces of a text."""

    text: Text
    ports: dict[str, _Interface] = field(default_factory=dict)
    doubts: list[Quote] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    names: Line | None = None
    units: Line | None = None

    def line(self, line: Line) -> None:
        """Understand one line."""
        if heading := _HEADING.fullmatch(line.text):
            found = heading["columns"].split()
            self.columns = found if found[0] in (_PACKETS, _ERRORS) else []
            if self.columns:
                self.text.take(line)
        elif self.columns and (row := _ROW.fullmatch(line.text)):
            self._row(line, row)
        elif _MACHINE.fullmatch(line.text):
            self.text.take(line)
        elif _IFSTAT_UNITS.fullmatch(line.text):
            self.units = line
        elif self.units is not None and self.names and _IFSTAT_ROW.fullmatch(line.text):
            self._ifstat(line)
        elif self.units is None and _IFSTAT_NAMES.fullmatch(line.text):
            self.names = line

    def _row(self, line: Line, row: re.Match[str]) -> None:
        values = [float(value.replace(",", ".")) for value in row["values"].split()]
        if len(values) != len(self.columns):
            return
        quote = self.text.take(line)
        rates = dict(zip(self.columns, values, strict=True))
        if max(rates.get(name, 0.0) for name in (_PACKETS, "txpck/s")) > RATE_MAX_PPS / 2:
            text = f"{row['port']}: more packets a second than a link carries, a counter jumped"
            self.doubts.append(quote.model_copy(update={"text": text}))
            return
        if rates.get("%ifutil", 0.0) > 100.0:
            text = f"{row['port']}: %ifutil is {rates['%ifutil']:g}, above the whole link"
            self.doubts.append(quote.model_copy(update={"text": text}))
        one = self.ports.setdefault(row["port"], _Interface())
        average = row["average"] is not None
        if average or not one.average:
            one.average = average
            one.rates |= rates
            one.quotes |= dict.fromkeys(rates, quote)

    def _ifstat(self, line: Line) -> None:
        assert self.names is not None
        assert self.units is not None
        names = [name for name in self.names.text.split() if name != "Time"]
        values = [float(value) for value in line.text.split()]
        if len(values) != 2 * len(names):
            return
        for head in (self.names, self.units):
            self.text.take(head)
        quote = self.text.take(line)
        bits = "Kbps" in self.units.text
        for at, name in enumerate(names):
            one = self.ports.setdefault(name, _Interface())
            for way, value in zip(("rx", "tx"), values[2 * at : 2 * at + 2], strict=True):
                one.rates[f"{way}kB/s"] = value / 8 if bits else value
                one.quotes[f"{way}kB/s"] = quote


@parser("rates of interfaces")
def sar_network(text: Text) -> Evidence | None:
    """Read each interface's rates; losses are those of a second."""
    reader = _Reader(text)
    for line in text.rows:
        reader.line(line)
    if not reader.ports and not reader.doubts:
        return None
    return Evidence(
        ports=tuple(_port(name, one) for name, one in reader.ports.items()),
        losses=tuple(loss for name, one in reader.ports.items() for loss in _losses(name, one)),
        doubts=tuple(reader.doubts),
    )


def _port(name: str, one: _Interface) -> Port:
    rates = one.rates

    def second(column: str) -> int | None:
        return round(rates[column]) if column in rates else None

    # A second's worth of packets, like the losses.
    return Port(
        name=name,
        rx_pps=rates.get(_PACKETS),
        tx_pps=rates.get("txpck/s"),
        rx_packets=second(_PACKETS),
        tx_packets=second("txpck/s"),
        rx_bytes=round(1024 * rates["rxkB/s"]) if "rxkB/s" in rates else None,
        tx_bytes=round(1024 * rates["txkB/s"]) if "txkB/s" in rates else None,
        quote=next(iter(one.quotes.values())),
    )


def _losses(name: str, one: _Interface) -> Iterator[Loss]:
    for column, cause, words in _LOST:
        if packets := round(one.rates.get(column, 0.0)):
            yield Loss(
                place=f"{name}: {words}, in a second",
                cause=cause,
                packets=packets,
                offered=_offered(one, column[:2], packets),
                quote=one.quotes[column],
            )


def _offered(one: _Interface, way: str, lost: int) -> int | None:
    rate = one.rates.get(f"{way}pck/s")
    return None if rate is None else round(rate) + lost
