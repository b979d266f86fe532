"""Lines of a kernel's log about packets: full tables, hung queues, links, memory, heat.

The kernel limits how often it logs the same, so that a number of lines is no number of packets.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Port, Quote, Remark
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_NAME = r"[a-zA-Z][\w.@-]{1,30}"
_TABLE = re.compile(
    r".*\b(?P<table>nf_conntrack|ip_conntrack)\b.{0,60}: table full, dropping(?: packet.*)?|"
    r".*\b(?:neighbou?r|ndisc_cache|arp_cache|ipv6)\b.{0,40}\b[nN]eighbou?r table overflow.*|"
    r"(?:.*\s)?Neighbour table overflow.*"
)
#: A line that a mail program broke.
_TABLE_BROKEN = re.compile(r".*\b(?:nf_conntrack|ip_conntrack): table full,\s*")
_WATCHDOG = re.compile(
    rf".*NETDEV WATCHDOG: (?:CPU: \d+: )?(?P<port>{_NAME}) ?\([\w-]{{2,30}}\): transmit queue "
    r"\d{1,4} timed out.*"
)
#: The same of Linux 6.6 and later: the interface stands before it.
_WATCHDOG_LATER = re.compile(
    rf".*?\b(?P<port>{_NAME}): NETDEV WATCHDOG: (?:CPU: \d+: )?transmit queue \d{{1,4}} timed out.*"
)
_LINK = re.compile(
    rf"(?:.*?\s)??(?:(?P<driver>[\w-]{{2,30}})[:\s]\s*(?:(?P<device>[0-9a-f]{{4}}:[0-9a-f]{{2}}:"
    rf"[0-9a-f]{{2}}\.[0-7])\s+)?)?(?P<port>(?!NIC\b){_NAME}):?\s+(?:NIC\s+)?[lL]ink\s+"
    r"(?:is\s+|state changed to\s+)?(?P<state>[uU]p|UP|[dD]own|DOWN)\b(?P<rest>.{0,120})"
)
_SPEED = re.compile(r"(?P<speed>\d{1,6}(?:\.\d)?)\s?(?P<unit>[GM])b(?:ps|it/s)", re.IGNORECASE)
_MEMORY = re.compile(r".*?(?P<who>[\w/:.-]{1,40}): page allocation failure\b.*")
_HEAT = re.compile(
    r".*\bCPU(?P<cpu>\d{1,4}): (?:Core|Package) temperature (?:is )?above threshold, cpu clock "
    r"(?:is )?throttled.*"
)
_SUPPRESSED = re.compile(r".*\bnet_ratelimit: \d+ callbacks suppressed.*")
#: Words of which one is in each line that is read; none of the lines is longer.
_WORDS = re.compile(r"table|WATCHDOG|[lL]ink |allocation|temperature|net_ratelimit|dropping")
_ROW_MAX_CHARS = 300
#: Tables, and the settings that they are as long as.
CONNECTIONS = "connection table (nf_conntrack_max)"
NEIGHBOURS = "neighbour table (gc_thresh3)"
_BPS = {"G": 10**9, "M": 10**6}
#: A link that went down this many times did not only start.
DOWNS_MIN = 3


@dataclass(slots=True)
class _Link:
    """One port's link, as a log has it."""

    port: str
    downs: int = 0
    up: bool | None = None
    bps: int | None = None
    driver: str = ""
    device: str = ""
    quote: Quote | None = None
    down: Quote | None = None


@dataclass(slots=True)
class _Log:
    """Events of a log, those of a kind and a name together."""

    text: Text
    links: dict[str, _Link] = field(default_factory=dict)
    #: By kind and name: how many lines, and the first one.
    events: dict[tuple[str, str], tuple[int, Quote]] = field(default_factory=dict)
    read: bool = False
    broken: bool = False

    def note(self, kind: str, name: str, line: Line) -> None:
        """Count an event."""
        self.read = True
        quote = self.text.take(line)
        times, first = self.events.get((kind, name), (0, quote))
        self.events[kind, name] = times + 1, first

    def line(self, line: Line) -> None:
        """Understand one line."""
        content = line.text
        if table := _TABLE.fullmatch(content) or _TABLE_BROKEN.fullmatch(content):
            tracked = "conntrack" in (table.groupdict().get("table") or content)
            name = CONNECTIONS if tracked else NEIGHBOURS
            self.note("table-full", name, line)
            self.broken = table.re is _TABLE_BROKEN
        elif self.broken and content.strip().startswith("dropping packet"):
            self.text.take(line)
            self.broken = False
        elif watchdog := _WATCHDOG.fullmatch(content) or _WATCHDOG_LATER.fullmatch(content):
            self.note("tx-timeout", watchdog["port"], line)
        elif memory := _MEMORY.fullmatch(content):
            self.note("no-memory", memory["who"], line)
        elif heat := _HEAT.fullmatch(content):
            self.note("throttled", f"CPU {heat['cpu']}", line)
        elif _SUPPRESSED.fullmatch(content):
            self.text.take(line)
        elif link := _LINK.fullmatch(content):
            self._link(line, link)

    def _link(self, line: Line, link: re.Match[str]) -> None:
        speed, up = _SPEED.search(link["rest"]), link["state"].lower() == "up"
        one = self.links.setdefault(link["port"], _Link(link["port"]))
        self.read, quote = True, self.text.take(line)
        one.up, one.quote = up, quote
        if link["device"]:
            one.driver, one.device = link["driver"], link["device"]
        if up and speed:
            one.bps = round(float(speed["speed"]) * _BPS[speed["unit"].upper()])
        elif not up:
            one.downs, one.down = one.downs + 1, quote


@parser("lines of dmesg")
def kernel_log(text: Text) -> Evidence | None:
    """Read what a log says of packets; each event once, with how often it was logged."""
    log = _Log(text)
    for line in text.rows:
        if len(line.text) <= _ROW_MAX_CHARS and _WORDS.search(line.text):
            log.line(line)
    if not log.read:
        return None
    return Evidence(
        ports=tuple(_ports(log)),
        remarks=tuple(_remarks(log)),
        suspect=tuple(f"{name} was slowed down for its heat" for name in _hot(log)),
    )


def _ports(log: _Log) -> Iterator[Port]:
    for one in log.links.values():
        if one.quote is not None:
            yield Port(
                name=one.port,
                up=one.up,
                driver=one.driver,
                device=one.device,
                link_bps=one.bps if one.up else None,
                quote=one.quote,
            )


def _hot(log: _Log) -> list[str]:
    return [name for kind, name in log.events if kind == "throttled"]


def _remarks(log: _Log) -> Iterator[Remark]:
    for (kind, name), (times, quote) in log.events.items():
        often = "" if times == 1 else f", logged {times:,} times"
        match kind:
            case "table-full":
                text = f"the kernel's {name} was full and packets were dropped{often}"
                yield Remark(kind="table-full", text=text, quote=quote)
            case "tx-timeout":
                text = f"a tx queue of {name} hung and its card was reset{often}"
                yield Remark(kind="tx-timeout", text=text, quote=quote)
            case "no-memory":
                text = f"{name} found no memory for a page{often}"
                yield Remark(kind="no-memory", text=text, quote=quote)
            case _:
                text = f"{name} was slowed down for its heat{often}"
                yield Remark(kind="throttled", text=text, quote=quote)
    for one in log.links.values():
        if one.downs >= DOWNS_MIN and one.down is not None:
            text = f"the link of {one.port} went down {one.downs:,} times"
            yield Remark(kind="link-down", text=text, quote=one.down)
