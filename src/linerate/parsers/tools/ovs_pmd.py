"""Poll-mode threads of Open vSwitch: pmd-stats-show, pmd-perf-show and pmd-rxq-show.

Idle cycles are those of iterations that found no packet. Versions up to 2.7 count `polling cycles`
instead, which receiving packets is a part of: they show a thread without time, and no other.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from linerate.model.evidence import (
    SPARE_PERCENT_MIN,
    CpuTime,
    Evidence,
    Loss,
    Node,
    Port,
    Quote,
    Worker,
)
from linerate.parsers.numbers import number
from linerate.parsers.ovs_counters import THREAD, VALUE
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_DURATION = re.compile(r"\s*Measurement duration:\s*(\d{1,9}\.\d{1,6}) s\s*")
_TIME = re.compile(r"\s*Time: \d\d:\d\d:\d\d\.\d{1,6}\s*")
_PERCENT = re.compile(r"\(\s*(\d{1,3}(?:\.\d{1,2})?) % (?:of (?:used|total) )?cycles\)")
_UPCALL = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) us/upcall")
_PER_PACKET = re.compile(
    r"\s*avg processing cycles per packet: [\d.]{1,30} \(\d{1,20}/(?P<packets>\d{1,20})\)"
)
_AVERAGE = re.compile(r"\s*avg\.? [a-z][a-z ]{1,60}: ?[\d.]{1,30}(?: .*)?")
_QUEUE = re.compile(
    r"\s*port: (?P<port>[\w.-]{1,40}),?\s+queue-id:\s*(?P<queue>\d{1,5})(?:\s*\(\w+\))?,?"
    r"\s+pmd usage:\s*(?:(?P<usage>\d{1,3}) ?%|NOT AVAIL)"
    r"(?:,\s*overhead:\s*(?P<overhead>\d{1,3}) ?%)?\s*"
)
_OVERHEAD = re.compile(r"\s*overhead:\s*(?:(\d{1,3}) ?%|NOT AVAIL)\s*")
_PASSED = re.compile(
    r"\s*(?:isolated ?: (?:true|false)|Displaying last \d{1,4} seconds pmd usage %)\s*"
)
#: Names of pmd-stats-show, old and new, and of pmd-perf-show.
_STATS = frozenset(
    {
        *("packets received", "packet recirculations", "emc hits", "smc hits", "megaflow hits"),
        *("phwol hits", "mfex opt hits", "simple match hits", "miss", "lost"),
        *("miss with success upcall", "miss with failed upcall"),
        *("idle cycles", "polling cycles", "processing cycles"),
    }
)
_PERF = frozenset(
    {
        *("Iterations", "Used TSC cycles", "idle iterations", "busy iterations"),
        *("sleep iterations", "Sleep time (us)", "Rx packets", "Datapath passes"),
        *("PHWOL hits", "MFEX Opt hits", "Simple Match hits", "EMC hits", "SMC hits"),
        *("Megaflow hits", "Upcalls", "Lost upcalls", "Tx packets", "Tx batches"),
    }
)
#: Version 2.10 names them so.
_OLD = {"Cycles": "Used TSC cycles", "idle": "idle iterations", "busy": "busy iterations"}
#: Share of a thread's packets without a flow yet that is worth a word: each costs a search.
UPCALL_PERCENT = 1.0


@dataclass(slots=True)
class _Reader:
    """All threads of a text, by command: each can be cleared alone."""

    text: Text
    stats: Readings = field(default_factory=Readings)
    perf: Readings = field(default_factory=Readings)
    #: Shares of a thread's time, in per cent, by what took it; the last table counts.
    usage: dict[str, dict[str, int]] = field(default_factory=dict)
    quotes: dict[str, Quote] = field(default_factory=dict)
    #: Queues of each port.
    queues: dict[str, dict[int, Quote]] = field(default_factory=dict)
    #: Microseconds of a packet without a flow, by thread.
    upcall_us: dict[str, float] = field(default_factory=dict)
    seconds: float | None = None
    thread: str = ""
    current: tuple[Reading, Reading] = field(default_factory=lambda: (Reading(), Reading()))

    def begin(self, match: re.Match[str] | None, line: Line | None) -> None:
        """Keep the thread that is now over."""
        if self.thread:
            for readings, reading in zip((self.stats, self.perf), self.current, strict=True):
                readings.add(self.thread, reading)
        self.thread = ""
        if match is not None and line is not None:
            quote = self.text.take(line)
            self.current = (Reading(quote=quote), Reading(quote=quote))
            if match[1] == "pmd":
                self.thread = f"pmd-c{int(match[3] or 0):02d}"
                self.quotes[self.thread] = quote
                self.usage.pop(self.thread, None)
            else:
                # It forwards for ports that no thread polls, and has other work.
                self.thread = "main"

    def line(self, line: Line) -> None:
        """Understand one line."""
        if match := THREAD.fullmatch(line.text):
            self.begin(match, line)
        elif duration := _DURATION.fullmatch(line.text):
            self.text.take(line)
            self.seconds = float(duration[1])
        elif _TIME.fullmatch(line.text):
            self.text.take(line)
        elif self.thread:
            self._of_thread(line)

    def _of_thread(self, line: Line) -> None:
        if match := _PER_PACKET.match(line.text):
            # Versions that count hits only have the packets here.
            self.current[0].note("packets", int(match["packets"]), self.text.take(line))
        elif _AVERAGE.fullmatch(line.text) or _PASSED.fullmatch(line.text):
            self.text.take(line)
        elif queue := _QUEUE.fullmatch(line.text):
            self._queue(line, queue)
        elif overhead := _OVERHEAD.fullmatch(line.text):
            self.text.take(line)
            self._used("overhead", overhead[1])
        elif value := VALUE.fullmatch(line.text):
            self._value(line, value)

    def _queue(self, line: Line, queue: re.Match[str]) -> None:
        quote = self.text.take(line)
        self.queues.setdefault(queue["port"], {})[int(queue["queue"])] = quote
        self._used(f"{queue['port']} {queue['queue']}", queue["usage"])
        self._used("overhead", queue["overhead"])

    def _used(self, name: str, percent: str | None) -> None:
        if percent is not None and self.thread != "main":
            self.usage.setdefault(self.thread, {})[name] = int(percent)

    def _value(self, line: Line, match: re.Match[str]) -> None:
        name, value = _OLD.get(match["name"], match["name"]), int(match["value"])
        if name in _STATS:
            self.current[0].note(name, value, self.text.take(line))
        elif name in _PERF:
            perf, quote = self.current[1], self.text.take(line)
            perf.note(name, value, quote)
            percent = _PERCENT.search(match["rest"])
            if name == "idle iterations" and percent:
                used = perf.counters.get("Used TSC cycles", 0)
                perf.note("idle cycles", round(float(percent[1]) / 100 * used), quote)
            if name == "Upcalls" and (each := _UPCALL.search(match["rest"])):
                self.upcall_us[self.thread] = number(each[1]) or 0.0


@parser("Open vSwitch PMD threads")
def ovs_pmd(text: Text) -> Evidence | None:
    """Read each thread; of two readings of one the difference counts."""
    if "thread" not in text.whole:
        return None
    reader = _Reader(text)
    for line in text.rows:
        reader.line(line)
    reader.begin(None, None)
    counted = dict(reader.stats.counted()) | dict(reader.perf.counted())
    threads = {name: one for name, one in counted.items() if name != "main"}
    ports = tuple(_ports(reader.queues))
    used = tuple(_times(reader))
    if not (threads or used or ports):
        return None
    return Evidence(
        workers=tuple(_worker(name, one, reader) for name, one in threads.items()),
        losses=tuple(loss for name, one in threads.items() for loss in _lost(name, one)),
        ports=ports,
        # The cycles of the same thread say more.
        cpu_times=tuple(time for time in used if time.name not in threads),
        doubts=tuple(quote for name, one in threads.items() for quote in _doubts(name, one)),
    )


def _first(counters: Mapping[str, int], *names: str) -> int | None:
    return next((counters[name] for name in names if name in counters), None)


def _packets(one: Reading) -> int:
    return _first(one.counters, "packets received", "Rx packets", "packets") or 0


def _cycles(counters: Mapping[str, int]) -> tuple[int | None, int | None]:
    """Cycles of work, and those without: None for those that the layout lacks."""
    if "Used TSC cycles" in counters:
        idle = counters.get("idle cycles")
        return None if idle is None else max(0, counters["Used TSC cycles"] - idle), idle
    busy = counters.get("processing cycles")
    polling = counters.get("polling cycles")
    if polling is not None and busy is not None:
        few = polling * 100 < SPARE_PERCENT_MIN * (polling + busy)
        return busy, polling if few else None
    return busy, counters.get("idle cycles")


def _worker(name: str, one: Reading, reader: _Reader) -> Worker:
    counters, packets = one.counters, _packets(one)
    busy, idle = _cycles(counters)
    whole = (busy or 0) + (idle or 0)
    perf = "Used TSC cycles" in counters
    seconds = reader.seconds if perf else None
    each = busy / packets if packets and busy is not None else None
    calls = counters.get("busy iterations", 0)
    quote = one.quotes.get("processing cycles", one.quotes.get("idle iterations", one.where))
    upcall = _upcall(one, reader.upcall_us.get(name), whole / seconds if seconds else 0.0)
    if upcall is not None and each is not None:
        each = max(0.0, each - (upcall.clocks_per_packet or 0.0) * upcall.vectors / packets)
    node = Node(
        name="pmd",
        state="polling",
        calls=calls,
        vectors=packets,
        clocks_per_packet=each,
        vectors_per_call=packets / calls if calls else 0.0,
        quote=quote,
    )
    return Worker(
        name=name,
        cpu=int(name.removeprefix("pmd-c")),
        seconds=seconds,
        tsc_hz=whole / seconds if seconds and whole else None,
        in_pps=packets / seconds if seconds else None,
        nodes=(node,) if upcall is None else (node, upcall),
        idle_in_clocks=False,
        spare_percent=100.0 * idle / whole if idle is not None and whole else None,
        quote=quote,
    )


def _upcall(one: Reading, each_us: float | None, hertz: float) -> Node | None:
    """Packets without a flow, where their time is printed: a part of the thread's work."""
    packets = one.counters.get("Upcalls", 0)
    if not packets or not each_us or not hertz:
        return None
    return Node(
        name="upcall",
        state="active",
        calls=packets,
        vectors=packets,
        clocks_per_packet=each_us * hertz / 1e6,
        vectors_per_call=1.0,
        quote=one.quotes["Upcalls"],
    )


