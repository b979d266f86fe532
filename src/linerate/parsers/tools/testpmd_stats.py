"""dpdk-testpmd: `show port stats|xstats all`, `show fwd stats all`, and what `stop` prints.

dpdk-proc-info prints the same tables, and the ports of other programs.
"""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Node, Quote, Worker
from linerate.parsers.dpdk_counters import losses_of, port_of
from linerate.parsers.readings import Reading
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_PORT_STATS = re.compile(
    r"^[\s#=]*NIC (?:extended )?statistics for port (?P<port>\d{1,5})\b[\s#=]*$", re.IGNORECASE
)
#: The first of the extended statistics, where the head is cut off.
_XSTATS = re.compile(r"^\s*rx_good_packets:\s*\d{1,20}\s*$")
_FORWARD = re.compile(r"^[\s-]*Forward statistics for port (?P<port>\d{1,5})\b[\s-]*$")
_ALL = re.compile(r"^[\s+]*Accumulated forward statistics for all ports[\s+]*$")
_STREAM = re.compile(
    r"^[\s-]*Forward Stats for RX Port=\s*(\d{1,5})/Queue=\s*(\d{1,5})\s*->"
    r"\s*TX Port=\s*(\d{1,5})/Queue=\s*(\d{1,5})[\s-]*$"
)
_QUEUES = re.compile(
    r"^\s*port (\d{1,5}): RX queue number: (\d{1,5})\s+Tx queue number: (\d{1,5})\s*$"
)
_BURST = re.compile(r"\b\w+ packet forwarding packets/burst=(\d{1,4})\b")
_THROUGHPUT = re.compile(r"^\s*Throughput \(since last show\)\s*$")
#: Counters of one queue, where a driver's queues are mapped to them: they are in the port's.
_MAPPED = re.compile(r"^\s*Stats reg\s+\d{1,3} [RT]X-packets:.*$")
_PAIR = re.compile(r"(?P<name>[A-Za-z][\w-]{0,120})\s*:\s*(?P<value>\d{1,20})", re.ASCII)
_PAIRS = re.compile(
    rf"^\s*(?:{_PAIR.pattern.replace('?P<name>', '').replace('?P<value>', '')}\s*)+$"
)
_BURSTS = re.compile(
    r"^\s*(?P<side>[RT]X)-bursts\s*:\s*(?P<count>\d{1,20})\s*\[(?P<sizes>.{0,200})\]\s*$"
)
_SIZE = re.compile(r"(\d{1,3})% of (\d{1,4}) pkts")
#: app/test-pmd/testpmd.c, fwd_stats_display: cycles of the calls that found packets.
_CYCLES = re.compile(
    r"^\s*CPU cycles/packet=(?P<each>\d{1,15}(?:\.\d+)?)\s*\((?:total|busy) cycles=\d{1,20}"
    r"\s*/\s*total (?:[\w-]+ )?packets=(?P<packets>\d{1,20})\)"
    r"(?:\s*at (?P<mhz>\d{1,6}) MHz Clock)?\s*$",
    re.IGNORECASE,
)
#: A stream whose polls are full for so much has packets waiting; for so little it has none.
FULL_PERCENT, SELDOM_PERCENT = 90, 10
#: A port whose number is not printed.
UNNAMED = "-1"
#: DPDK's own default.
BURST_PACKETS = 32


@dataclass(slots=True)
class _Bursts:
    """Polls of all streams, shown before the cycles."""

    polls: int = 0
    #: Share of full polls of each stream, in per cent.
    full: list[int] = field(default_factory=list)

    def add(self, count: int, sizes: str, packets: int) -> None:
        """Put one stream in."""
        shares = {int(size): int(percent) for percent, size in _SIZE.findall(sizes)}
        self.polls += count
        self.full.append(shares.get(packets, 0))

    def vectors_per_call(self, packets: int) -> float:
        """Mean packets of a poll; 0 where it does not tell whether packets wait.

        A thread polls several queues, and a full one among empty ones is full.
        """
        alike = all(share >= FULL_PERCENT for share in self.full) or all(
            share < SELDOM_PERCENT for share in self.full
        )
        return packets / self.polls if self.polls and self.full and alike else 0.0


