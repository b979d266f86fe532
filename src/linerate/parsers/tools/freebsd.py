"""FreeBSD, pfSense, OPNsense: `netstat -w 1`, `netstat -Q`, `vmstat -i`, and `top -HSP`.

A driver's `errs` of received packets are those that it missed and those that were damaged,
together: which of the two is in its own counters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import CpuCounters, CpuTime, Evidence, Loss, Port, Quote
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_COMMAND = re.compile(r"\bnetstat\b.{0,40}\s-I\s?(?P<port>[a-z][\w.]{1,15})")
_ABOVE = re.compile(r"\s*input\s+\(?(?P<port>[\w.]{2,15})\)?\s+output\s*")
_HEAD = re.compile(
    r"\s*packets\s+errs(?P<idrops>\s+idrops)?\s+bytes\s+packets\s+errs\s+bytes\s+colls"
    r"(?P<drops>\s+drops)?\s*"
)
_ROW = re.compile(r"\s*\d{1,20}(?:\.\d)?[kMGTP]?(?:\s+\d{1,20}(?:\.\d)?[kMGTP]?){6,8}\s*", re.ASCII)
_UNITS = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_NETISR_HEAD = re.compile(r"\s*WSID\s+CPU\s+Name\s+Len\s+WMark\s+Disp'd\s.*QDrops\s.*")
_NETISR = re.compile(
    r"\s*\d{1,4}\s+(?P<cpu>\d{1,4})\s+(?P<name>[a-z]\w{1,15})(?:\s+\d{1,9}){2}(?:\s+\d{1,20}){2}"
    r"\s+(?P<drops>\d{1,20})\s+\d{1,20}\s+(?P<handled>\d{1,20})\s*",
    re.ASCII,
)
_NETISR_MORE = re.compile(
    r"\s*(?:Configuration|Protocols|Workstreams):\s*|\s*Setting\s+Current\s+Limit\s*|"
    r"\s*(?:Thread count|Default queue limit|Dispatch policy|Threads bound to CPUs)\s.*|"
    r"\s*Name\s+Proto\s+QLimit\s+Policy\s+Dispatch\s+Flags\s*"
)
_VMSTAT_HEAD = re.compile(r"\s*interrupt\s+total\s+rate\s*")
_VMSTAT = re.compile(
    r"\s*(?:irq\d{1,5}: |cpu\d{1,4}:|Total\s)\s*.{0,40}?\d{1,20}\s+\d{1,12}\s*", re.ASCII
)
_CPU = re.compile(
    r"\s*CPU\s?(?P<cpu>\d{1,4})?:\s+(?P<shares>\d{1,3}(?:\.\d{1,2})?% user,.{0,100}% idle)\s*",
    re.ASCII,
)
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,2})?)% (\w{2,10})", re.ASCII)
#: Threads that take packets from a card; others that never sleep prove no load.
_THREAD = re.compile(
    r"\s*\d{1,7}\s+root\s.{5,80}?\s(?P<busy>\d{1,3}\.\d{1,2})%\s+(?:kernel|intr)\{"
    r"(?P<name>if_io_tqg_\d{1,4}"
    r"|irq\d{1,5}: (?:igb|ix|ixl|em|igc|bge|re|vmx|mlx5_core|mce|cxl|vtnet|ice)\d.{0,20})\}\s*",
    re.ASCII,
)


@dataclass(slots=True)
class _Counts:
    """Counts of one interface over all rows of a table, a row each interval."""

    sums: dict[str, int] = field(default_factory=dict)
    quote: Quote | None = None
    worst: dict[str, tuple[int, Quote]] = field(default_factory=dict)


@dataclass(slots=True)
class _Reader:
    """All tables of a text."""

    text: Text
    port: str = ""
    columns: list[str] = field(default_factory=list)
    ports: dict[str, _Counts] = field(default_factory=dict)
    netisr: dict[tuple[int, str], tuple[int, int, Quote]] = field(default_factory=dict)
    cpus: dict[int | None, CpuTime] = field(default_factory=dict)
    threads: dict[str, CpuTime] = field(default_factory=dict)
    read: bool = False

    def line(self, line: Line) -> None:
        """Understand one line."""
        if line.typed:
            if command := _COMMAND.search(line.text):
                self.port = command["port"]
        elif head := _HEAD.fullmatch(line.text):
            self._take(line)
            self.columns = ["rx", "rx errs", *(["rx idrops"] if head["idrops"] else []), "rx bytes"]
            self.columns += ["tx", "tx errs", "tx bytes", "colls"]
            self.columns += ["tx drops"] if head["drops"] else []
        elif above := _ABOVE.fullmatch(line.text):
            self._take(line)
            whole = above["port"] == "Total"
            self.port = (self.port or "all ports") if whole else above["port"]
        elif self.columns and _ROW.fullmatch(line.text):
            self._row(line)
        elif row := _NETISR.fullmatch(line.text):
            counts = int(row["drops"]), int(row["handled"])
            self.netisr[int(row["cpu"]), row["name"]] = (*counts, self._take(line))
        elif any(one.fullmatch(line.text) for one in (_NETISR_HEAD, _VMSTAT_HEAD)):
            self._take(line)
        elif _NETISR_MORE.fullmatch(line.text) or (self.read and _VMSTAT.fullmatch(line.text)):
            self.text.take(line)
        else:
            self._top(line)

    def _take(self, line: Line) -> Quote:
        self.read = True
        return self.text.take(line)

    def _row(self, line: Line) -> None:
        values = [_value(word) for word in line.text.split()]
        if len(values) != len(self.columns):
            return
        quote = self._take(line)
        one = self.ports.setdefault(self.port or "all ports", _Counts())
        one.quote = quote
        for name, value in zip(self.columns, values, strict=True):
            one.sums[name] = one.sums.get(name, 0) + value
            if value >= one.worst.get(name, (0, quote))[0]:
                one.worst[name] = value, quote

    def _top(self, line: Line) -> None:
        if cpu := _CPU.fullmatch(line.text):
            shares = {name: float(value) for value, name in _SHARE.findall(cpu["shares"])}
            number = None if cpu["cpu"] is None else int(cpu["cpu"])
            self.cpus[number] = CpuTime(
                cpu=number,
                busy_percent=round(min(100.0, max(0.0, 100.0 - shares.get("idle", 0.0))), 2),
                softirq_percent=shares.get("interrupt"),
                quote=self._take(line),
            )
        elif thread := _THREAD.fullmatch(line.text):
            name = thread["name"].strip()
            busy = min(100.0, float(thread["busy"]))
            self.threads[name] = CpuTime(name=name, busy_percent=busy, quote=self._take(line))


def _value(word: str) -> int:
    unit = _UNITS.get(word[-1:], 1)
    return round(float(word.rstrip("kMGTP")) * unit)


@parser("FreeBSD counters")
def freebsd(text: Text) -> Evidence | None:
    """Read each interface over all rows, queues of netisr, and the time of CPUs and threads."""
    reader = _Reader(text)
    for line in text.rows_and_commands:
        reader.line(line)
    if not reader.read:
        return None
    cpus = [one for cpu, one in reader.cpus.items() if cpu is not None or len(reader.cpus) == 1]
    return Evidence(
        ports=tuple(_ports(reader)),
        losses=(*_losses(reader), *_queued(reader)),
        cpus=tuple(
            CpuCounters(
                cpu=cpu, name=f"netisr {name}", counters={"processed": handled}, quote=quote
            )
            for (cpu, name), (_, handled, quote) in reader.netisr.items()
        ),
        cpu_times=(*cpus, *reader.threads.values()),
    )


def _ports(reader: _Reader) -> Iterator[Port]:
    for name, one in reader.ports.items():
        assert one.quote is not None
        yield Port(
            name=name,
            rx_packets=one.sums["rx"],
            tx_packets=one.sums["tx"],
            rx_bytes=one.sums["rx bytes"],
            tx_bytes=one.sums["tx bytes"],
            quote=one.quote,
        )


def _losses(reader: _Reader) -> Iterator[Loss]:
    for name, one in reader.ports.items():
        for counter in ("rx errs", "rx idrops", "tx errs", "tx drops"):
            if packets := one.sums.get(counter, 0):
                way = counter.split()[0]
                yield Loss(
                    place=f"{name}: {counter}",
                    cause="rx-ring" if counter == "rx idrops" else "other",
                    packets=packets,
                    offered=one.sums[way] + packets,
                    quote=one.worst[counter][1],
                )


def _queued(reader: _Reader) -> Iterator[Loss]:
    for (cpu, name), (drops, handled, quote) in reader.netisr.items():
        if drops:
            yield Loss(
                place=f"netisr {name} of CPU {cpu}: QDrops",
                cause="rx-ring",
                packets=drops,
                offered=handled + drops,
                worker=f"CPU {cpu}",
                quote=quote,
            )
