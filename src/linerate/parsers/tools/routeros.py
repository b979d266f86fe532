"""RouterOS: `/interface print stats`, `/interface ethernet print stats`, `/tool profile`.

A blank separates thousands, several separate columns. Counters of Ethernet ports stand in a line
each, with a column for each port.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, CpuTime, Evidence, Loss, Port, Quote, Symbol
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_COLUMNS = re.compile(
    r"\s*Columns: (?P<names>[A-Z][A-Z-]{1,20}(?:, [A-Z][A-Z0-9-]{1,20}){1,20})\s*"
)
_FLAGS = re.compile(r"\s*Flags: [A-Z]\s?[-,].*")
#: A user's comment, and the heading of a table.
_COMMENT = re.compile(r"\s*(?:;;;|#\s+NAME\s)")
_NUMBER = r"(?:0|[1-9]\d{0,2}(?: \d{3}){0,6}|\d{1,20})"
_ROW = re.compile(
    r"\s*\d{1,4}\s+(?:[A-Z]{1,5}\s+)?(?P<port>[a-zA-Z][\w.@/<>-]{0,40})(?P<values>(?:\s+"
    + _NUMBER
    + r"){2,16})\s*",
    re.ASCII,
)
_PAIR = re.compile(
    r"\s*(?P<name>(?:driver-)?[rt]x-[a-z0-9-]{2,30}|name):\s+(?P<values>\S.{0,400})", re.ASCII
)
#: `stats-detail`: pairs in a row, folded by the terminal.
_DETAIL = re.compile(r"\b(?P<name>name|(?:driver-)?[rt]x-[a-z0-9-]{1,30})=")
_DETAIL_ROW = re.compile(r".*\b(?:driver-)?[rt]x-[a-z0-9-]{1,30}=\d.*", re.ASCII)
_GROUPED = re.compile(r"0|[1-9]\d{0,2}(?: \d{3}){0,6}|\d{1,20}", re.ASCII)
_PROFILE = re.compile(
    r"\s*(?P<name>[a-z][a-z0-9-]{1,24}(?: [a-z]{2,12})?)\s+(?:(?P<cpu>all|\d{1,3})\s+)?"
    r"(?P<usage>\d{1,3}(?:\.\d{1,2})?)%\s*",
    re.ASCII,
)
_PROFILE_HEAD = re.compile(r"\s*NAME\s+(?:CPU\s+)?USAGE\s*")
_CPU_ROW = re.compile(
    r"\s*\d{1,3}\s+cpu(?P<cpu>\d{1,3})\s+(?P<load>\d{1,3})%\s+\d{1,3}%\s+\d{1,3}%\s*", re.ASCII
)
#: Classes of `/tool profile` that handle packets.
_PACKETS = re.compile(
    r"ethernet|networking|firewall|bridging|queuing|queue-mgmt|routing|encrypting|ipsec|ppp|wireguard"
    r"|l7-matcher|connection-tracking|traffic-accounting|wireless|vlan|mpls|eoip|gre|l2tp|pppoe"
)
#: Counters of lost packets, by the end of their names. A switch's drops are those of its queues, or
#: frames that its tables forbid: which of the two is open.
_LOST: tuple[tuple[re.Pattern[str], Cause], ...] = (
    (re.compile(r"rx-overflow"), "rx-ring"),
    (re.compile(r"rx-(?:drop|dropped|errors?)(?:-packet)?"), "other"),
    (
        re.compile(r"rx-(?:fcs-error|align-error|fragment|too-short|too-long|jabber|code-error)"),
        "damaged",
    ),
    (re.compile(r"tx-(?:queue-)?drop(?:-packet)?"), "other"),
    (re.compile(r"tx-underrun"), "other"),
)
#: A switch's own counters come first.
_TOTALS = {"rx": ("rx-packet", "driver-rx-packet"), "tx": ("tx-packet", "driver-tx-packet")}


@dataclass(slots=True)
class _Reader:
    """All outputs of a text."""

    text: Text
    readings: Readings = field(default_factory=Readings)
    columns: list[str] = field(default_factory=list)
    #: Ports of the columns of `ethernet print stats`, and what was counted so far.
    names: list[str] = field(default_factory=list)
    current: list[Reading] = field(default_factory=list)
    profile: dict[tuple[str, str], tuple[float, Quote]] = field(default_factory=dict)
    loads: dict[int, tuple[float, Quote]] = field(default_factory=dict)
    in_profile: bool = False

    def line(self, line: Line) -> None:
        """Understand one line."""
        if head := _COLUMNS.fullmatch(line.text):
            self.text.take(line)
            self.columns = [name.lower() for name in head["names"].split(", ")]
            self.in_profile = "usage" in self.columns
        elif _FLAGS.fullmatch(line.text) or (self.columns and _COMMENT.match(line.text)):
            self.text.take(line)
        elif _PROFILE_HEAD.fullmatch(line.text):
            self.text.take(line)
            self.in_profile = True
        elif self.in_profile and (row := _PROFILE.fullmatch(line.text)):
            key = row["name"], row["cpu"] or "all"
            self.profile[key] = float(row["usage"]), self.text.take(line)
        elif "irq" in self.columns and (row := _CPU_ROW.fullmatch(line.text)):
            self.loads[int(row["cpu"])] = float(row["load"]), self.text.take(line)
        elif self.columns and (row := _ROW.fullmatch(line.text)):
            self._row(line, row)
        elif pair := _PAIR.fullmatch(line.text):
            self._pair(line, pair["name"], pair["values"].strip())
        elif _DETAIL_ROW.fullmatch(line.text):
            self._details(line)

    def _details(self, line: Line) -> None:
        """Pairs of one port, whose name stands in the first row of them."""
        quote = self.text.take(line)
        found = list(_DETAIL.finditer(line.text))
        ends = [one.start() for one in found[1:]] + [len(line.text)]
        for one, end in zip(found, ends, strict=True):
            value = line.text[one.end() : end].strip()
            if one["name"] == "name":
                self.end()
                self.names = [value.split('"')[1] if value.count('"') > 1 else "port"]
            elif _GROUPED.fullmatch(value):
                self.current = self.current or [Reading()]
                self.current[0].note(one["name"], int(value.replace(" ", "")), quote)

    def _row(self, line: Line, row: re.Match[str]) -> None:
        names = [name for name in self.columns if name != "name"]
        # Without their blanks, thousands and columns are the same.
        values = _split(row["values"].strip(), len(names))
        if values is None:
            return
        reading, quote = Reading(), self.text.take(line)
        for name, value in zip(names, values, strict=True):
            reading.note(name, value, quote)
        self.readings.add(row["port"], reading)

    def _pair(self, line: Line, name: str, text: str) -> None:
        if name == "name":
            self.end()
            self.names = text.split()
            self.text.take(line)
            return
        values = _split(text, len(self.names) or 1)
        if values is None:
            return
        quote = self.text.take(line)
        if self.current and name in self.current[0].counters:
            self.end()
        if not self.current:
            self.current = [Reading() for _ in values]
        for reading, value in zip(self.current, values, strict=True):
            reading.note(name, value, quote)

    def end(self) -> None:
        """Keep the ports of a list that is over."""
        names = self.names or ["port"]
        if len(names) == len(self.current):
            for name, reading in zip(names, self.current, strict=True):
                self.readings.add(name, reading)
        self.current = []


def _split(text: str, columns: int) -> list[int] | None:
    """Read numbers in a number of columns; None where it is not clear which is in which."""
    if columns == 1 and _GROUPED.fullmatch(text):
        return [int(text.replace(" ", ""))]
    for parts in (re.split(r"\s{2,}|\t", text), text.split()):
        if len(parts) == columns and all(map(_GROUPED.fullmatch, parts)):
            return [int(part.replace(" ", "")) for part in parts]
    return None


@parser("RouterOS")
def routeros(text: Text) -> Evidence | None:
    """Read ports, of several readings the difference, and the load of CPUs by what takes it."""
    reader = _Reader(text)
    for line in text.rows:
        reader.line(line)
    reader.end()
    if not (reader.readings or reader.profile or reader.loads):
        return None
    counted = reader.readings.counted()
    return Evidence(
        ports=tuple(_port(name, reading) for name, reading in counted),
        losses=tuple(loss for name, reading in counted for loss in _losses(name, reading)),
        cpu_times=(*_loads(reader), *_profiled(reader)),
        symbols=tuple(_symbols(reader)),
    )


def _total(reading: Reading, way: str) -> int | None:
    return next((reading.counters[one] for one in _TOTALS[way] if one in reading.counters), None)


def _port(name: str, reading: Reading) -> Port:
    return Port(
        name=name,
        rx_packets=_total(reading, "rx"),
        tx_packets=_total(reading, "tx"),
        rx_bytes=reading.counters.get("rx-byte", reading.counters.get("rx-bytes")),
        tx_bytes=reading.counters.get("tx-byte", reading.counters.get("tx-bytes")),
        counters=reading.counters,
        quote=reading.where,
    )


def _losses(name: str, reading: Reading) -> Iterator[Loss]:
    for counter, packets in reading.counters.items():
        cause = next((cause for names, cause in _LOST if names.fullmatch(counter)), None)
        if cause is not None and packets:
            came = _total(reading, counter[:2])
            yield Loss(
                place=f"{name}: {counter}",
                cause=cause,
                packets=packets,
                offered=None if came is None else came + packets,
                quote=reading.quotes[counter],
            )


def _loads(reader: _Reader) -> Iterator[CpuTime]:
    for cpu, (load, quote) in reader.loads.items():
        yield CpuTime(cpu=cpu, busy_percent=min(100.0, load), quote=quote)


def _profiled(reader: _Reader) -> Iterator[CpuTime]:
    """Time of each CPU: `total`, and what of it handles packets."""
    for (name, cpu), (usage, quote) in reader.profile.items():
        if name == "total":
            packets = sum(
                share
                for (other, where), (share, _) in reader.profile.items()
                if where == cpu and _PACKETS.fullmatch(other)
            )
            yield CpuTime(
                cpu=int(cpu) if cpu.isdecimal() else None,
                busy_percent=min(100.0, usage),
                softirq_percent=round(min(100.0, packets), 2),
                quote=quote,
            )


def _symbols(reader: _Reader) -> Iterator[Symbol]:
    cpus = len({cpu for _, cpu in reader.profile}) or 1
    for (name, _), (usage, quote) in reader.profile.items():
        if name != "total" and usage:
            yield Symbol(name=name, percent=min(100.0, round(usage / cpus, 2)), quote=quote)
