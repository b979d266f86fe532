"""/sys/class/net/PORT/statistics: a file a counter, by `cat` or `grep`."""

import re
from collections.abc import Iterator

from linerate.model.evidence import Evidence, Loss
from linerate.parsers import driver_counters
from linerate.parsers.readings import Reading, Readings, port_with
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_PATH = (
    r"/sys/class/net/(?P<port>[\w.@-]{1,40})/statistics/"
    r"(?P<name>[rt]x_[a-z_]{2,30}|multicast|collisions)"
)
_GREPPED = re.compile(rf"\s*{_PATH}:\s*(?P<value>\d{{1,20}})\s*", re.ASCII)
_TYPED = re.compile(rf".*\bcat\s+{_PATH}\s*")
_VALUE = re.compile(r"\s*(?P<value>\d{1,20})\s*", re.ASCII)


@parser("/sys/class/net statistics")
def sysfs_statistics(text: Text) -> Evidence | None:
    """Read each counter; of several readings of one the difference counts."""
    if "/statistics/" not in text.whole:
        return None
    readings = Readings()
    current: dict[str, Reading] = {}
    asked: re.Match[str] | None = None
    for line in text.rows_and_commands:
        found = None if line.typed else _GREPPED.fullmatch(line.text)
        plain = _VALUE.fullmatch(line.text) if asked is not None and not line.typed else None
        named = found or (asked if plain is not None else None)
        if named is not None:
            value = int((found or plain or named)["value"])
            reading = current.setdefault(named["port"], Reading())
            if named["name"] in reading.counters:
                readings.add(named["port"], reading)
                reading = current[named["port"]] = Reading()
            reading.note(named["name"], value, text.take(line))
        asked = _TYPED.fullmatch(line.text) if line.typed else None
    for port, reading in current.items():
        readings.add(port, reading)
    if not readings:
        return None
    counted = readings.counted()
    return Evidence(
        ports=tuple(port_with(port, reading) for port, reading in counted),
        losses=tuple(loss for port, reading in counted for loss in _losses(port, reading)),
    )


def _losses(port: str, reading: Reading) -> Iterator[Loss]:
    for one in driver_counters.lost(reading.counters):
        yield Loss(
            place=f"{port}: {one.name}",
            cause=one.cause,
            packets=one.packets,
            quote=reading.quotes[one.name],
        )
