"""Counters that the kernel keeps of each interface, in the layouts of its tools.

`ip -s link`, `ifconfig` old and new, /proc/net/dev and `netstat -i`. A driver's `rx_dropped` has
packets of protocols that the kernel does not know, too: it is no ring that overflowed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, Evidence, Loss, Port
from linerate.parsers.numbers import count
from linerate.parsers.readings import Reading, Readings, port_with
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_NAME = r"[\w.-]{1,40}"
_IP_LINK = re.compile(rf"\s*\d{{1,6}}: (?P<port>{_NAME})(?:@{_NAME})?: <[A-Z0-9_,-]{{0,200}}>.*")
_IP_HEAD = re.compile(
    r"\s*(?P<way>RX|TX)(?P<errors> errors)?:(?P<names>(?:\s+[a-z_]{2,12}){2,9})\s*"
)
_COUNTS = re.compile(r"(?:\s*\d{1,20})(?:\s+\d{1,20}){2,8}\s*", re.ASCII)
_IFCONFIG = re.compile(rf"\s*(?P<port>{_NAME})(?:: flags=\d{{1,8}}<.*|\s+Link encap:.*)")
_IFCONFIG_ROW = re.compile(
    r"\s*(?P<way>RX|TX)(?P<sort>\s+packets:?|\s+errors)(?P<rest>[ :]\s*\d.{0,200})"
)
_PAIR = re.compile(r"([a-z]{2,12})[ :]{1,3}(\d{1,20})(?![\d.])", re.ASCII)
_DEV_HEAD = re.compile(r"\s*face\s*\|bytes\s+packets errs drop fifo frame.*")
_DEV_ABOVE = re.compile(r"Inter-\|\s+Receive\s+\|\s+Transmit\s*")
_DEV_ROW = re.compile(
    rf"\s*(?P<port>{_NAME}):\s*(?P<counts>\d{{1,20}}(?:\s+\d{{1,20}}){{15}})\s*", re.ASCII
)
_DEV = tuple(
    f"{way}_{name}"
    for way, names in (
        ("rx", "bytes packets errors dropped fifo frame compressed multicast"),
        ("tx", "bytes packets errors dropped fifo collisions carrier compressed"),
    )
    for name in names.split()
)
_NETSTAT_HEAD = re.compile(
    r"\s*Iface\s+MTU\s+(?P<met>Met\s+)?RX-OK RX-ERR RX-DRP RX-OVR\s+TX-OK TX-ERR.*"
)
_NETSTAT_ROW = re.compile(
    rf"\s*(?P<port>{_NAME})(?P<counts>(?:\s+\d{{1,20}}){{9,10}})\s+[A-Z]{{1,12}}\s*", re.ASCII
)
_NETSTAT = tuple(
    f"{way}_{name}" for way in ("rx", "tx") for name in ("packets", "errors", "dropped", "overrun")
)
#: Names that differ from tool to tool.
_SAME = {
    "drop": "dropped",
    "errs": "errors",
    "mcast": "multicast",
    "overruns": "overrun",
    "over": "overrun",
    "colls": "collisions",
    "collsns": "collisions",
}
#: The first of each group that is printed counts: the kernel adds the later ones to it.
_LOST: tuple[tuple[Cause, tuple[str, ...]], ...] = (
    ("rx-ring", ("rx_missed", "rx_overrun", "rx_fifo")),
    ("other", ("rx_dropped",)),
    ("damaged", ("rx_errors", "rx_crc", "rx_frame")),
    ("tx-ring", ("tx_dropped",)),
)


@dataclass(slots=True)
class _Reader:
    """All interfaces of a text, and where in it a line stands."""

    text: Text
    #: By tool: each adds up other counters under the same names.
    readings: dict[str, Readings] = field(default_factory=dict)
    tool: str = ""
    port: str = ""
    current: Reading = field(default_factory=Reading)
    #: Names of the columns in the next line of `ip`.
    columns: tuple[str, ...] = ()
    table: str = ""

    def begin(self, port: str, line: Line | None = None) -> None:
        """Keep the interface that is now over."""
        if self.port:
            self.readings.setdefault(self.tool, Readings()).add(self.port, self.current)
        self.port, self.columns = port, ()
        self.current = Reading(quote=None if line is None else self.text.take(line))

    def note(self, line: Line, pairs: Iterator[tuple[str, str]]) -> None:
        """Keep the counters of a line."""
        quote = self.text.take(line)
        for name, digits in pairs:
            if (value := count(digits)) is not None:
                self.current.note(name, value, quote)

    def line(self, line: Line) -> None:
        """Understand one line."""
        columns, self.columns = self.columns, ()
        if match := _IP_LINK.fullmatch(line.text) or _IFCONFIG.fullmatch(line.text):
            self.begin(match["port"], line)
            self.tool, self.table = "ip" if match.re is _IP_LINK else "ifconfig", ""
        elif columns and _COUNTS.fullmatch(line.text):
            # Columns that a version of `ip` added at the end have no name here.
            self.note(line, zip(columns, line.text.split(), strict=False))
        elif self.port and (head := _IP_HEAD.fullmatch(line.text)):
            self.text.take(line)
            self.columns = tuple(_named(head["way"], name) for name in head["names"].split())
        elif self.port and (row := _IFCONFIG_ROW.fullmatch(line.text)):
            self._ifconfig(line, row)
        else:
            self._tables(line)

    def _ifconfig(self, line: Line, row: re.Match[str]) -> None:
        content = row["sort"].strip().strip(":") + row["rest"]
        self.note(
            line, ((_named(row["way"], name), digits) for name, digits in _PAIR.findall(content))
        )

    def _tables(self, line: Line) -> None:
        if _DEV_HEAD.fullmatch(line.text) or _NETSTAT_HEAD.fullmatch(line.text):
            self.begin("")
            self.text.take(line)
            self.tool = self.table = "netstat" if "RX-OK" in line.text else "dev"
        elif _DEV_ABOVE.fullmatch(line.text):
            self.text.take(line)
        elif self.table == "dev" and (row := _DEV_ROW.fullmatch(line.text)):
            self.begin(row["port"])
            self.note(line, zip(_DEV, row["counts"].split(), strict=True))
            self.begin("")
        elif self.table == "netstat" and (row := _NETSTAT_ROW.fullmatch(line.text)):
            self.begin(row["port"])
            # Before them are its MTU and, in old versions, a metric.
            self.note(line, zip(_NETSTAT, row["counts"].split()[-8:], strict=True))
            self.begin("")


def _named(way: str, name: str) -> str:
    return f"{way.lower()}_{_SAME.get(name, name)}"


@parser("counters of links")
def link_counters(text: Text) -> Evidence | None:
    """Read each interface; of several readings of one the difference counts."""
    reader = _Reader(text)
    for line in text.rows:
        reader.line(line)
    reader.begin("")
    ports: list[Port] = []
    losses: list[Loss] = []
    counted = [one for readings in reader.readings.values() for one in readings.counted()]
    for name, reading in counted:
        if any(port.name == name for port in ports):
            continue
        ports.append(port_with(name, reading))
        losses += _losses(name, reading)
    return Evidence(ports=tuple(ports), losses=tuple(losses)) if ports else None


def _losses(name: str, reading: Reading) -> Iterator[Loss]:
    for cause, counters in _LOST:
        counter = next((one for one in counters if reading.counters.get(one)), None)
        if counter is not None:
            yield Loss(
                place=f"{name}: {counter.replace('_', ' ')}",
                cause=cause,
                packets=reading.counters[counter],
                quote=reading.quotes[counter],
            )
