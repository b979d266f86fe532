"""Rules of iptables, ip6tables, nftables and ebtables that drop, and their counters.

`iptables -L -v`, `iptables -S -v`, `iptables-save -c`, `nft list ruleset`, `ebtables -L --Lc`. A
counter of a rule that accepts is no loss; it tells how many packets came to the chain.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Loss, Quote, Remark
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_NUMBER = r"\d{1,20}[KMGT]?"
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_CHAIN = re.compile(
    rf"\s*Chain (?P<chain>[\w.-]{{1,60}}) \((?:policy (?P<policy>\w{{2,10}})"
    rf"(?: (?P<packets>{_NUMBER}) packets(?:, {_NUMBER} bytes)?)?|\d{{1,6}} references)\).*",
    re.ASCII,
)
_HEAD = re.compile(r"\s*(?:num\s+)?pkts\s+bytes\s+target\s+prot\s.*")
_ROW = re.compile(
    rf"\s*(?:\d{{1,6}}\s+)?(?P<packets>{_NUMBER})\s+{_NUMBER}\s+(?P<target>[\w.-]{{2,60}})\s+"
    r"(?P<proto>[\w!-]{1,12})\s+(?P<opt>--|-f|!f|[-\w]{2})\s+(?P<match>\S.{0,300}|)",
    re.ASCII,
)
_SAVED = re.compile(
    r"\s*(?:\[(?P<packets>\d{1,20}):\d{1,20}\]\s+)?-A (?P<chain>[\w.-]{1,60})"
    r"(?P<match>(?:\s\S{1,100}){0,40}?)(?:\s-c (?P<c>\d{1,20}) \d{1,20})?\s-j "
    r"(?P<target>[\w.-]{1,60})(?:\s.{0,100})?",
    re.ASCII,
)
_SAVED_POLICY = re.compile(
    r"\s*(?::|-P )(?P<chain>[\w.-]{1,60}) (?P<policy>ACCEPT|DROP)"
    r"(?: \[(?P<packets>\d{1,20}):\d{1,20}\]| -c (?P<c>\d{1,20}) \d{1,20})\s*",
    re.ASCII,
)
_BRIDGE_CHAIN = re.compile(
    r"\s*Bridge chain: (?P<chain>[\w.-]{1,60}), entries: \d{1,6}, policy: (?P<policy>\w{2,10})\s*"
)
_BRIDGE_ROW = re.compile(
    r"\s*(?P<match>-?\S.{0,300}?)-j (?P<target>\w{2,30})(?:\s[^,]{0,80})?\s*,? "
    r"pcnt = (?P<packets>\d{1,20}) -- bcnt = \d{1,20}\s*",
    re.ASCII,
)
_TABLE = re.compile(r"\s*table (?P<table>[a-z0-9]{2,8} [\w.-]{1,60}) \{.*")
_NFT_CHAIN = re.compile(r"\s*chain (?P<chain>[\w.-]{1,60}) \{.*")
_NFT_POLICY = re.compile(r"\s*type \w{2,10} hook .{0,200}")
_NFT_COUNTER = re.compile(r"\bcounter packets (?P<packets>\d{1,20}) bytes \d{1,20}\b", re.ASCII)
_NFT_NAMED = re.compile(r'\bcounter name "?(?P<name>[\w.-]{1,60})"?')
_NFT_OBJECT = re.compile(r"\s*counter (?P<name>[\w.-]{1,60}) \{.*")
_NFT_VALUE = re.compile(r"\s*packets (?P<packets>\d{1,20}) bytes \d{1,20}\s*", re.ASCII)
_NFT_DROPS = re.compile(r"\b(?:drop|reject)\b")
_NFT_TAKES = re.compile(r"\b(?:accept|drop|reject)\b")
_QUOTED = re.compile(r'comment (?:"[^"]{0,200}"|\S+)|"[^"]{0,200}"|# handle \d+')
_END = re.compile(r"\s*\}\s*")
_DROPS = frozenset(("DROP", "REJECT"))
_TAKES = _DROPS | {"ACCEPT"}
#: Whatever fits every packet says nothing of a rule.
_ANY = frozenset(("*", "any", "anywhere", "0.0.0.0/0", "::/0", "--"))
_BASE = frozenset(("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING", "BROUTING"))


@dataclass(slots=True)
class _Chain:
    """Packets that came to one chain, as far as its rules count them."""

    name: str
    base: bool = False
    #: Whether all its rules that end a packet's way have counters, as those of iptables.
    counts: bool = True
    #: Taken by its policy, and by such rules.
    taken: int = 0
    most: int = 0
    quote: Quote | None = None

    @property
    def came(self) -> int:
        """At least that many packets came; 0 when it is unknown."""
        return max(self.taken, self.most) if self.counts else 0


@dataclass(slots=True)
class _Dropping:
    """A rule, or a policy, that drops."""

    place: str
    chain: _Chain
    packets: int
    quote: Quote


@dataclass(slots=True)
class _Reader:
    """All chains of a text."""

    text: Text
    chains: list[_Chain] = field(default_factory=list)
    dropping: list[_Dropping] = field(default_factory=list)
    silent: list[Quote] = field(default_factory=list)
    #: nft: counters with names, and rules that use them.
    named: dict[str, int] = field(default_factory=dict)
    waiting: list[tuple[str, str, _Chain, Quote]] = field(default_factory=list)
    table: str = ""
    in_nft: bool = False
    counter: str = ""
    rows: int = 0

    def chain(self, name: str, *, base: bool = False) -> _Chain:
        """Open a chain."""
        self.chains.append(_Chain(name, base or name in _BASE))
        return self.chains[-1]

    def count(self, line: Line, chain: _Chain, name: str, target: str, packets: int) -> None:
        """Note a rule or a policy, and its counter."""
        quote = self.text.take(line)
        self.rows += 1
        if packets >= chain.most:
            chain.most, chain.quote = packets, quote
        if target in _TAKES:
            chain.taken += packets
        if target in _DROPS and packets:
            self.dropping.append(_Dropping(name, chain, packets, quote))

    def line(self, line: Line) -> None:
        """Understand one line."""
        if self.in_nft or _TABLE.fullmatch(line.text):
            self._nft(line)
        elif head := _CHAIN.fullmatch(line.text):
            self.text.take(line)
            chain = self.chain(head["chain"])
            name = f"iptables {chain.name}: policy {head['policy']}"
            if head["packets"]:
                self.count(line, chain, name, head["policy"], _value(head["packets"]))
        elif _HEAD.fullmatch(line.text):
            self.text.take(line)
        elif head := _BRIDGE_CHAIN.fullmatch(line.text):
            self.text.take(line)
            self.chain(f"ebtables {head['chain']}", base=head["chain"] in _BASE)
        elif rule := _BRIDGE_ROW.fullmatch(line.text):
            chain = self.chains[-1] if self.chains else self.chain("ebtables")
            place = f"{chain.name}: {' '.join(rule['match'].split())} {rule['target']}"
            self.count(line, chain, place, rule["target"], _value(rule["packets"]))
        else:
            self._iptables(line)

    def _iptables(self, line: Line) -> None:
        if policy := _SAVED_POLICY.fullmatch(line.text):
            chain = self.chain(policy["chain"])
            packets = _value(policy["packets"] or policy["c"])
            name = f"iptables {chain.name}: policy {policy['policy']}"
            self.count(line, chain, name, policy["policy"], packets)
        elif (rule := _SAVED.fullmatch(line.text)) and (rule["packets"] or rule["c"]):
            chain = self._of(rule["chain"])
            place = f"iptables {chain.name}: {' '.join(rule['match'].split())} {rule['target']}"
            packets = _value(rule["packets"] or rule["c"])
            self.count(line, chain, place, rule["target"], packets)
        elif rule := _ROW.fullmatch(line.text):
            if not self.chains:
                if rule["target"] not in _TAKES:
                    return
                self.chain("")
            chain = self.chains[-1]
            # Without a target, its column has the protocol.
            place = f"iptables {chain.name}: {_rule(rule)}".replace(" : ", ": ")
            self.count(line, chain, place, rule["target"], _value(rule["packets"]))

    def _of(self, name: str) -> _Chain:
        known = (one for one in reversed(self.chains) if one.name == name)
        return next(known, None) or self.chain(name)

    def _nft(self, line: Line) -> None:
        if table := _TABLE.fullmatch(line.text):
            self.text.take(line)
            self.table, self.in_nft = table["table"], True
        elif chain := _NFT_CHAIN.fullmatch(line.text):
            self.text.take(line)
            self.chain(f"{self.table} {chain['chain']}")
        elif found := _NFT_OBJECT.fullmatch(line.text):
            self.text.take(line)
            self.counter = found["name"]
        elif self.counter and (value := _NFT_VALUE.fullmatch(line.text)):
            self.text.take(line)
            self.named[self.counter] = _value(value["packets"])
        elif _NFT_POLICY.fullmatch(line.text):
            quote = self.text.take(line)
            if self.chains:
                # Its policy takes packets and does not count them.
                self.chains[-1].base, self.chains[-1].counts = True, False
            if "policy drop" in line.text:
                self.silent.append(quote)
        elif _END.fullmatch(line.text):
            self.text.take(line)
            self.counter = ""
        elif self.chains:
            self._nft_rule(line)

    def _nft_rule(self, line: Line) -> None:
        plain = _QUOTED.sub("", _NFT_NAMED.sub("", line.text))
        drops = _NFT_DROPS.search(plain) is not None
        chain = self.chains[-1]
        target = "DROP" if drops else ("ACCEPT" if _NFT_TAKES.search(plain) else "")
        rule = " ".join(_NFT_COUNTER.sub("", plain).split())
        place = f"nft {chain.name}: {rule}"
        counter, named = _NFT_COUNTER.search(plain), _NFT_NAMED.search(line.text)
        if counter is not None:
            self.count(line, chain, place, target, _value(counter["packets"]))
        elif drops and named is not None:
            self.waiting.append((named["name"], place, chain, self.text.take(line)))
        elif target:
            chain.counts = False
        if drops and counter is None and named is None:
            self.silent.append(self.text.take(line))

    def end(self) -> None:
        """Give rules with a named counter its value."""
        for name, place, chain, quote in self.waiting:
            if packets := self.named.get(name, 0):
                chain.most = max(chain.most, packets)
                self.dropping.append(_Dropping(place, chain, packets, quote))
        self.rows += len(self.waiting) + len(self.silent)


def _value(digits: str) -> int:
    unit = _UNITS.get(digits[-1:], 1)
    return int(digits.rstrip("KMGT") or 0) * unit


def _rule(rule: re.Match[str]) -> str:
    """`DROP tcp in eth0 from 192.0.2.1 tcp dpt:22`."""
    words = rule["match"].split()
    names = ("in", "out", "from", "to")
    parts = [f"{name} {word}" for name, word in zip(names, words, strict=False) if word not in _ANY]
    proto = "" if rule["proto"] in ("all", "0") else rule["proto"]
    rest = " ".join(words[len(names) :])
    return " ".join(f"{rule['target']} {proto} {' '.join(parts)} {rest}".split())


@parser("packet filter rules")
def netfilter_rules(text: Text) -> Evidence | None:
    """Read rules and policies that drop; of several readings of one the difference counts."""
    reader = _Reader(text)
    for line in text.rows:
        reader.line(line)
    reader.end()
    if not reader.rows:
        return None
    losses = tuple(_losses(reader))
    return Evidence(
        losses=losses,
        silent=tuple(reader.silent),
        remarks=() if losses else tuple(_clean(reader)),
    )


def _losses(reader: _Reader) -> Iterator[Loss]:
    most = max((one.came for one in reader.chains), default=0)
    readings = Readings()
    offered: dict[str, int | None] = {}
    for one in reader.dropping:
        reading = Reading()
        reading.note("packets", one.packets, one.quote)
        readings.add(one.place, reading)
        # A chain that others jump to sees a part of what came to them.
        came = one.chain.came if one.chain.base else most
        known = one.chain.counts and all(other.counts for other in reader.chains if other.base)
        offered[one.place] = max(came, one.packets) if known and came else None
    for place, reading in readings.counted():
        if packets := reading.counters["packets"]:
            yield Loss(
                place=place,
                cause="configuration",
                packets=packets,
                offered=offered[place],
                quote=reading.where,
            )


def _clean(reader: _Reader) -> Iterator[Remark]:
    """Rules that count, none of which dropped a packet."""
    worst = max(reader.chains, key=lambda one: one.came, default=None)
    if worst is not None and worst.quote is not None and worst.came and not reader.silent:
        quote = worst.quote
        text = f"no rule of the packet filter dropped any of {worst.came:,} packets"
        yield Remark(kind="clean", text=text, quote=quote)