@dataclass(slots=True)
class _Port:
    #: Later readings replace earlier ones: they count on.
    reading: Reading = field(default_factory=Reading)
    queues: tuple[int | None, int | None] = (None, None)


@dataclass(slots=True)
class _Reader:
    text: Text
    ports: dict[int, _Port] = field(default_factory=dict)
    cycles: tuple[re.Match[str], Quote, _Bursts] | None = None
    bursts: _Bursts = field(default_factory=_Bursts)
    burst_packets: int = BURST_PACKETS
    #: Port whose table is being read.
    section: _Port | None = None
    open_section: bool = False

    def port(self, number: str) -> _Port:
        """A port by its number."""
        return self.ports.setdefault(int(number), _Port())

    def line(self, line: Line) -> None:
        """Understand one line."""
        if match := _PORT_STATS.match(line.text) or _FORWARD.match(line.text):
            self.section, self.open_section = self.port(match["port"]), True
            quote = self.text.take(line)
            if match.re is _PORT_STATS or self.section.reading.quote is None:
                self.section.reading.quote = quote
        elif _ALL.match(line.text) or _STREAM.match(line.text):
            # Their counts are in the ports' too.
            self.section, self.open_section = None, True
            self.text.take(line)
        elif not self.open_section and _XSTATS.match(line.text):
            self.section, self.open_section = self.port(UNNAMED), True
            self._figures(line)
        elif not self._setting(line) and self.open_section and line.text.strip():
            self.open_section = self._figures(line) or bool(re.fullmatch(r"[\s#+-]*", line.text))

    def _setting(self, line: Line) -> bool:
        """Numbers of queues, the size of a burst, and the cycles that end a table."""
        if match := _QUEUES.match(line.text):
            port = self.port(match[1])
            port.queues = int(match[2]), int(match[3])
            quote = self.text.take(line)
            port.reading.quote = port.reading.quote or quote
            self.open_section = False
        elif burst := _BURST.search(line.text):
            self.burst_packets = int(burst[1]) or BURST_PACKETS
            self.text.take(line)
        elif cycles := _CYCLES.match(line.text):
            self.cycles = cycles, self.text.take(line), self.bursts
            self.bursts, self.open_section = _Bursts(), False
        else:
            return False
        return True

    def _figures(self, line: Line) -> bool:
        if match := _BURSTS.match(line.text):
            self.text.take(line)
            if match["side"] == "RX":
                self.bursts.add(int(match["count"]), match["sizes"], self.burst_packets)
            return True
        if _THROUGHPUT.match(line.text) or _MAPPED.match(line.text):
            self.text.take(line)
            return True
        if not _PAIRS.match(line.text):
            return False
        quote = self.text.take(line)
        if self.section is not None:
            for name, value in _PAIR.findall(line.text):
                self.section.reading.note(name, int(value), quote)
        return True


@parser("dpdk-testpmd statistics")
def testpmd_stats(text: Text) -> Evidence | None:
    """Read ports and forwarding; of several readings in one file the last one counts."""
    reader = _Reader(text)
    for line in text:
        reader.line(line)
    known = [
        (f"port {number}" if number >= 0 else "port", port)
        for number, port in sorted(reader.ports.items())
        if port.reading.quote is not None or port.reading.quotes
    ]
    if not known and reader.cycles is None:
        return None
    return Evidence(
        ports=tuple(port_of(name, port.reading, port.queues) for name, port in known),
        losses=tuple(loss for name, port in known for loss in losses_of(name, port.reading)),
        workers=() if reader.cycles is None else (_worker(*reader.cycles, reader.burst_packets),),
    )


def _worker(match: re.Match[str], quote: Quote, bursts: _Bursts, burst_packets: int) -> Worker:
    packets = int(match["packets"])
    node = Node(
        name="testpmd",
        state="polling",
        calls=bursts.polls,
        vectors=packets,
        clocks_per_packet=float(match["each"]),
        vectors_per_call=bursts.vectors_per_call(packets),
        quote=quote,
    )
    return Worker(
        name="testpmd",
        tsc_hz=int(match["mhz"]) * 1e6 if match["mhz"] else None,
        nodes=(node,),
        burst_packets=burst_packets,
        # Calls that found nothing don't count there.
        idle_in_clocks=False,
        quote=quote,
    )
