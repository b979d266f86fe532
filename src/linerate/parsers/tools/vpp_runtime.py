"""VPP's `show runtime`, and our engine's, which has its shape (vlib/node_cli.c)."""

import re
from dataclasses import dataclass, field
from typing import Literal

from linerate.model.evidence import Evidence, Node, Quote, Worker
from linerate.parsers.numbers import COUNT, NUMBER, count, number
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_THREAD = re.compile(r"\s*Thread\s+(\d{1,4})\s+(\S+)(?:\s+\(lcore\s+(\d{1,5})\))?\s*")
_TIME = re.compile(
    rf"\s*Time\s+({NUMBER}),?\s.*(?:vector rate|average vectors/node|loops/sec)\s+{NUMBER}.*"
)
_LOOPS = re.compile(rf"loops/sec\s+({NUMBER})")
_RATES = re.compile(
    rf"\s*vector rates\s+in\s+({NUMBER}),\s*out\s+({NUMBER}),\s*drop\s+({NUMBER})"
    rf"(?:,\s*punt\s+{NUMBER})?\s*"
)
_HEAD = re.compile(
    r"\s*Name\s+State\s+Calls\s+Vectors\s+Suspends\s+(?:Packet-)?Clocks\s+Vectors/Call\s*"
)
_MAX_HEAD = re.compile(r"\s*Name\s+Max Node Clocks\s+Vectors at Max\s+Max Clocks\s.*")
_MAX_ROW = re.compile(rf"\s*\S+\s+{NUMBER}\s+(?:{COUNT})\s+{NUMBER}\s+{NUMBER}\s+{NUMBER}\s*")
_EVENTS = re.compile(r"\s+events pending,?\s*")
#: Numbers below 1 have no zero before the point.
#: A state is a word or two, in quotes since 24.10; a long one is cut, and its quote lost.
_ROW = re.compile(
    r"""\s*(?P<name>[^\s"]+)(?P<idle>\s\(idle\))?
    (?:\s*"(?P<quoted>[A-Za-z][A-Za-z ]*)"?|\s+(?P<state>[a-z]+(?:\ [a-z]+){0,2}))
    \s+(?P<calls>[\d,'_]+)\s+(?P<vectors>[\d,'_]+)\s+(?P<suspends>[\d,'_]+)
    \s+(?P<clocks>[\d,'_]*\.\d\S*)\s+(?P<per_call>[\d,'_]*\.\d\S*)\s*""",
    re.VERBOSE,
)
#: The part of a row that is broken before its numbers end.
_BROKEN = re.compile(r'\s*[^\s"]+\s*(?:"[A-Za-z ]+"?|\s[a-z ]+)[\d\s.e+-]*')
#: Our engine's last line of a worker.
_CYCLES = re.compile(r"\s*cycles:\s+(.*)")
_SHARE = re.compile(rf"({NUMBER}) % ([a-z][a-zA-Z ]*)")
#: Names of our engine's tester threads.
_TESTER = re.compile(r"tester(?:-\d+)?")


@dataclass(slots=True)
class _Block:
    """Lines of one thread so far."""

    number: int | None = None
    name: str = ""
    cpu: int | None = None
    quote: Quote | None = None
    seconds: float | None = None
    loops: float | None = None
    rates: list[float | None] = field(default_factory=lambda: [None, None, None])
    nodes: list[Node] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    #: Our engine reports idle polls separately.
    ours: bool = False

    def worker(self) -> Worker | None:
        """Make the worker; None when no line was one of a runtime."""
        if self.quote is None:
            return None
        spare = [self.shares[what] for what in ("in idle polls", "asleep") if what in self.shares]
        return Worker(
            # VPP names no thread when there is one only.
            name=self.name or "vpp_main",
            role=self._role(),
            cpu=self.cpu,
            seconds=self.seconds,
            loops_per_second=self.loops,
            in_pps=self.rates[0],
            out_pps=self.rates[1],
            drop_pps=self.rates[2],
            nodes=tuple(self.nodes),
            idle_in_clocks=not self.ours,
            spare_percent=sum(spare) if spare else None,
            away_percent=self.shares.get("descheduled", self.shares.get("off the CPU")),
            quote=self.quote,
        )

    def _role(self) -> Literal["worker", "main", "tester"]:
        if _TESTER.fullmatch(self.name):
            return "tester"
        # Thread 0 is the main one, by whatever name.
        if self.number not in (None, 0):
            return "worker"
        # Without workers, the main thread polls the cards itself.
        polls = any(node.polling and node.vectors for node in self.nodes)
        return "worker" if polls else "main"


