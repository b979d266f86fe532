"""Counters of a kernel's IP, UDP and TCP: nstat, `netstat -s`, /proc/net/snmp, netstat, snmp6.

Events of TCP are no packets lost here; what it sent again was lost on the way, or it believed so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from linerate.model.evidence import Cause, Evidence, Loss, Quote, Remark
from linerate.model.loss_causes import cause_of
from linerate.parsers.kernel_ip_counters import IP, IP6
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_GROUPS = r"IpExt|Ip6|Ip|IcmpMsg|Icmp6|Icmp|TcpExt|Tcp|UdpLite6|UdpLite|Udp6|Udp|MPTcpExt|Sctp"
#: `IpInReceives   216362   0.0`; snmp6 has no third column.
_ROW = re.compile(
    rf"\s*(?P<group>{_GROUPS})(?P<name>[A-Z]\w{{2,60}})\s+(?P<value>\d{{1,20}})(?:\s+\d{{1,12}}\.\d)?\s*",
    re.ASCII,
)
_PAIR = re.compile(
    rf"\s*(?P<group>{_GROUPS}):(?P<words>(?:\s+[\w-]{{1,60}}){{1,200}})\s*", re.ASCII
)
_SECTION = re.compile(
    r"\s*(?P<group>IcmpMsg|Icmp|IpExt|Ip6|Ip|TcpExt|Tcp|UdpLite|Udp6|Udp|MPTcpExt):\s*"
)
_NAMED = re.compile(r"\s*(?P<name>[A-Z]\w{2,60}): (?P<value>\d{1,20})\s*", re.ASCII)
_WORDED = re.compile(r"\s*(?P<value>\d{1,20}) (?P<words>[a-zA-Z].{2,90})", re.ASCII)
#: Sentences of `netstat -s`, by group.
_WORDS = {
    ("Ip", "total packets received"): "InReceives",
    ("Ip", "with invalid headers"): "InHdrErrors",
    ("Ip", "with invalid addresses"): "InAddrErrors",
    ("Ip", "with unknown protocol"): "InUnknownProtos",
    ("Ip", "incoming packets discarded"): "InDiscards",
    ("Ip", "incoming packets delivered"): "InDelivers",
    ("Ip", "forwarded"): "ForwDatagrams",
    ("Ip", "requests sent out"): "OutRequests",
    ("Ip", "outgoing packets dropped"): "OutDiscards",
    ("Ip", "dropped because of missing route"): "OutNoRoutes",
    ("Ip", "fragments failed"): "FragFails",
    ("Udp", "packets received"): "InDatagrams",
    ("Udp", "packets to unknown port received"): "NoPorts",
    ("Udp", "packet receive errors"): "InErrors",
    ("Udp", "receive buffer errors"): "RcvbufErrors",
    ("Tcp", "segments sent out"): "OutSegs",
    ("Tcp", "segments send out"): "OutSegs",
    ("Tcp", "segments retransmitted"): "RetransSegs",
    ("Tcp", "segments retransmited"): "RetransSegs",
}
_SOCKET = "socket buffer full (RcvbufErrors)"
#: Share of TCP's segments that were sent again which is worth a word.
_AGAIN_SHARE = 0.01


@parser("counters of the kernel's IP")
def snmp_counters(text: Text) -> Evidence | None:
    """Read all counters; of several readings the difference counts."""
    readings = Readings()
    reading = Reading()
    reader = _Reader(text)
    for name, value, quote in (one for line in text.rows for one in reader.line(line)):
        if name in reading.counters:
            readings.add("kernel", reading)
            reading = Reading()
        reading.note(name, value, quote)
    readings.add("kernel", reading)
    if not readings:
        return None
    ((_, counted),) = readings.counted(re.compile(r"\w+\.(?:CurrEstab|Forwarding|DefaultTTL)"))
    losses = tuple(_losses(counted))
    remarks = [*_again(counted), *(() if losses else _clean(counted))]
    return Evidence(losses=losses, remarks=tuple(remarks))


@dataclass(slots=True)
class _Reader:
    """Where in a text a line stands."""

    text: Text
    #: Names of /proc/net/snmp, above their values.
    names: tuple[str, list[str], Line] | None = None
    #: Group of `netstat -s`, and its line until something below it is read.
    section: str = ""
    head: Line | None = None

    def line(self, line: Line) -> Iterator[tuple[str, int, Quote]]:
        """Counters of a line by name, `Ip.InDiscards`."""
        if row := _ROW.fullmatch(line.text):
            yield f"{row['group']}.{row['name']}", int(row["value"]), self.text.take(line)
        elif pair := _PAIR.fullmatch(line.text):
            yield from self._pair(line, pair["group"], pair["words"].split())
        elif opened := _SECTION.fullmatch(line.text):
            self.section, self.head = opened["group"], line
        elif self.section:
            yield from self._sentence(line)

    def _pair(self, line: Line, group: str, words: list[str]) -> Iterator[tuple[str, int, Quote]]:
        self.section, above = "", self.names
        if above is None or above[0] != group or len(above[1]) != len(words):
            self.names = group, words, line
            return
        self.names = None
        self.text.take(above[2])
        quote = self.text.take(line)
        for name, word in zip(above[1], words, strict=True):
            if word.isdecimal():
                yield f"{group}.{name}", int(word), quote

    def _sentence(self, line: Line) -> Iterator[tuple[str, int, Quote]]:
        """A line below a group of `netstat -s`."""
        row = _NAMED.fullmatch(line.text) or _WORDED.fullmatch(line.text)
        if row is None:
            return
        quote = self.text.take(line)
        if self.head is not None:
            self.text.take(self.head)
        name = row["name"] if row.re is _NAMED else _name(self.section, row["words"])
        if name:
            yield f"{self.section}.{name}", int(row["value"]), quote


def _name(section: str, words: str) -> str:
    return _WORDS.get((section, " ".join(words.split())), "")


def _losses(counted: Reading) -> Iterator[Loss]:
    counters = counted.counters
    places = [(name, place, "Ip") for name, place in IP.items()]
    places += [(name.replace("Ip6", "Ip6.", 1), place, "Ip6") for name, place in IP6.items()]
    for name, place, group in places:
        if counters.get(name):
            offered = counters.get(f"{group}.InReceives")
            if ".Out" in name and offered is not None:
                offered += counters.get(f"{group}.OutRequests", 0)
            yield _loss(counted, name, place, cause_of(place), offered)
    for group in ("Udp", "Udp6"):
        received = counters.get(f"{group}.InDatagrams")
        if counters.get(f"{group}.RcvbufErrors"):
            place = f"{group.lower()}: {_SOCKET}"
            errors = counters.get(f"{group}.InErrors", counters[f"{group}.RcvbufErrors"])
            offered = None if received is None else received + errors
            yield _loss(counted, f"{group}.RcvbufErrors", place, "other", offered)


def _loss(counted: Reading, name: str, place: str, cause: Cause, offered: int | None) -> Loss:
    packets = counted.counters[name]
    return Loss(
        place=place,
        cause=cause,
        packets=packets,
        offered=None if offered is None else max(offered, packets),
        quote=counted.quotes[name],
    )


def _again(counted: Reading) -> Iterator[Remark]:
    sent, again = (counted.counters.get(f"Tcp.{name}", 0) for name in ("OutSegs", "RetransSegs"))
    if sent and again >= _AGAIN_SHARE * sent:
        yield Remark(
            kind="other",
            text=f"TCP sent {again:,} of {sent:,} segments again ({100 * again / sent:.2g} %)",
            quote=counted.quotes["Tcp.RetransSegs"],
        )


def _clean(counted: Reading) -> Iterator[Remark]:
    received = counted.counters.get("Ip.InReceives")
    if received:
        text = f"the kernel's IP dropped none of {received:,} packets that it received"
        yield Remark(kind="clean", text=text, quote=counted.quotes["Ip.InReceives"])
