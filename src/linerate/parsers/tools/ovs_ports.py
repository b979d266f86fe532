"""Ports of Open vSwitch: statistics of an interface, dump-ports, and dpctl/show with `-s`.

The database has one map of them (`{rx_dropped=0, …}`), OpenFlow two lines and its own counters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, Evidence, Loss, Port, Quote
from linerate.parsers import driver_counters
from linerate.parsers.ovs_counters import LOSSES, cause_at_port, port_place
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_COMMAND = re.compile(
    r"\bovs-vsctl\b.{0,80}?\b(?:get|list)\s+[Ii]nterface\s+(?P<name>[\w.-]{1,40})"
)
_COLUMN = re.compile(r"\s*(?P<name>[a-z_]{2,40})\s*: (?P<value>.*)")
_MAP = re.compile(r"\{[\w\" ]{2,60}=\d")
_PAIRS = re.compile(r"\s*(?:[a-z]\w{1,60}=\d{1,20}[,\s]{0,4}){1,20}", re.ASCII)
_PAIR = re.compile(r"\"?([a-z][\w ]{1,60}?)\"?=(\d{1,20})(?=[,}\s]|$)", re.ASCII)
_OPENFLOW = re.compile(
    r"\s*port\s+\"?(?P<name>[\w.-]{1,40})\"?: rx (?:packets|pkts)=\S{1,24}, bytes=.*"
)
_OPENFLOW_TX = re.compile(r"\s*tx pkts=\S{1,24}, bytes=.*")
_OPENFLOW_PAIR = re.compile(r"([a-z]{2,8})=(\d{1,20})")
_OPENFLOW_HEAD = re.compile(r"\s*OFPST_PORT reply .*")
_OPENFLOW_PASSED = re.compile(r"\s*(?:duration=[\d.]{1,20}s|CUSTOM Statistics)\s*")
_DATAPATH_PORT = re.compile(
    r"\s*port \d{1,6}: (?P<name>[\w.-]{1,40})(?: \((?P<type>[\w-]+).*\))?\s*"
)
_DATAPATH_ROW = re.compile(r"\s*(?:(?P<way>[RT]X) (?:packets|bytes):\d.*|collisions:\d{1,20})\s*")
_DATAPATH_PAIR = re.compile(r"([a-z]{2,12}):(\d{1,20}|\?)")
#: Names of OpenFlow's and the datapath's, in the database's words.
_SAME = {
    "pkts": "packets",
    "drop": "dropped",
    "errs": "errors",
    "frame": "frame_err",
    "over": "over_err",
    "overruns": "over_err",
    "crc": "crc_err",
    "aborted": "aborted_errors",
    "carrier": "carrier_errors",
}
#: Counters that are parts of `rx_dropped` (lib/netdev-dpdk.c), and those of `tx_dropped`.
_RX_PARTS = ("rx_missed_errors", "rx_mbuf_allocation_errors", "ovs_rx_qos_drops")
_TX_PARTS = tuple(name for name in LOSSES if name.startswith("ovs_tx_"))
#: A port of DPDK's has counters that a kernel's has not.
_OF_DPDK = re.compile(r"ovs_[rt]x_\w+|rx_1_to_64_packets|rx_q\d{1,4}_\w+|rx_mbuf_allocation_errors")
#: Those that say more come first.
_TOOLS = ("database", "openflow", "datapath")
#: Ports of the kernel's own stack: it drops what it takes for no one, and all of one that is down.
_OWN = ("internal", "LOCAL", "patch")


@dataclass(slots=True)
class _Facts:
    """Columns of an interface beside its statistics."""

    kind: str = ""
    link_state: str = ""
    link_speed: str = ""


@dataclass(slots=True)
class _Reader:
    text: Text
    #: By command: a port may be named otherwise in each.
    readings: dict[str, Readings] = field(default_factory=dict)
    facts: dict[str, _Facts] = field(default_factory=dict)
    #: Columns of the record that is being read, in any order.
    columns: dict[str, str] = field(default_factory=dict)
    statistics: Reading | None = None
    named: str = ""
    #: A map goes on in the next lines of a paste.
    open_map: bool = False
    tool: str = ""
    port: str = ""
    current: Reading = field(default_factory=Reading)

    def end_record(self) -> None:
        """Keep an interface of the database."""
        name = self.columns.get("name", "").strip('"') or self.named or "interface"
        if self.statistics is not None:
            self.readings.setdefault("database", Readings()).add(name, self.statistics)
            known = {key: self.columns.get(key, "").strip('"') for key in
                     ("type", "link_state", "link_speed")}  # fmt: skip
            self.facts[name] = _Facts(known["type"], known["link_state"], known["link_speed"])
        self.columns, self.statistics, self.open_map = {}, None, False

    def end_port(self) -> None:
        """Keep a port of OpenFlow's or the datapath's."""
        if self.port:
            self.readings.setdefault(self.tool, Readings()).add(self.port, self.current)
        self.port, self.current = "", Reading()

    def line(self, line: Line) -> None:
        """Understand one line."""
        if command := _COMMAND.search(line.text):
            self.end_record()
            self.named = command["name"]
        elif line.typed or not line.text.strip():
            return
        elif self.open_map:
            self._map(line, line.text)
        elif match := _OPENFLOW.fullmatch(line.text) or _DATAPATH_PORT.fullmatch(line.text):
            self._begin_port(line, match)
        elif not (self.port and self._of_port(line)):
            self._of_database(line)

    def _begin_port(self, line: Line, match: re.Match[str]) -> None:
        self.end_port()
        self.port = match["name"]
        self.tool = "openflow" if match.re is _OPENFLOW else "datapath"
        if match.re is _OPENFLOW:
            self._pairs(line, "rx")
        else:
            self.text.take(line)
            self.facts[self.port] = _Facts(match["type"] or "")

    def _of_database(self, line: Line) -> None:
        if _OPENFLOW_HEAD.fullmatch(line.text):
            self.text.take(line)
        elif _MAP.search(line.text):
            self._column(line)
        elif self.named and _PAIRS.fullmatch(line.text):
            # A map that `tr` or `sed` made lines of.
            self.statistics = self.statistics or Reading()
            self._note_pairs(line, self.statistics)
        elif column := _COLUMN.fullmatch(line.text):
            self._note_column(line, column)

    def _of_port(self, line: Line) -> bool:
        """Lines behind a port's head."""
        if _OPENFLOW_TX.fullmatch(line.text):
            self._pairs(line, "tx")
        elif _OPENFLOW_PASSED.fullmatch(line.text):
            self.text.take(line)
        elif self.tool == "openflow" and _PAIR.search(line.text) and "{" not in line.text:
            self._note_pairs(line, self.current)
        elif row := _DATAPATH_ROW.fullmatch(line.text):
            quote = self.text.take(line)
            for name, digits in _DATAPATH_PAIR.findall(line.text):
                if row["way"] and digits != "?":
                    way = row["way"].lower()
                    self.current.note(f"{way}_{_SAME.get(name, name)}", int(digits), quote)
        else:
            return False
        return True

    def _pairs(self, line: Line, way: str) -> None:
        quote = self.text.take(line)
        for name, digits in _OPENFLOW_PAIR.findall(line.text):
            self.current.note(f"{way}_{_SAME.get(name, name)}", int(digits), quote)

    def _column(self, line: Line) -> None:
        """A map: statistics, where its names are those of counters."""
        column = _COLUMN.fullmatch(line.text)
        if column is not None and column["name"] != "statistics":
            return
        if self.statistics is not None:
            self.end_record()
        self.statistics = Reading()
        self._map(line, line.text.partition("{")[2])

    def _map(self, line: Line, text: str) -> None:
        if self.statistics is not None:
            self._note_pairs(line, self.statistics)
        self.open_map = "}" not in text

    def _note_pairs(self, line: Line, reading: Reading) -> None:
        quote = self.text.take(line)
        for name, digits in _PAIR.findall(line.text):
            reading.note(name, int(digits), quote)

    def _note_column(self, line: Line, column: re.Match[str]) -> None:
        name = column["name"]
        if name in self.columns or name == "_uuid":
            self.end_record()
        self.columns[name] = column["value"].strip()
        if name in ("name", "type", "link_state", "link_speed", "statistics"):
            self.text.take(line)


