"""dpdk-testpmd: `show port stats|xstats all`, `show fwd stats all`, and what `stop` prints."""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, Evidence, Loss, Node, Port, Quote, Worker
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_PORT_STATS = re.compile(r"^[\s#]*NIC statistics for port (\d{1,5})\b[\s#]*$")
_XSTATS = re.compile(r"^[\s#]*NIC extended statistics for port (\d{1,5})\b[\s#]*$")
_FORWARD = re.compile(r"^[\s-]*Forward statistics for port (\d{1,5})\b[\s-]*$")
_ALL = re.compile(r"^[\s+]*Accumulated forward statistics for all ports[\s+]*$")
_STREAM = re.compile(
    r"^[\s-]*Forward Stats for RX Port=\s*(\d{1,5})/Queue=\s*(\d{1,5})\s*->"
    r"\s*TX Port=\s*(\d{1,5})/Queue=\s*(\d{1,5})[\s-]*$"
)
_QUEUES = re.compile(
    r"^\s*port (\d{1,5}): RX queue number: (\d{1,5})\s+Tx queue number: (\d{1,5})\s*$"
)
_THROUGHPUT = re.compile(r"^\s*Throughput \(since last show\)\s*$")
_PAIR = re.compile(r"(?P<name>[A-Za-z][\w-]{0,120})\s*:\s*(?P<value>\d{1,20})", re.ASCII)
_PAIRS = re.compile(
    rf"^\s*(?:{_PAIR.pattern.replace('?P<name>', '').replace('?P<value>', '')}\s*)+$"
)
_BURSTS = re.compile(r"^\s*(?P<side>[RT]X)-bursts\s*:\s*(?P<count>\d{1,20})\s*\[.*\]\s*$")
#: app/test-pmd/testpmd.c, fwd_stats_display: cycles of the calls that found packets.
_CYCLES = re.compile(
    r"^\s*CPU cycles/packet=(?P<each>\d{1,15}(?:\.\d+)?)\s*\((?:total|busy) cycles=\d{1,20}"
    r"\s*/\s*total (?:[\w-]+ )?packets=(?P<packets>\d{1,20})\)"
    r"(?:\s*at (?P<mhz>\d{1,6}) MHz Clock)?\s*$",
    re.IGNORECASE,
)
_QUEUE = re.compile(r"^rx_q(?:ueue_)?(\d{1,5})_?packets$")

#: Loss counters: several names for the same packets, of which the last read counts. RX-dropped is
#: imissed since `start`, TX-dropped the packets that rte_eth_tx_burst() did not take.
_LOSSES: tuple[tuple[Cause, tuple[str, ...]], ...] = (
    ("rx-ring", ("RX-missed", "rx_missed_errors", "RX-dropped")),
    ("damaged", ("RX-errors", "rx_errors")),
    ("buffers", ("RX-nombuf", "rx_mbuf_allocation_errors")),
    ("tx-ring", ("TX-dropped",)),
    ("other", ("TX-errors", "tx_errors")),
)


@dataclass(slots=True)
class _Port:
    #: Later readings replace earlier ones: they count on.
    counters: dict[str, tuple[int, Quote]] = field(default_factory=dict)
    queues: dict[int, int] = field(default_factory=dict)
    rx_queues: int | None = None
    tx_queues: int | None = None
    quote: Quote | None = None


@dataclass(slots=True)
class _Reading:
    ports: dict[int, _Port] = field(default_factory=dict)
    cycles: tuple[re.Match[str], Quote] | None = None
    #: RX bursts of all streams, as shown before the cycles.
    bursts: int = 0
    shown_bursts: int = 0

    def port(self, number: str) -> _Port:
        return self.ports.setdefault(int(number), _Port())


