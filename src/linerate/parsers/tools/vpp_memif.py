"""VPP's `show memif` (plugins/memif/cli.c): rings of shared memory instead of a card."""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Port, Quote
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_INTERFACE = re.compile(r"\s*interface (?P<name>[A-Za-z]\S*)\s*")
#: Without these below it, `interface X` is a line of anything.
_SOCKET = re.compile(r"\s*socket-id \d+ id \d+ mode \S.*")
_FLAGS = re.compile(r"\s*flags (?P<flags>admin-\S+.*|[a-z -]*connect\S*.*)")
_RING = re.compile(r"\s*(?P<way>slave-to-master|master-to-slave) ring \d{1,5}:\s*")
_SIZE = re.compile(r"\s*region \d+ offset \d+ ring-size (?P<size>\d{1,9})\b.*")
_OTHER = re.compile(
    r"\s*(?:remote-name \".*\"|remote-interface \".*\"|listener-fd .*|num-s2m-rings .*"
    r"|region \d+ size .*|head \d+ tail \d+ flags .*|local-disc-reason .*|remote-disc-reason .*)"
)


@dataclass(slots=True)
class _Memif:
    quote: Quote
    is_slave: bool = False
    up: bool | None = None
    #: By direction, the ring's slots.
    sizes: dict[str, list[int]] = field(default_factory=dict)
    way: str = ""

    def port(self, name: str) -> Port:
        ways = ["slave-to-master", "master-to-slave"]
        rx, tx = (self.sizes.get(way, []) for way in (reversed(ways) if self.is_slave else ways))
        return Port(
            name=name,
            driver="memif",
            up=self.up,
            rx_queues=len(rx) or None,
            tx_queues=len(tx) or None,
            rx_descriptors=min(rx, default=None),
            tx_descriptors=min(tx, default=None),
            quote=self.quote,
        )


@parser("VPP show memif")
def memif(text: Text) -> Evidence | None:
    """Read the rings of each interface."""
    found: dict[str, _Memif] = {}
    head: tuple[Line, str] | None = None
    current: _Memif | None = None
    for line in text.rows:
        if match := _INTERFACE.fullmatch(line.text):
            head, current = (line, match["name"]), None
        elif head is not None and _SOCKET.fullmatch(line.text):
            current = found[head[1]] = _Memif(text.take(head[0]))
            text.take(line)
            head = None
        elif current is not None and _detail(current, line):
            text.take(line)
    ports = tuple(one.port(name) for name, one in found.items() if one.sizes or one.up is not None)
    return Evidence(ports=ports) if ports else None


def _detail(memif: _Memif, line: Line) -> bool:
    if match := _FLAGS.fullmatch(line.text):
        flags = match["flags"].split()
        memif.is_slave, memif.up = "slave" in flags, "connected" in flags
    elif match := _RING.fullmatch(line.text):
        memif.way = match["way"]
    elif match := _SIZE.fullmatch(line.text):
        memif.sizes.setdefault(memif.way, []).append(int(match["size"]))
    else:
        return _OTHER.fullmatch(line.text) is not None
    return True
