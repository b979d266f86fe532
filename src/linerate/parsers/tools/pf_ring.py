"""PF_RING: pfcount, zcount, zbalance_ipc, and a socket's file in /proc/net/pf_ring.

A ring of a card or of the kernel drops what its reader did not take; zbalance_ipc has queues of its
own behind it, to other programs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, Evidence, Loss, Port, Ring
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_N = r"\d[\d',]{0,26}"
#: zbalance_ipc: an interface, and a queue.
_INTERFACE = re.compile(
    rf".{{0,120}}?(?:^|\s)(?P<name>(?:zc:)?[a-z][\w@:.-]{{0,40}})\s+RX (?P<received>{_N}) pkts "
    rf"Dropped (?P<dropped>{_N}) pkts.*"
)
_QUEUE = re.compile(
    rf".{{0,120}}?\bQ (?P<name>\d{{1,4}})\s+RX (?P<received>{_N}) pkts "
    rf"Dropped (?P<dropped>{_N}) pkts.*"
)
#: zbalance_ipc's sum of its interfaces, where their own lines are not there.
_RECEIVED = re.compile(
    rf".{{0,120}}?Absolute Stats: Recv (?P<received>{_N}) pkts \((?P<dropped>{_N}) drops\) - .*"
)
_ZBALANCE = re.compile(r".{0,120}?(?:Absolute|Actual) Stats: Recv .* - Forwarded .*")
#: pfcount: one line, or two with `rcvd` in the second.
_PFCOUNT = re.compile(
    rf"\s*(?:=+ *)?Absolute Stats: (?:\[channel=\d+\])?\[(?P<received>{_N}) pkts (?:total|rcvd)\]"
    rf"\[(?P<dropped>{_N}) pkts dropped\].*"
)
#: zcount.
_ZCOUNT = re.compile(
    rf".{{0,120}}?Absolute Stats: (?P<received>{_N}) pkts \((?P<dropped>{_N}) drops\).*"
)
#: A reader's own file of statistics, as nProbe's and n2disk's.
_STATISTICS = re.compile(r"\s*(?P<name>Duration|Bytes|Packets|Dropped):\s+(?P<value>\S{1,40})\s*")
_PROC = re.compile(r"\s*(?P<name>Bound Device\(s\)|Tot Packets|Tot Pkt Lost)\s*:\s*(?P<value>\S.*)")
_PASSED = re.compile(
    r"\s*(?:Actual Stats: .*|\[[\d',]{1,26} pkts rcvd\].*|Total Pkts=\d.*|.{0,120}?=====*"
    r"|(?:Active|Breed|Appl\. Name|Socket Mode|Capture Direction|Sampling Rate|IP Defragment"
    r"|BPF Filtering|Sw Filt.*|Hw Filt.*|Poll .*|Num (?:Poll|Free|Slots).*|Channel.*|Cluster.*"
    r"|Slot .*|Insert .*|Pkt .*|Min Num Slots|Bucket Len|Tot (?:Memory|Fwd .*|TX .*)"
    r"|TX: .*|Reflect: .*)\s*:.*)"
)


#: One of them stands in each output.
_WORDS = (" Stats: ", " pkts Dropped ", "Tot Pkt Lost", "Dropped:")


@dataclass(slots=True)
class _Reader:
    text: Text
    #: By what dropped: a card's ring, a queue to another program.
    rings: Readings = field(default_factory=Readings)
    queues: Readings = field(default_factory=Readings)
    device: str = ""
    packets: int = 0

    def line(self, line: Line) -> None:
        """Understand one line."""
        if (match := _RECEIVED.fullmatch(line.text)) and " RX " not in self.text.whole:
            self._note(line, self.rings, "PF_RING", match)
        elif _ZBALANCE.fullmatch(line.text) or "Actual Stats" in line.text:
            self.text.take(line)
        elif queue := _QUEUE.fullmatch(line.text):
            self._note(line, self.queues, f"queue {queue['name']}", queue)
        elif match := _INTERFACE.fullmatch(line.text):
            self._note(line, self.rings, match["name"], match)
        elif match := _PFCOUNT.fullmatch(line.text) or _ZCOUNT.fullmatch(line.text):
            self._note(line, self.rings, "PF_RING", match)
        elif proc := _PROC.fullmatch(line.text):
            self._of_socket(line, proc)
        elif statistic := _STATISTICS.fullmatch(line.text):
            self._of_reader(line, statistic)

    def _of_reader(self, line: Line, statistic: re.Match[str]) -> None:
        quote, value = self.text.take(line), statistic["value"]
        if statistic["name"] == "Packets" and value.isdecimal() and len(value) <= 20:
            self.packets = int(value)
        elif statistic["name"] == "Dropped" and value.isdecimal() and len(value) <= 20:
            reading = Reading()
            reading.note("received", self.packets, quote)
            reading.note("dropped", int(value), quote)
            self.rings.add(self.device or "PF_RING", reading)

    def _note(self, line: Line, readings: Readings, name: str, match: re.Match[str]) -> None:
        quote, reading = self.text.take(line), Reading()
        received, dropped = (
            int(re.sub(r"[',]", "", match[counter])[:20]) for counter in ("received", "dropped")
        )
        if "pkts total]" in line.text:
            # The total has the dropped ones in it.
            received = max(0, received - dropped)
        reading.note("received", received, quote)
        reading.note("dropped", dropped, quote)
        readings.add(name, reading)

    def _of_socket(self, line: Line, proc: re.Match[str]) -> None:
        quote = self.text.take(line)
        if proc["name"].startswith("Bound"):
            self.device = proc["value"].split(",")[0][:40]
        elif proc["value"].isdecimal() and len(proc["value"]) <= 20:
            value, name = int(proc["value"]), self.device or "PF_RING"
            if proc["name"] == "Tot Packets":
                self.packets = value
                return
            # The packets have the lost ones in them.
            reading = Reading()
            reading.note("received", max(0, self.packets - value), quote)
            reading.note("dropped", value, quote)
            self.rings.add(name, reading)


@parser("PF_RING")
def pf_ring(text: Text) -> Evidence | None:
    """Read each ring and queue; they count from the start, so that the last line has all."""
    if not any(word in text.whole for word in _WORDS):
        return None
    reader = _Reader(text)
    for line in text.rows:
        reader.line(line)
    if not reader.rings and not reader.queues:
        return None
    for line in text.rows:
        if _PASSED.fullmatch(line.text):
            text.take(line)
    ports, queues = (
        {name: readings.last(name) for name, _ in readings.counted()}
        for readings in (reader.rings, reader.queues)
    )
    return Evidence(
        ports=tuple(_port(name, one) for name, one in ports.items()),
        losses=(
            *(loss for name, one in ports.items() for loss in _lost(name, one, "rx-ring")),
            *(loss for name, one in queues.items() for loss in _lost(name, one, "handoff-ring")),
        ),
        rings=tuple(_ring(name, one) for name, one in queues.items()),
    )


def _port(name: str, one: Reading) -> Port:
    received = one.counters["received"]
    return Port(name=name, rx_packets=received, counters=one.counters, quote=one.where)


def _lost(name: str, one: Reading, cause: Cause) -> Iterator[Loss]:
    if packets := one.counters["dropped"]:
        place = f"{name}: its reader took too few"
        yield Loss(place=place, cause=cause, packets=packets, quote=one.quotes["dropped"])


def _ring(name: str, one: Reading) -> Ring:
    return Ring(
        source="zbalance_ipc",
        destination=name,
        enqueued=one.counters["received"],
        dropped=one.counters["dropped"],
        quote=one.where,
    )
