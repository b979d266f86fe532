"""`lspci -vv`: what a card's link can be, and what it is (pciutils, ls-caps.c)."""

import re

from linerate.model.evidence import Evidence, PcieLink, Quote
from linerate.parsers.pcie_links import LinkNotes, lanes_of, positive, speed, with_domain
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_DEVICE = re.compile(
    r"^\s*(?P<address>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[01][0-9a-f]\.[0-7])\s+"
    r"(?P<class>[A-Z][\w /,&()-]{2,60}?)(?:\s\[[0-9a-f]{4}\])?:\s",
    re.IGNORECASE,
)
_NETWORK = re.compile(r"^(?:Ethernet|Network|InfiniBand) controller$", re.IGNORECASE)
_LINK = r".*?Speed\s+" + speed("now") + r"(?:\s*\(\w+\))?,\s*Width\s+x(?P<lanes>\d{1,3})\b"
_CAPABLE = re.compile(r"^\s*LnkCap:" + _LINK)
_STATE = re.compile(r"^\s*LnkSta:" + _LINK)
_PAYLOAD = re.compile(r"^\s*(?:DevCtl:.*?\s)?MaxPayload\s+(?P<bytes>\d{2,4})\s+bytes,\s*MaxReadReq")
_DRIVER = re.compile(r"^\s*Kernel driver in use:\s*(?P<driver>[\w.-]+)")
#: Beginnings of details, where a paste lost the blanks before them.
_DETAIL = re.compile(
    r"^\s+\S|^(?:Subsystem|Control|Status|Latency|Interrupt|NUMA node|IOMMU group|Region \d+"
    r"|Expansion ROM at|Capabilities|DevCap2?|DevCtl2?|DevSta|LnkCap2?|LnkCtl2?|LnkSta2?"
    r"|Kernel (?:driver|modules)|MaxPayload|ExtTag|RlxdOrd|ClockPM|TrErr|Address|Vector table|PBA"
    r"|BAR=)\b"
)


_OF_LINK = re.compile(r"^\s*Lnk(?:Cap|Sta|Ctl)2?:\s")


@parser("lspci -vv")
def pcie_lspci(text: Text) -> Evidence | None:
    """Read the blocks of network devices; other devices' blocks are understood and left out."""
    links = []
    block: list[Line] = []
    taken = False
    for line in (*text, Line(0, "-")):
        if not line.text.strip():
            continue
        if _DEVICE.match(line.text) or not (block and _DETAIL.match(line.text)):
            if len(block) > 1:
                links += _link(text, block)
                taken = True
            block = [line] if _DEVICE.match(line.text) else []
        else:
            block.append(line)
    if not taken and (piece := [line for line in text.rows if _OF_LINK.match(line.text)]):
        # `lspci -vv -s ADDRESS | grep Lnk`: of one device.
        links, taken = _piece(text, piece), True
    return Evidence(pcie=tuple(links)) if taken else None


def _piece(text: Text, lines: list[Line]) -> list[PcieLink]:
    """Lines without their heading, where they can be of one device only."""
    quotes = [text.take(line) for line in lines]
    if sum(_STATE.match(line.text) is not None for line in lines) > 1:
        return []
    return _noted(LinkNotes("the card", quotes=[]), lines, quotes)


def _link(text: Text, block: list[Line]) -> list[PcieLink]:
    head = _DEVICE.match(block[0].text)
    quotes = [text.take(line) for line in block]
    if head is None or not _NETWORK.match(head["class"]):
        return []
    notes = LinkNotes(with_domain(head["address"].lower()), quotes=quotes[:1])
    return _noted(notes, block[1:], quotes[1:])


def _noted(notes: LinkNotes, lines: list[Line], quotes: list[Quote]) -> list[PcieLink]:
    for line, quote in zip(lines, quotes, strict=True):
        if match := _CAPABLE.match(line.text):
            notes.capable_gigatransfers = positive(match["now"])
            notes.capable_lanes = lanes_of(match["lanes"])
        elif match := _STATE.match(line.text):
            notes.gigatransfers = positive(match["now"])
            notes.lanes = lanes_of(match["lanes"])
        elif match := _PAYLOAD.match(line.text):
            notes.max_payload_bytes = int(match["bytes"])
        elif match := _DRIVER.match(line.text):
            notes.driver = match["driver"]
        else:
            continue
        notes.quotes.append(quote)
    link = notes.link()
    # A virtual card shows no link at all.
    return [link] if link.lanes or link.capable_lanes or link.max_payload_bytes else []
