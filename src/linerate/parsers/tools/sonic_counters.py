"""SONiC: `show interfaces counters`, a line an interface.

An interface's drops are discards of any reason: an ACL, a full queue, no buffer.
"""

import re
from collections.abc import Iterator

from linerate.model.evidence import Cause, Evidence, Loss, Port, Quote
from linerate.parsers.numbers import count, number
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_HEAD = re.compile(r"\s*IFACE\s+STATE\s+(?P<names>RX_OK\s.*)")
_ROW = re.compile(
    r"\s*(?P<name>(?:Ethernet|PortChannel)[\w/-]{1,20})\s+(?P<state>[UDX])\s+(?P<cells>\S.*)"
)
_CELL = re.compile(r"[\d.,]{1,26} [KMG]?B/s|[\d.,]{1,26}/s|[\d.,]{1,26}%|[\d,]{1,26}|N/A")
#: RX_OVR and TX_OVR are frames that are too long.
_LOSSES: tuple[tuple[str, Cause], ...] = (
    ("rx_err", "damaged"),
    ("rx_drp", "other"),
    ("tx_err", "other"),
    ("tx_drp", "other"),
)


@parser("SONiC interface counters")
def sonic_counters(text: Text) -> Evidence | None:
    """Read each interface; a later table replaces an earlier one."""
    if "RX_OK" not in text.whole:
        return None
    names: list[str] = []
    ports: dict[str, Port] = {}
    for line in text.rows:
        if head := _HEAD.fullmatch(line.text):
            names = head["names"].lower().split()
            text.take(line)
        elif names and (row := _ROW.fullmatch(line.text)):
            cells = dict(zip(names, _CELL.findall(row["cells"]), strict=False))
            if len(cells) == len(names):
                ports[row["name"]] = _port(row["name"], row["state"], cells, text.take(line))
    if not ports:
        return None
    return Evidence(
        ports=tuple(ports.values()),
        losses=tuple(loss for port in ports.values() for loss in _losses(port)),
    )


def _port(name: str, state: str, cells: dict[str, str], quote: Quote) -> Port:
    counters = {key: value for key, cell in cells.items() if (value := count(cell)) is not None}
    used = [
        percent
        for way in ("rx_util", "tx_util")
        if (percent := number(cells.get(way, "").removesuffix("%") or "-")) is not None
    ]
    return Port(
        name=name,
        up={"U": True, "D": False}.get(state),
        rx_packets=counters.get("rx_ok"),
        tx_packets=counters.get("tx_ok"),
        line_percent=max(used, default=None),
        counters=counters,
        quote=quote,
    )


def _losses(port: Port) -> Iterator[Loss]:
    for counter, cause in _LOSSES:
        if packets := port.counters.get(counter):
            place = f"{port.name}: {counter.upper()}"
            yield Loss(place=place, cause=cause, packets=packets, quote=port.quote)