@dataclass(slots=True)
class _Reader:
    """Goes over a text line by line."""

    text: Text
    block: _Block = field(default_factory=_Block)
    #: A thread's head counts only once a line of a runtime follows.
    head: tuple[Line, re.Match[str]] | None = None
    done: list[_Block] = field(default_factory=list)
    doubts: list[Quote] = field(default_factory=list)
    in_max: bool = False

    def take(self, line: Line) -> Quote:
        """Take a line of the present thread, and the thread's head with it."""
        quote = self.text.take(line)
        if self.head is not None:
            head, match = self.head
            self.head = None
            self.close()
            self.block.number = count(match[1])
            self.block.name = match[2]
            self.block.cpu = count(match[3]) if match[3] else None
            self.block.quote = self.text.take(head)
        elif self.block.quote is None:
            self.block.quote = quote
        return quote

    def close(self) -> None:
        """End the present thread."""
        if self.block.quote is not None:
            self.done.append(self.block)
        self.block = _Block()
        self.in_max = False

    def read(self, line: Line, following: Line | None) -> None:
        """Read one line; the one after it is needed where a row is broken in two."""
        if match := _THREAD.fullmatch(line.text):
            self.head = (line, match)
        elif match := _TIME.fullmatch(line.text):
            self._time(line, match)
        elif match := _RATES.fullmatch(line.text):
            self.take(line)
            self.block.rates = [number(match[at]) for at in (1, 2, 3)]
        elif _HEAD.fullmatch(line.text) or (self.block.nodes and _EVENTS.fullmatch(line.text)):
            self.take(line)
        elif _MAX_HEAD.fullmatch(line.text):
            self._max(line)
        elif self.in_max and _MAX_ROW.fullmatch(line.text):
            self.take(line)
        elif self.block.quote is not None and (match := _CYCLES.fullmatch(line.text)):
            self.take(line)
            self.block.ours = True
            shares = {what.strip(): number(value) for value, what in _SHARE.findall(match[1])}
            self.block.shares = {what: share for what, share in shares.items() if share is not None}
        elif not self._row(line, line.text) and following and _BROKEN.fullmatch(line.text):
            joined = f"{line.text.rstrip()} {following.text.strip()}"
            if self._row(line, joined):
                self.text.take(following)

    def _time(self, line: Line, match: re.Match[str]) -> None:
        # One thread has one: a second is another output of a VPP without workers.
        if self.head is None and self.block.seconds is not None:
            self.close()
        self.take(line)
        self.block.seconds = number(match[1])
        loops = _LOOPS.search(line.text)
        self.block.loops = number(loops[1]) if loops else None

    def _max(self, line: Line) -> None:
        quote = self.take(line)
        self.in_max = True
        message = "`show runtime max` has neither calls nor vectors: `show runtime` has"
        if all(doubt.text != message for doubt in self.doubts):
            self.doubts.append(quote.model_copy(update={"text": message}))

    def _row(self, line: Line, row: str) -> bool:
        match = _ROW.fullmatch(row)
        if match is None:
            return False
        calls, vectors, suspends = (count(match[name]) for name in ("calls", "vectors", "suspends"))
        clocks, per_call = number(match["clocks"]), number(match["per_call"])
        if calls is None or vectors is None or suspends is None:
            return False
        if clocks is None or per_call is None:
            return False
        quote = self.take(line)
        state = (match["quoted"] or match["state"]).strip()
        self.block.ours |= match["idle"] is not None or state == "fused"
        if match["idle"] is None:
            self.block.nodes.append(
                Node(
                    name=match["name"],
                    state=state,
                    calls=calls,
                    vectors=vectors,
                    suspends=suspends,
                    clocks_per_packet=clocks,
                    vectors_per_call=per_call,
                    quote=quote,
                )
            )
        return True

    def workers(self) -> tuple[Worker, ...]:
        """All threads; of one that is printed more than once, its last words."""
        self.close()
        latest: dict[tuple[int | None, str], Worker] = {}
        for block in self.done:
            worker = block.worker()
            if worker is None:
                continue
            key = (block.number, worker.name)
            if key in latest:
                message = f"{worker.name} is printed more than once: the last one counts"
                self.doubts.append(worker.quote.model_copy(update={"text": message}))
            latest[key] = worker
        return tuple(latest.values())


@parser("VPP show runtime")
def runtime(text: Text) -> Evidence | None:
    """Read threads and what each spent in each node."""
    reader = _Reader(text)
    lines = text.rows
    for line, following in zip(lines, [*lines[1:], None], strict=False):
        reader.read(line, following)
    workers = reader.workers()
    if not workers:
        return None
    return Evidence(workers=workers, doubts=tuple(reader.doubts))