def _lost(name: str, one: Reading) -> Iterator[Loss]:
    for counter in ("miss with failed upcall", "lost", "Lost upcalls"):
        if packets := one.counters.get(counter):
            quote = one.quotes[counter]
            yield Loss(place=f"{name}: upcall lost", cause="other", packets=packets, quote=quote)
            return


def _doubts(name: str, one: Reading) -> Iterator[Quote]:
    """A share of packets without a flow that costs: each goes through OpenFlow's tables."""
    packets = _packets(one)
    counter = next((key for key in ("miss with success upcall", "miss", "Upcalls")
                    if one.counters.get(key)), "")  # fmt: skip
    upcalls = one.counters.get(counter, 0)
    if packets and 100.0 * upcalls >= UPCALL_PERCENT * packets:
        share = min(100.0, 100.0 * upcalls / packets)
        words = "had no flow in the datapath yet, and each went through the tables of OpenFlow"
        text = f"{name}: {share:.0f} % of the packets {words}"
        yield one.quotes[counter].model_copy(update={"text": text})


def _times(reader: _Reader) -> Iterator[CpuTime]:
    """Time of each thread over the last minute, where pmd-rxq-show has it."""
    for name, used in reader.usage.items():
        yield CpuTime(
            cpu=int(name.removeprefix("pmd-c")),
            name=name,
            busy_percent=float(min(100, sum(used.values()))),
            quote=_busiest(reader, name, used),
        )


def _busiest(reader: _Reader, name: str, used: Mapping[str, int]) -> Quote:
    """The line of the queue that took most of a thread's time."""
    ((most, _),) = Counter(used).most_common(1)
    port, _, queue = most.partition(" ")
    known = reader.queues.get(port, {})
    return known.get(int(queue), reader.quotes[name]) if queue else reader.quotes[name]


def _ports(queues: Mapping[str, Mapping[int, Quote]]) -> Iterator[Port]:
    for name, of_port in queues.items():
        yield Port(name=name, rx_queues=len(of_port), quote=next(iter(of_port.values())))
