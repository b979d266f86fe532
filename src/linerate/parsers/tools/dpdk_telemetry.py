"""DPDK's telemetry: `/ethdev/stats`, `/ethdev/xstats`, `/eal/lcore/usage` and `/eal/lcore/info`.

As `dpdk-telemetry.py` prints it, on one line, or as `jq` and documents wrap and cut it; and the
lcores of testpmd's `dump_lcores`. Cycles count since an lcore was started.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import CpuTime, Evidence, Quote
from linerate.parsers.dpdk_counters import losses_of, port_of
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import ROW_MAX_CHARS, Line, Text
from linerate.parsers.tools import parser

_ASKED = re.compile(r"(?:^|\s)(?P<what>/(?:ethdev|eal/lcore)/\w{1,20}),(?P<number>\d{1,5})\b")
_HEAD = re.compile(r"\"(?P<what>/(?:ethdev/x?stats|eal/lcore/(?:usage|info)))\"\s*:\s*")
#: Values of a port or an lcore, one or a list of each queue or lcore.
_PAIR = re.compile(r"\"(?P<name>[\w\- ]{1,80})\"\s*:\s*(?:(?P<one>\d{1,20})|\[(?P<all>[\d,\s]*))")
_MORE = re.compile(r"[\s\d,]*")
_OTHER = re.compile(
    r"\s*(?:-->.*|\{\"(?:version|/ethdev/(?:list|info|link_status))\": .*|Connect(?:ing|ed) to .*)"
    r"|[\s\]\[{}.,]*"
)
_LCORE = re.compile(
    r"\s*lcore (?P<lcore>\d{1,4}), socket \d{1,3}, role \w{1,20}, cpuset [\d,@()-]{1,60}, "
    r"busy cycles (?P<busy>\d{1,20})/(?P<total>\d{1,20}).*"
)


@dataclass(slots=True)
class _Reader:
    text: Text
    ports: Readings = field(default_factory=Readings)
    lcores: Readings = field(default_factory=Readings)
    #: Numbers that were asked for, by command, before each answer.
    asked: dict[str, str] = field(default_factory=dict)
    #: Answer that goes on in the next lines; its list that does.
    what: str = ""
    current: Reading = field(default_factory=Reading)
    lists: dict[str, list[int]] = field(default_factory=dict)
    open_list: str = ""
    unnamed: int = 0

    def line(self, line: Line) -> None:
        """Understand one line."""
        for asked in _ASKED.finditer(line.text[:ROW_MAX_CHARS]):
            self.asked[asked["what"]] = asked["number"]
        begins = [*_HEAD.finditer(line.text)]
        if not begins:
            if self.what:
                self._content(line, line.text)
            return
        for begin, after in zip(begins, [*begins[1:], None], strict=True):
            self.end()
            self.what = begin["what"]
            self._content(line, line.text[begin.end() : after.start() if after else None])

    def _content(self, line: Line, content: str) -> None:
        pairs = [*_PAIR.finditer(content)]
        goes_on = bool(self.open_list) and _MORE.match(content) is not None
        if not pairs and not goes_on and not _OTHER.fullmatch(content):
            self.end()
            return
        quote = self.text.take(line)
        if goes_on:
            self._numbers(self.open_list, _MORE.match(content), quote)
        for pair in pairs:
            if pair["one"] is not None:
                self.current.note(pair["name"], int(pair["one"]), quote)
            else:
                self._numbers(pair["name"], _MORE.match(pair["all"]), quote)
        last = pairs[-1] if pairs else None
        if last is not None:
            self.open_list = last["name"] if last["all"] is not None else ""
        if "]" in content[last.end() if last is not None else 0 :]:
            self.open_list = ""
        if "}" in content:
            self.end()

    def _numbers(self, name: str, match: re.Match[str] | None, quote: Quote) -> None:
        found = self.lists.setdefault(name, [])
        for digits in re.findall(r"\d{1,20}", match[0] if match else ""):
            self.current.note(f"{name}[{len(found)}]", int(digits), quote)
            found.append(int(digits))

    def end(self) -> None:
        """Keep an answer."""
        what, reading, lists = self.what, self.current, self.lists
        self.what, self.current, self.lists, self.open_list = "", Reading(), {}, ""
        if what.startswith("/ethdev/") and reading.counters:
            self.ports.add(f"port {self.asked.pop(what, self._next(reading))}", reading)
        elif what == "/eal/lcore/info":
            number = reading.counters.get("lcore_id", self.asked.get(what, 0))
            self.lcore(int(number), reading.counters, reading.where if reading.quotes else None)
        elif what == "/eal/lcore/usage":
            columns = [lists.get(name, []) for name in ("lcore_ids", "busy_cycles", "total_cycles")]
            for number, busy, total in zip(*columns, strict=False):
                cycles = {"busy_cycles": busy, "total_cycles": total}
                self.lcore(number, cycles, reading.where)

    def _next(self, reading: Reading) -> str:
        """A number for a port that was not asked for by one: counters that fell are another's."""
        name = f"port {self.unnamed}"
        if name in self.ports:
            known = self.ports.last(name).counters
            both = known.keys() & reading.counters.keys()
            self.unnamed += any(reading.counters[key] < known[key] for key in both)
        return str(self.unnamed)

    def lcore(self, number: int, cycles: dict[str, int], quote: Quote | None) -> None:
        """Keep the cycles of one lcore, where both are known."""
        if quote is None or not {"busy_cycles", "total_cycles"} <= cycles.keys():
            return
        reading = Reading(quote=quote)
        for name in ("busy_cycles", "total_cycles"):
            reading.note(name, cycles[name], quote)
        self.lcores.add(f"lcore-{number}", reading)


@parser("DPDK telemetry")
def dpdk_telemetry(text: Text) -> Evidence | None:
    """Read ports and lcores; of two readings of one the difference counts."""
    whole = text.whole
    if "/ethdev/" not in whole and "/eal/lcore/" not in whole and "busy cycles" not in whole:
        return None
    reader = _Reader(text)
    for line in text:
        if match := _LCORE.fullmatch(line.text[:ROW_MAX_CHARS]):
            cycles = {"busy_cycles": int(match["busy"]), "total_cycles": int(match["total"])}
            reader.lcore(int(match["lcore"]), cycles, text.take(line))
        else:
            reader.line(line)
    reader.end()
    ports, lcores = reader.ports.counted(), reader.lcores.counted()
    if not ports and not lcores:
        return None
    for line in text:
        if _OTHER.fullmatch(line.text) or _ASKED.match(line.text):
            text.take(line)
    return Evidence(
        ports=tuple(port_of(name, one) for name, one in ports),
        losses=tuple(loss for name, one in ports for loss in losses_of(name, one)),
        cpu_times=tuple(_times(lcores)),
    )


def _times(lcores: list[tuple[str, Reading]]) -> Iterator[CpuTime]:
    """Lcores that work on packets: one that never did has another task."""
    for name, one in lcores:
        busy, total = one.counters["busy_cycles"], one.counters["total_cycles"]
        if 0 < busy <= total:
            yield CpuTime(
                cpu=int(name.removeprefix("lcore-")),
                name=name,
                busy_percent=100.0 * busy / total,
                quote=one.where,
            )