@parser("Open vSwitch ports")
def ovs_ports(text: Text) -> Evidence | None:
    """Read each port; of two readings of one the difference counts."""
    whole = text.whole
    if not any(word in whole for word in ("x_packets=", "rx pkts=", "ovs_", "RX packets:")):
        return None
    reader = _Reader(text)
    for line in text:
        reader.line(line)
    reader.end_record()
    reader.end_port()
    # OpenFlow numbers the ports that the database names: the same packets.
    tool = next((one for one in _TOOLS if reader.readings.get(one)), None)
    ports: list[Port] = []
    losses: list[Loss] = []
    for name, reading in [] if tool is None else reader.readings[tool].counted():
        if not {"rx_packets", "tx_packets"} & reading.counters.keys():
            continue
        facts = reader.facts.get(name, _Facts())
        ports.append(_port(name, reading, facts))
        losses += _losses(name, reading, facts)
    return Evidence(ports=tuple(ports), losses=tuple(losses)) if ports else None


def _port(name: str, reading: Reading, facts: _Facts) -> Port:
    counters = reading.counters
    speed = facts.link_speed
    return Port(
        name=name,
        up={"up": True, "down": False}.get(facts.link_state),
        driver=facts.kind,
        link_bps=int(speed) if speed.isdecimal() and 0 < len(speed) < 14 else None,
        rx_packets=counters.get("rx_packets"),
        tx_packets=counters.get("tx_packets"),
        rx_bytes=counters.get("rx_bytes"),
        tx_bytes=counters.get("tx_bytes"),
        counters=counters,
        quote=reading.where,
    )


