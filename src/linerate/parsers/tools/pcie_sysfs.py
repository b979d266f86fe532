"""PCIe links from sysfs: `grep . /sys/bus/pci/devices/*/{current,max}_link_{speed,width}`.

Documentation/ABI/testing/sysfs-bus-pci. What `head` prints and paths by interface
(`/sys/class/net/eth0/device/`) are understood too: then its name stands for the address.
"""

import re

from linerate.model.evidence import Evidence
from linerate.parsers.pcie_links import ADDRESS, LinkNotes, lanes_of, positive
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_FILE = (
    rf"(?:(?P<address>{ADDRESS})|/net/(?P<interface>[\w.@-]{{1,40}})/device)"
    r"/(?P<which>current|max)_link_(?P<what>speed|width)"
)
_PAIR = re.compile(rf"{_FILE}:\s*(?P<value>\S.*)$", re.IGNORECASE)
_HEAD = re.compile(rf"{_FILE}\s*<==\s*$", re.IGNORECASE)
_SPEED = re.compile(r"^(\d{1,3}(?:\.\d+)?)\s*GT/s(?:\s+PCIe)?$")
_WIDTH = re.compile(r"^x?(\d{1,3})$", re.ASCII)
_FIELDS = {
    ("current", "speed"): "gigatransfers",
    ("current", "width"): "lanes",
    ("max", "speed"): "capable_gigatransfers",
    ("max", "width"): "capable_lanes",
}


@parser("PCIe links in sysfs")
def pcie_sysfs(text: Text) -> Evidence | None:
    """Read speed and width of each device's link."""
    devices: dict[str, LinkNotes] = {}
    head: tuple[Line, re.Match[str]] | None = None
    for line in text:
        if match := _PAIR.search(line.text):
            _note(devices, match, match["value"].strip(), text, (line,))
        elif head is not None and line.text.strip():
            _note(devices, head[1], line.text.strip(), text, (head[0], line))
        heading = _HEAD.search(line.text)
        head = None if heading is None else (line, heading)
    links = tuple(notes.link() for notes in devices.values())
    return Evidence(pcie=links) if links else None


def _note(
    devices: dict[str, LinkNotes],
    file: re.Match[str],
    value: str,
    text: Text,
    lines: tuple[Line, ...],
) -> None:
    what = file["what"].lower()
    match = (_SPEED if what == "speed" else _WIDTH).match(value)
    # `Unknown` and 255 lanes are what sysfs says of a device without a link.
    if match is None and value != "Unknown":
        return
    device = (file["address"] or "").lower() or file["interface"]
    quotes = [text.take(line) for line in lines]
    figure = None
    if match is not None:
        figure = positive(match[1]) if what == "speed" else lanes_of(match[1])
    if figure is None:
        return
    notes = devices.setdefault(device, LinkNotes(device))
    setattr(notes, _FIELDS[file["which"].lower(), what], figure)
    notes.quotes += quotes
