"""`tc -s qdisc`, `tc -s class`, `tc -s filter`: what the kernel's queues before a port dropped.

An outermost queue counts the drops of those below it. One with a rate drops as it is configured to;
of another it is open whether the link, the driver or a lock held its packets up.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, Evidence, Loss, Quote, Remark
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_HANDLE = r"(?:[0-9a-f]{1,4}:[0-9a-f]{0,4}|:[0-9a-f]{1,4}|\[[^\]]{1,20}\])"
_QDISC = re.compile(
    rf"\s*(?:(?:deleted|added) )?qdisc\s+(?P<kind>[a-z_0-9]{{2,20}})\s+(?P<handle>{_HANDLE})\s*"
    rf"(?:dev\s+(?P<dev>[\w.@:-]{{1,40}})\s+)?(?:(?P<root>root)|(?:ingress\s+|clsact\s+)?parent\s+"
    rf"(?P<parent>{_HANDLE})|ingress)?(?P<rest>\s.{{0,400}})?"
)
_CLASS = re.compile(
    rf"\s*class\s+(?P<kind>[a-z_0-9]{{2,20}})\s+(?P<handle>{_HANDLE})\s+(?:(?P<root>root)|parent\s+"
    rf"(?P<parent>{_HANDLE}))(?P<rest>\s.{{0,400}})?"
)
_SENT = re.compile(
    r"\s*(?:Sent (?P<bytes>\d{1,20}) bytes (?P<packets>\d{1,20}) pkts?\s+)?"
    r"\(dropped (?P<dropped>\d{1,20}), overlimits (?P<overlimits>\d{1,20})"
    r"(?: requeues (?P<requeues>\d{1,20}))?\s*\)\s*",
    re.ASCII,
)
_BACKLOG = re.compile(
    r"\s*(?:rate \S{1,20} \d{1,12}pps )?backlog \S{1,20} (?P<packets>\d{1,9})p\b.*", re.ASCII
)
#: A line that a mail program cut: the rest follows in the next.
_CUT = re.compile(r"\s*(?:Sent \d.{0,80}\([^()]{0,80}|action order \d{1,3}: .* mtu \S{1,8}\s*)")
_ACK_DROPS = re.compile(r"\s*ack_drop(?P<counts>(?:\s+\d{1,20}){1,8})\s*", re.ASCII)
_ACTION = re.compile(
    r"\s*action order \d{1,3}:\s+(?P<kind>[a-z_]{2,20})(?:\s+0x[0-9a-f]+)?\s*(?P<rest>.{0,200})"
)
_FILTER = re.compile(r"\s*filter\s+(?:dev \S{1,40} )?(?:parent|protocol|block|ingress|egress)\b.*")
_ACTION_HEAD = re.compile(r"\s*Action statistics:\s*")
#: Other lines of these outputs.
_MORE = re.compile(
    r"\s*(?:memory used:|capacity estimate:|min/max |average network|maxpacket |new_flows_len |"
    r"flows \d|lended:|tokens:|Tin |thresh |target |interval |[psa][kvp]_delay |backlog |pkts |"
    r"bytes |way_|drops |marks |[sbu][pkn]_flows |max_len |quantum |Bulk |index \d|match |"
    r"eth_type |in_hw|not_in_hw|random type|installed |rate estimator|level \d|ecn_mark|"
    r"throttled|period \d|highprio |gc |delayed|deferred).{0,200}"
)
_COMMAND = re.compile(r"\btc\b.{0,80}\bdev\s+(?P<dev>[\w.@:-]{1,40})")
_RATE = re.compile(
    r"\b(?:bandwidth|rate|maxrate)\s+(?P<rate>\d[\d.]{0,12}[KMGTkmgt]?i?(?:bit|bps))\b"
)
#: Queues that hold back what is above a rate; others only order it.
_SHAPERS = frozenset(("tbf", "htb", "hfsc", "cbq", "cake", "cake_mq"))
#: Largest packet that the kernel hands to a card, to be cut there.
PACKET_MAX_BYTES = 65_536
#: Where incoming packets meet filters and policers.
_INGRESS = frozenset(("ingress", "clsact"))


@dataclass(slots=True)
class _Queue:
    """One queue, class or action of a port, and its counters."""

    kind: str
    port: str
    outermost: bool
    #: Its own handle, and that of what it hangs below.
    handle: str
    parent: str
    rate: str
    line: Line
    what: str = "queue"
    counters: dict[str, int] = field(default_factory=dict)
    counted: Line | None = None

    @property
    def key(self) -> str:
        """The same in each reading."""
        return f"{self.what} {self.kind} {self.handle} {self.parent} {self.port}"


@dataclass(slots=True)
class _Reader:
    """All queues of a text."""

    text: Text
    queues: list[_Queue] = field(default_factory=list)
    port: str = ""
    current: _Queue | None = None

    def line(self, line: Line) -> None:
        """Understand one line."""
        if line.typed:
            if command := _COMMAND.search(line.text):
                self.port, self.current = command["dev"], None
        elif head := _QDISC.fullmatch(line.text) or _CLASS.fullmatch(line.text):
            self._begin(line, head)
        elif sent := _SENT.fullmatch(line.text):
            self._count(line, sent)
        elif action := _ACTION.fullmatch(line.text):
            self._action(line, action)
        elif _FILTER.fullmatch(line.text) or _ACTION_HEAD.fullmatch(line.text):
            self.text.take(line)
        elif self.current is not None and (acks := _ACK_DROPS.fullmatch(line.text)):
            self.text.take(line)
            self.current.counters["ack_drop"] = sum(map(int, acks["counts"].split()))
        elif self.current is not None and (backlog := _BACKLOG.fullmatch(line.text)):
            self.text.take(line)
            self.current.counters["backlog"] = int(backlog["packets"])
        elif self.current is not None and _MORE.fullmatch(line.text):
            self.text.take(line)

    def _begin(self, line: Line, head: re.Match[str]) -> None:
        groups = head.groupdict()
        rate = _RATE.search(head["rest"] or "")
        self.current = _Queue(
            kind=head["kind"],
            port=groups.get("dev") or self.port,
            outermost=head["root"] is not None,
            handle=head["handle"],
            parent=head["parent"] or "",
            rate=rate["rate"] if rate else "",
            line=line,
            what="queue" if head.re is _QDISC else "class",
        )
        self.queues.append(self.current)

    def _action(self, line: Line, action: re.Match[str]) -> None:
        kind, rate = action["kind"], _RATE.search(action["rest"])
        self.current = _Queue(
            kind=f"{kind} {action['rest']}" if kind == "gact" else kind,
            port=self.port,
            outermost=False,
            handle=str(len(self.queues)),
            parent="",
            rate=rate["rate"] if rate else "",
            line=line,
            what="action",
        )
        self.queues.append(self.current)

    def _count(self, line: Line, sent: re.Match[str]) -> None:
        if self.current is None:
            # The head was cut off: whose counters these are is unknown.
            self.current = _Queue("", self.port, False, "", "", "", line)
            self.queues.append(self.current)
        for name in ("bytes", "packets", "dropped", "overlimits", "requeues"):
            if sent[name] is not None:
                self.current.counters[name] = int(sent[name])
        self.current.counted = line


@parser("tc -s")
def tc(text: Text) -> Evidence | None:
    """Read queues, classes and actions; of several readings of one the difference counts."""
    reader = _Reader(text)
    for line in _whole(text):
        reader.line(line)
    queues = [one for one in reader.queues if one.counted is not None]
    if not queues:
        return None
    for one in reader.queues:
        text.take(one.line)
    counted = _between(text, queues)
    losses = tuple(_losses(counted))
    return Evidence(losses=losses, remarks=() if losses else tuple(_clean(counted)))


def _whole(text: Text) -> Iterator[Line]:
    """Lines, those put together that a mail program broke."""
    before: Line | None = None
    for line in text.rows_and_commands:
        if before is not None:
            text.take(line)
            yield Line(before.number, f"{before.text} {line.text.strip()}")
            before = None
        elif _CUT.fullmatch(line.text):
            before = line
        else:
            yield line
    if before is not None:
        yield before


def _between(text: Text, queues: list[_Queue]) -> list[tuple[_Queue, Reading]]:
    """Each queue once, with what it counted between its first reading and its last."""
    readings, last = Readings(), {}
    for one in queues:
        assert one.counted is not None
        reading, quote = Reading(), text.take(one.counted)
        for name, value in one.counters.items():
            reading.note(name, value, quote)
        readings.add(one.key, reading)
        last[one.key] = one
    return [(last[key], reading) for key, reading in readings.counted(re.compile("backlog"))]


def _losses(counted: list[tuple[_Queue, Reading]]) -> Iterator[Loss]:
    for port in dict.fromkeys(one.port for one, _ in counted):
        there = [(one, reading) for one, reading in counted if one.port == port]
        actions = [pair for pair in there if pair[0].what == "action"]
        if any(reading.counters["dropped"] for _, reading in actions):
            # They are counted at the queue for incoming packets once more.
            there = [pair for pair in there if pair[0].kind not in _INGRESS]
        shaped = [one for one, reading in there if _holds_back(one, reading)]
        for one, reading in _outermost(there) + actions:
            dropped = reading.counters["dropped"]
            # Redundant acknowledgements, left out on purpose.
            packets = dropped - min(dropped, reading.counters.get("ack_drop", 0))
            if packets:
                yield Loss(
                    place=f"{port}{': ' * bool(port)}{_name(one, shaped)}",
                    cause=_cause(one, reading, shaped),
                    packets=packets,
                    offered=_offered(one, reading, packets),
                    quote=reading.where,
                )


def _offered(one: _Queue, reading: Reading, lost: int) -> int | None:
    """Packets that came; a counter of 32 bits wraps, as packets too large for any show."""
    sent = reading.counters.get("packets")
    if sent is None:
        return None
    # An action counts packets before it decides.
    lost = 0 if one.what == "action" else lost
    return lost + max(sent, reading.counters.get("bytes", 0) // PACKET_MAX_BYTES)


def _outermost(there: list[tuple[_Queue, Reading]]) -> list[tuple[_Queue, Reading]]:
    """Queues below no other one of the text; classes where no queue counts for them."""
    queues = [pair for pair in there if pair[0].what == "queue"]
    for found in ([pair for pair in queues if pair[0].outermost], queues):
        if found:
            incoming = [pair for pair in queues if pair[0].kind in _INGRESS and pair not in found]
            majors = {one.handle.partition(":")[0] for one, _ in found}
            tops = [
                (one, reading)
                for one, reading in found
                if one.outermost or one.parent.partition(":")[0] not in majors
            ]
            return (tops or found) + incoming
    classes = [pair for pair in there if pair[0].what == "class"]
    parents = {one.parent for one, _ in classes}
    return [pair for pair in classes if pair[0].handle not in parents]


def _holds_back(one: _Queue, reading: Reading) -> bool:
    """Whether it has a rate, and packets came faster."""
    rated = one.kind in _SHAPERS and (one.rate != "" or one.kind not in ("cake", "cake_mq"))
    netem = one.kind == "netem" and one.rate != ""
    return (rated or netem) and reading.counters["overlimits"] > 0


def _name(one: _Queue, shaped: list[_Queue]) -> str:
    if one.what == "action":
        return f"tc {one.kind} {one.rate}".strip() + " drops"
    if one.kind in _INGRESS:
        return "tc filter or policer drops"
    kind = one.kind
    rates = [other.rate for other in shaped if other.rate]
    if shaped and not one.rate:
        kind = shaped[0].kind if kind in ("mq", "") else kind
    rate = one.rate or (rates[0] if len(set(rates)) == 1 else "")
    return " ".join(f"tc {one.what} {kind} {rate}".split()) + " drops"


def _cause(one: _Queue, reading: Reading, shaped: list[_Queue]) -> Cause:
    if one.what == "action":
        return "shaper" if one.kind.startswith("police") else "configuration"
    if one.kind in _INGRESS or one.kind in ("blackhole", "netem", "plug"):
        # netem loses what it was asked to lose.
        return "shaper" if one in shaped else "configuration"
    return "shaper" if _holds_back(one, reading) or (one.kind == "mq" and shaped) else "other"


def _clean(counted: list[tuple[_Queue, Reading]]) -> Iterator[Remark]:
    """A port whose queues dropped nothing."""
    for port in dict.fromkeys(one.port for one, _ in counted):
        there = [(one, reading) for one, reading in counted if one.port == port]
        for one, reading in _outermost(there):
            packets = reading.counters.get("packets", 0)
            if packets and one.kind not in _INGRESS:
                of = f" of {port}" if port else ""
                quote: Quote = reading.where
                text = f"the queue {one.kind}{of} dropped none of {packets:,} packets"
                yield Remark(kind="clean", text=text, quote=quote)
