"""exanic-config: the ports of an ExaNIC, their links and counters."""

import re
from dataclasses import dataclass, field

from linerate.model.evidence import Cause, Evidence, Loss, Port
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_DEVICE = re.compile(r"\s*Device (?P<name>exanic\d{1,3}):\s*")
_PORT = re.compile(r"\s*Port (?P<number>\d{1,3}):\s*")
_INTERFACE = re.compile(r"\s*Interface: (?P<name>[\w.-]{1,40})\s*")
_SPEED = re.compile(r"\s*Port speed: (?P<mbps>\d{1,7}) Mbps\s*")
_STATUS = re.compile(r"\s*Port status: enabled.*\b(?P<no>no )?link(?: active)?\s*")
_COUNTS = re.compile(r"\s*(?P<way>RX|TX) packets: \d{1,20}\b.*")
_PAIR = re.compile(r"(packets|ignored|error|dropped): (\d{1,20})")
#: Ignored frames are those that no one on this host wants.
_LOSSES: tuple[tuple[str, Cause], ...] = (("rx_dropped", "other"), ("rx_error", "damaged"))


@dataclass(slots=True)
class _Facts:
    """Links, by name of a port."""

    speeds: dict[str, int] = field(default_factory=dict)
    up: dict[str, bool] = field(default_factory=dict)


@parser("exanic-config")
def exanic_config(text: Text) -> Evidence | None:
    """Read each port; of two readings of one the difference counts."""
    if "exanic" not in text.whole and "ignored: " not in text.whole:
        return None
    readings = Readings()
    facts = _read(text, readings)
    counted = [(port_name, one) for port_name, one in readings.counted() if port_name]
    if not counted:
        return None
    return Evidence(
        ports=tuple(
            Port(
                name=port_name,
                up=facts.up.get(port_name),
                driver="exanic",
                link_bps=facts.speeds.get(port_name),
                rx_packets=one.counters.get("rx_packets"),
                tx_packets=one.counters.get("tx_packets"),
                counters=one.counters,
                quote=one.where,
            )
            for port_name, one in counted
        ),
        losses=tuple(
            Loss(
                place=f"{port_name}: {counter}",
                cause=cause,
                packets=one.counters[counter],
                quote=one.quotes[counter],
            )
            for port_name, one in counted
            for counter, cause in _LOSSES
            if one.counters.get(counter)
        ),
    )


def _read(text: Text, readings: Readings) -> _Facts:
    facts, name, reading = _Facts(), "", Reading()
    for line in text.rows:
        port = _PORT.fullmatch(line.text)
        if port is not None or _DEVICE.fullmatch(line.text):
            readings.add(name, reading)
            name = "" if port is None else f"port {port['number']}"
            reading = Reading(quote=text.take(line))
        elif name and (match := _INTERFACE.fullmatch(line.text)):
            text.take(line)
            name = match["name"]
        elif name and (counts := _COUNTS.fullmatch(line.text)):
            quote = text.take(line)
            for counter, digits in _PAIR.findall(line.text):
                reading.note(f"{counts['way'].lower()}_{counter}", int(digits), quote)
        elif name:
            _link(text, line, name, facts)
    readings.add(name, reading)
    return facts


def _link(text: Text, line: Line, name: str, facts: _Facts) -> None:
    if speed := _SPEED.fullmatch(line.text):
        text.take(line)
        facts.speeds[name] = int(speed["mbps"]) * 1_000_000
    elif status := _STATUS.fullmatch(line.text):
        text.take(line)
        facts.up[name] = status["no"] is None
