"""`ethtool` and its `-l`, `-g`, `-a`, `-k`, `-i`: what a card is set to, and what it could be."""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Port, Quote
from linerate.parsers.text import ROW_MAX_CHARS, Line, Text
from linerate.parsers.tools import parser

_HEADING = re.compile(
    r"^\s*(?P<what>Channel parameters|Ring parameters|Pause parameters|Settings|Features|Coalesce"
    r" parameters) for (?P<port>[\w.@:-]{1,40}?):\s*$"
)
_DRIVER_COMMAND = re.compile(r"\bethtool\s{1,8}(?:-i|--driver)\s{1,8}(?P<port>[\w.@-]{1,40})")
_ROW = re.compile(r"^\s*(?P<name>[A-Za-z][\w /().-]{0,60}?)\s*:\s*(?P<value>\S.{0,200}|)$")
_MAXIMUMS, _CURRENT = "pre-set maximums", "current hardware settings"
#: They stand under each other.
_LINK_MODES = re.compile(r"^\s*\d{2,6}base")
_NUMBER = re.compile(r"(\d{1,9})(?:\s|$)", re.ASCII)
_SPEED = re.compile(r"(\d{1,9})\s*Mb/s")
_FLAGS = {"on": 1, "off": 0}
_MAXIMUM = " maximum"


@dataclass(slots=True)
class _Card:
    """Settings of one interface."""

    quote: Quote
    figures: dict[str, int] = field(default_factory=dict)
    up: bool | None = None
    driver: str = ""
    device: str = ""

    def port(self, name: str) -> Port:
        queues = {way: self._queues(way) for way in ("rx", "tx")}
        speed = self.figures.get("speed Mb/s")
        return Port(
            name=name,
            up=self.up,
            driver=self.driver,
            device=self.device,
            link_bps=speed * 1_000_000 if speed else None,
            rx_queues=queues["rx"],
            tx_queues=queues["tx"],
            rx_descriptors=self.figures.get("rx descriptors"),
            tx_descriptors=self.figures.get("tx descriptors"),
            counters=self.figures,
            quote=self.quote,
        )

    def _queues(self, way: str) -> int | None:
        found = self.figures.get(f"{way} queues", 0) + self.figures.get("combined queues", 0)
        return found or None


@dataclass(slots=True)
class _Sections:
    """All cards of a text, and the section in which a line stands."""

    text: Text
    cards: dict[str, _Card] = field(default_factory=dict)
    section: str = ""
    port: str = ""
    #: Names of its rows so far.
    seen: set[str] = field(default_factory=set)
    #: Interface of a typed `ethtool -i`.
    asked: str = ""

    def line(self, line: Line) -> None:
        """Understand one line, or end the section."""
        if command := _DRIVER_COMMAND.search(line.text):
            self.asked, self.section = command["port"], ""
        elif line.typed:
            self.section = ""
        elif heading := _HEADING.match(line.text):
            self._begin(line, heading["what"].split()[0], heading["port"])
        elif row := _ROW.match(line.text):
            self._row(line, row["name"].lower(), row["value"].strip())
        elif not (self.section == "Settings" and _LINK_MODES.match(line.text)):
            self.section = ""

    def _begin(self, line: Line, section: str, port: str) -> None:
        self.section, self.port, self.seen = section, port, set()
        self.cards.setdefault(port, _Card(self.text.take(line)))

    def _row(self, line: Line, name: str, value: str) -> None:
        if not self.section and name == "driver" and value:
            self._begin(line, "driver", self.asked or f"driver {value}")
            self.cards[self.port].driver = value
            self.asked = ""
        elif self.section and name in (_MAXIMUMS, _CURRENT):
            self.seen.add(name)
            self.text.take(line)
        elif self.section and _set(self.cards[self.port], self.section, name, value, self.seen):
            self.text.take(line)


@parser("ethtool settings")
def ethtool_settings(text: Text) -> Evidence | None:
    """Read queues, ring sizes, speed, driver; the maximum stands beside the other counters."""
    whole = text.whole
    if " for " not in whole and "driver:" not in whole:
        return None
    sections = _Sections(text)
    for line in text:
        if line.text.strip() and len(line.text) <= ROW_MAX_CHARS:
            sections.line(line)
    ports = [
        card.port(name) for name, card in sections.cards.items() if card.figures or card.driver
    ]
    return Evidence(ports=tuple(ports)) if ports else None


def _set(card: _Card, section: str, name: str, value: str, seen: set[str]) -> bool:
    """Keep a setting; whether the row belongs to the section."""
    if section in ("Channel", "Ring"):
        # Maxima come first; `grep` may have left out what stands between.
        maximum = _CURRENT not in seen and name not in seen
        seen.add(name)
        unit = "queues" if section == "Channel" else "descriptors"
        if number := _NUMBER.match(value):
            card.figures[f"{name} {unit}{_MAXIMUM if maximum else ''}"] = int(number[1])
        return True
    if section == "driver":
        if name == "bus-info":
            card.device = value
        return name in ("version", "firmware-version", "bus-info", "expansion-rom-version") or (
            name.startswith("supports-")
        )
    if section == "Settings":
        if speed := _SPEED.match(value):
            card.figures["speed Mb/s"] = int(speed[1])
        if name == "link detected":
            card.up = value.startswith("yes")
        return True
    flag = _FLAGS.get(value.split(" ", maxsplit=1)[0])
    if flag is not None:
        card.figures[name] = flag
    return flag is not None or section == "Coalesce"