@parser("dpdk-testpmd statistics")
def testpmd_stats(text: Text) -> Evidence | None:
    """Read ports and forwarding; of several readings in one file the last one counts."""
    reading = _Reading()
    section: _Port | None = None
    open_section = False
    for line in text:
        if (match := _PORT_STATS.match(line.text)) or (match := _XSTATS.match(line.text)):
            section, open_section = reading.port(match[1]), True
            section.quote = text.take(line)
        elif match := _FORWARD.match(line.text):
            section, open_section = reading.port(match[1]), True
            quote = text.take(line)
            section.quote = section.quote or quote
        elif _ALL.match(line.text) or _STREAM.match(line.text):
            # Their counts are in the ports' too.
            section, open_section = None, True
            text.take(line)
        elif match := _QUEUES.match(line.text):
            port = reading.port(match[1])
            port.rx_queues, port.tx_queues = int(match[2]), int(match[3])
            quote = text.take(line)
            port.quote = port.quote or quote
            open_section = False
        elif match := _CYCLES.match(line.text):
            reading.cycles, reading.bursts = (match, text.take(line)), reading.shown_bursts
            reading.shown_bursts, open_section = 0, False
        elif open_section and line.text.strip():
            open_section = _figures(text, line, section, reading) or bool(
                re.fullmatch(r"[\s#+-]*", line.text)
            )
    return _evidence(reading)


def _figures(text: Text, line: Line, port: _Port | None, reading: _Reading) -> bool:
    if match := _BURSTS.match(line.text):
        text.take(line)
        if match["side"] == "RX":
            reading.shown_bursts += int(match["count"])
        return True
    if _THROUGHPUT.match(line.text):
        text.take(line)
        return True
    if not _PAIRS.match(line.text):
        return False
    quote = text.take(line)
    if port is not None:
        for name, value in _PAIR.findall(line.text):
            port.counters[name] = (int(value), quote)
            if queue := _QUEUE.match(name):
                port.queues[int(queue[1])] = int(value)
    return True


def _evidence(reading: _Reading) -> Evidence | None:
    ports, losses = [], []
    for number, port in sorted(reading.ports.items()):
        if port.quote is None:
            continue
        name = f"port {number}"
        ports.append(_port(name, port, port.quote))
        for cause, names in _LOSSES:
            message = max(
                (one for one in names if one in port.counters),
                key=lambda one: port.counters[one][1].line,
                default="",
            )
            packets, quote = port.counters.get(message, (0, port.quote))
            if packets:
                losses.append(
                    Loss(place=f"{name}: {message}", cause=cause, packets=packets, quote=quote)
                )
    workers = () if reading.cycles is None else (_worker(*reading.cycles, reading.bursts),)
    if not ports and not workers:
        return None
    return Evidence(ports=tuple(ports), losses=tuple(losses), workers=workers)


def _port(name: str, port: _Port, quote: Quote) -> Port:
    counters = {key: value for key, (value, _) in port.counters.items()}

    def first(*names: str) -> int | None:
        return next((counters[one] for one in names if one in counters), None)

    return Port(
        name=name,
        rx_packets=first("RX-packets", "rx_good_packets"),
        tx_packets=first("TX-packets", "tx_good_packets"),
        rx_bytes=first("RX-bytes", "rx_good_bytes"),
        tx_bytes=first("TX-bytes", "tx_good_bytes"),
        # The first show after the start has nothing to compare with, and says 0.
        rx_pps=first("Rx-pps") or None,
        tx_pps=first("Tx-pps") or None,
        rx_queues=port.rx_queues,
        tx_queues=port.tx_queues,
        queue_packets=port.queues,
        counters=counters,
        quote=quote,
    )


def _worker(match: re.Match[str], quote: Quote, bursts: int) -> Worker:
    packets = int(match["packets"])
    hz = int(match["mhz"]) * 1e6 if match["mhz"] else None
    node = Node(
        name="testpmd",
        state="polling",
        calls=bursts,
        vectors=packets,
        clocks_per_packet=float(match["each"]),
        vectors_per_call=packets / bursts if bursts else 0.0,
        quote=quote,
    )
    # Calls that found nothing don't count there.
    return Worker(name="testpmd", tsc_hz=hz, nodes=(node,), idle_in_clocks=False, quote=quote)