def _losses(name: str, reading: Reading, facts: _Facts) -> Iterator[Loss]:
    """Packets lost at a port, each once: in the parts that are counted, then the rest of a sum."""
    counters, quotes = reading.counters, reading.quotes

    def lost(counter: str, cause: Cause, packets: int, place: str = "") -> Iterator[Loss]:
        if packets > 0:
            where = place or f"{name}: {counter}"
            yield Loss(place=where, cause=cause, packets=packets, quote=quotes[counter])

    for one in driver_counters.lost(
        {key: value for key, value in counters.items() if key not in ("rx_dropped", "tx_dropped")}
    ):
        yield from lost(one.name, one.cause, one.packets)
    for counter in (one for one in LOSSES if one in counters):
        place, cause = port_place(name, counter), cause_at_port(counter)
        yield from lost(counter, cause, counters[counter], place)
    if "rx_missed_errors" not in counters:
        yield from lost("rx_over_err", "rx-ring", counters.get("rx_over_err", 0))
    buffers = "rx_mbuf_allocation_errors"
    yield from lost(buffers, "buffers", counters.get(buffers, 0))
    damaged = "rx_crc_err" if counters.get("rx_crc_err") else "rx_errors"
    yield from lost(damaged, "damaged", counters.get(damaged, 0))
    yield from _dropped(name, reading, facts)


def _dropped(name: str, reading: Reading, facts: _Facts) -> Iterator[Loss]:
    """The rest of each sum, whose reason is the kind of port's."""
    counters = reading.counters
    for counter, parts in (("rx_dropped", _RX_PARTS), ("tx_dropped", _TX_PARTS)):
        rest = counters.get(counter, 0) - sum(counters.get(part, 0) for part in parts)
        if rest > 0:
            cause, words = _reason(counter, counters, name, facts)
            quote: Quote = reading.quotes[counter]
            yield Loss(place=f"{name}: {counter}{words}", cause=cause, packets=rest, quote=quote)


def _reason(counter: str, counters: dict[str, int], name: str, facts: _Facts) -> tuple[Cause, str]:
    if facts.link_state == "down":
        return "configuration", ", its link is down"
    if facts.kind in _OWN or name in _OWN:
        return "other", ""
    dpdk = facts.kind.startswith("dpdk") or any(map(_OF_DPDK.fullmatch, counters))
    if counter == "tx_dropped":
        return ("tx-ring" if dpdk else "other"), ""
    # DPDK's sum is of a full ring, an empty pool or a policer: each has a counter of its own now.
    alone = not any(part in counters for part in _RX_PARTS)
    return ("rx-ring" if facts.kind == "dpdk" and alone else "other"), ""
