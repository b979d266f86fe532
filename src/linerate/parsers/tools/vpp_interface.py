"""VPP's `show interface` (vnet/interface_format.c)."""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Loss, Port, Quote
from linerate.model.loss_causes import cause_of
from linerate.parsers.numbers import COUNT, count
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_HEAD = re.compile(r"\s*Name\s+Idx\s+State(?:\s+MTU \(L3/IP4/IP6/MPLS\))?\s+Counter\s+Count\s*")
_COUNTER = (
    r"(?:rx|tx) (?:packets|bytes)|(?:rx|tx) (?:unicast|multicast|broadcast)(?: (?:packets|bytes))?"
    r"|rx-miss|rx-no-buf|(?:rx|tx)-error|drops?|punts?|ip4|ip6|mpls"
)
_SAID = re.compile(rf"\s*(?P<counter>{_COUNTER})\s+(?P<count>{COUNT})\s*")
#: Versions before 18.07 have no MTU.
_ROW = re.compile(
    r"\s*(?P<name>[A-Za-z]\S*)\s+\d{1,6}\s+(?P<state>up|down|error)"
    r"(?P<mtu>\s+\d+(?:/\d+){0,3})?"
    rf"(?:\s+(?P<counter>{_COUNTER})\s+(?P<count>{COUNT}))?\s*"
)
#: Without a row before it, words that no other tool uses so.
_SURE = re.compile(r"(?:rx|tx) (?:packets|bytes)\s.*|rx-miss\s.*|rx-no-buf\s.*|tx-error\s.*")
#: Losses in the card or its driver, not drops in the graph: those are in `show errors`.
LOSSES = ("rx-miss", "rx-no-buf", "tx-error")


@dataclass(slots=True)
class _Interface:
    name: str
    up: bool | None
    quote: Quote
    counters: dict[str, int] = field(default_factory=dict)
    quotes: dict[str, Quote] = field(default_factory=dict)

    def port(self) -> Port:
        main = {"rx packets", "tx packets", "rx bytes", "tx bytes"}
        return Port(
            name=self.name,
            up=self.up,
            rx_packets=self.counters.get("rx packets"),
            tx_packets=self.counters.get("tx packets"),
            rx_bytes=self.counters.get("rx bytes"),
            tx_bytes=self.counters.get("tx bytes"),
            counters={name: value for name, value in self.counters.items() if name not in main},
            quote=self.quote,
        )

    def losses(self) -> list[Loss]:
        return [
            Loss(
                place=f"{self.name}: {name}",
                cause=cause_of(name),
                packets=self.counters[name],
                quote=self.quotes[name],
            )
            for name in LOSSES
            if self.counters.get(name)
        ]


@parser("VPP show interface")
def interfaces(text: Text) -> Evidence | None:
    """Read each interface; its counters stand on its own line and on those below."""
    found: list[_Interface] = []
    is_own = False
    headed = False
    for line in text.rows:
        if _HEAD.fullmatch(line.text):
            headed, is_own = True, False
            text.take(line)
        elif (match := _ROW.fullmatch(line.text)) and (headed or match["mtu"] or match["counter"]):
            is_own = _start(found, text, line, match)
        elif (
            not found
            and (match := _SAID.fullmatch(line.text))
            and _SURE.fullmatch(match[0].strip())
        ):
            # The row with its name is cut off.
            found.append(_Interface("interface", None, text.take(line)))
            is_own = True
            _add(found[-1], match["counter"], count(match["count"]) or 0, found[-1].quote)
        elif is_own and (match := _SAID.fullmatch(line.text)):
            value = count(match["count"])
            if value is not None:
                _add(found[-1], match["counter"], value, text.take(line))
        else:
            headed = is_own = False
    if not found:
        return None
    return Evidence(
        ports=tuple(one.port() for one in found),
        losses=tuple(loss for one in found for loss in one.losses()),
    )


def _start(found: list[_Interface], text: Text, line: Line, match: re.Match[str]) -> bool:
    value = count(match["count"]) if match["count"] else None
    if match["count"] and value is None:
        return False
    quote = text.take(line)
    found.append(_Interface(match["name"], match["state"] == "up", quote))
    if value is not None:
        _add(found[-1], match["counter"], value, quote)
    return True


def _add(interface: _Interface, counter: str, value: int, quote: Quote) -> None:
    interface.counters[counter] = value
    interface.quotes[counter] = quote
