"""PCIe lines of the kernel's log: what a card's link is, and what narrows it.

drivers/pci/pci.c (__pcie_print_link_status) prints the rate; drivers printed their own before.
"""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence
from linerate.parsers.pcie_links import ADDRESS, LinkNotes, lanes_of, positive, speed
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_DEVICE = re.compile(
    rf"(?:^|\s)(?P<driver>[\w.-]{{1,40}})\s+(?P<device>{ADDRESS})(?:\s[\w.@-]{{1,40}})?:\s+"
    r"(?P<message>\S.*)$",
    re.IGNORECASE,
)
_LINK = r"{speed}(?:\s+PCIe)?\s+x(?P<{lanes}>\d{{1,3}})\s+link"
_AVAILABLE = re.compile(
    r"^(?P<rate>\d{1,6}(?:\.\d+)?)\s*Gb/s\s+available\s+PCIe\s+bandwidth(?:,\s*limited\s+by\s+|\s*\()"
    + _LINK.format(speed=speed("now"), lanes="lanes")
    + rf"(?:\s+at\s+(?P<at>{ADDRESS}))?"
    + r"(?:\s*\(capable\s+of\s+(?P<capable>\d{1,6}(?:\.\d+)?)\s*Gb/s\s+with\s+"
    + _LINK.format(speed=speed("could"), lanes="could_lanes")
    + ")?",
    re.IGNORECASE,
)
#: ixgbe, igb, fm10k before Linux 4.18: `(Speed:5.0GT/s, Width: x4, Encoding Loss:20%)`.
_WIDTH = re.compile(
    r"^\(?Speed:\s*" + speed("now") + r",\s*Width:\s*x(?P<lanes>\d{1,3})\b", re.IGNORECASE
)
#: GT/s of data here: the encoding is taken off already.
_INTEL_RATE = re.compile(
    r"^PCI Express (?:bandwidth|throughput) of (?P<rate>\d{1,4})\s*GT/s available$", re.IGNORECASE
)
_INTEL_WANTED = re.compile(
    r"^For optimal performance, at least (?P<rate>\d{1,4})\s*GT/s of bandwidth is required",
    re.IGNORECASE,
)
_INTEL_SHORT = re.compile(
    r"^This is not sufficient for optimal performance of this card"
    r"|^A slot with more lanes and/or higher speed is suggested"
    r"|^PCI-Express bandwidth available for this card is not sufficient",
    re.IGNORECASE,
)
_PAYLOAD = re.compile(r"^Max\s+Payload\s+Size\s+set\s+to\s+(?P<bytes>\d{2,4})\b", re.IGNORECASE)
_CLASS = re.compile(
    r"^\[[0-9a-f]{4}:[0-9a-f]{4}\]\s+type\s+\d+\s+class\s+0x(?P<class>[0-9a-f]{2})[0-9a-f]{4}",
    re.IGNORECASE,
)
#: The PCI class of network controllers.
_NETWORK = "02"
#: Messages about a device before, or without, its driver.
_BUS = frozenset({"pci", "pcieport"})
#: Drivers of other things with a PCIe link worth printing.
_NO_NETWORK = frozenset(
    {"nvme", "ahci", "xhci_hcd", "nvidia", "nouveau", "amdgpu", "radeon", "i915", "mpt3sas"}
)


@dataclass(slots=True)
class _Device:
    notes: LinkNotes
    klass: str = ""
    has_link: bool = False
    #: A line for its driver's name alone, if no other says it.
    naming: Line | None = None
    lines: list[Line] = field(default_factory=list)

    @property
    def is_card(self) -> bool:
        if self.notes.driver in _NO_NETWORK:
            return False
        return self.klass == _NETWORK or (not self.klass and self.has_link)


@parser("PCIe lines of dmesg")
def pcie_kernel(text: Text) -> Evidence | None:
    """Read what the kernel says of each card's link."""
    devices: dict[str, _Device] = {}
    for line in text:
        match = _DEVICE.search(line.text)
        if match is None:
            continue
        address = match["device"].lower()
        device = devices.setdefault(address, _Device(LinkNotes(address)))
        understood = _understood(device, match["message"])
        if understood:
            device.lines.append(line)
        if match["driver"] not in _BUS and not device.notes.driver:
            device.notes.driver = match["driver"]
            device.naming = None if understood else line
    links = []
    for device in devices.values():
        if not device.lines:
            continue
        # The link of another device is understood, but says nothing about the network.
        quotes = [text.take(line) for line in device.lines]
        if device.is_card:
            if device.naming is not None:
                quotes.append(text.take(device.naming))
            device.notes.quotes = sorted(quotes, key=lambda quote: quote.line)
            links.append(device.notes.link())
    return Evidence(pcie=tuple(links)) if links else None


def _understood(device: _Device, message: str) -> bool:
    notes = device.notes
    if match := _AVAILABLE.match(message):
        notes.data_bps = positive_bps(match["rate"])
        notes.gigatransfers, notes.lanes = positive(match["now"]), lanes_of(match["lanes"])
        if match["capable"] is None:
            notes.capable_gigatransfers, notes.capable_lanes = notes.gigatransfers, notes.lanes
            notes.capable_bps = notes.data_bps
        else:
            notes.capable_bps = positive_bps(match["capable"])
            notes.capable_gigatransfers = positive(match["could"])
            notes.capable_lanes = lanes_of(match["could_lanes"])
        notes.limited_at = (match["at"] or "").lower()
        device.has_link = True
    elif match := _WIDTH.match(message):
        notes.gigatransfers, notes.lanes = positive(match["now"]), lanes_of(match["lanes"])
        device.has_link = True
    elif match := _INTEL_RATE.match(message):
        notes.data_bps = positive_bps(match["rate"])
    elif match := _INTEL_WANTED.match(message):
        notes.capable_bps = positive_bps(match["rate"])
    elif match := _PAYLOAD.match(message):
        notes.max_payload_bytes = int(match["bytes"])
    elif match := _CLASS.match(message):
        device.klass = match["class"]
    else:
        return _INTEL_SHORT.match(message) is not None
    return True


def positive_bps(gigabits: str) -> float | None:
    """Read a rate in Gb/s; None for 0, which stands for `Unknown`."""
    value = positive(gigabits)
    return None if value is None else round(value * 1000) * 1e6
