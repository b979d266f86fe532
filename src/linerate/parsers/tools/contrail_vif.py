"""Contrail's vRouter: `vif --list` and `vif --get N`, with or without `--core`.

A packet comes from the port, then goes over a queue to the lcore that forwards it: each of the two
has its own errors. `Drops` is a sum over all reasons, configured ones among them.
"""

import re
from collections.abc import Iterator

from linerate.model.evidence import Cause, Evidence, Loss, Port, Ring
from linerate.parsers.readings import Reading, Readings
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_VIF = re.compile(
    r"\s*(?P<name>vif\d{1,3}/\d{1,6})\s+(?P<kind>\w{1,20}): ?(?P<os>[\w./@:-]{0,40}).*"
)
_LCORES = re.compile(r"\s*(?P<way>RX|TX) queue errors to lcore(?P<errors>(?: \d{1,20}){1,128})\s*")
_ROW = re.compile(
    r"\s*(?P<way>RX|TX)(?: (?P<at>port|queue|device))?\s+packets: ?\d{1,20}\b.*"
    r"\berrors: ?\d{1,20}\b.*"
)
_PAIR = re.compile(r"\b(packets|bytes|errors|syscalls): ?(\d{1,20})")
_DROPS = re.compile(r"\s*Drops: ?(\d{1,20})\s*")
_PASSED = re.compile(r"\s*(?:Type:\w+ HWaddr:.*|Vrf:-?\d.*|Vlan Id: .*)")
#: Where errors are packets lost, and for what reason as far as it is known.
_LOSSES: tuple[tuple[str, Cause], ...] = (
    ("rx_port_errors", "other"),
    ("rx_queue_errors", "handoff-ring"),
    ("rx_errors", "other"),
    ("tx_errors", "other"),
    ("tx_queue_errors", "handoff-ring"),
    ("tx_port_errors", "tx-ring"),
)


@parser("Contrail vif")
def contrail_vif(text: Text) -> Evidence | None:
    """Read each interface; of two readings of one the difference counts."""
    if "vif" not in text.whole and "queue errors to lcore" not in text.whole:
        return None
    readings = Readings()
    kinds = _read(text, readings)
    counted = [(one, found) for one, found in readings.counted() if one]
    if not counted:
        return None
    return Evidence(
        ports=tuple(_port(name, kinds.get(name, ""), one) for name, one in counted),
        losses=tuple(loss for name, one in counted for loss in _losses(name, one)),
        rings=tuple(ring for name, one in counted for ring in _rings(name, one)),
    )


def _port(name: str, kind: str, one: Reading) -> Port:
    counters = one.counters
    received = counters.get("rx_port_packets", counters.get("rx_packets"))
    return Port(
        name=name,
        driver=kind,
        rx_packets=received,
        tx_packets=counters.get("tx_packets"),
        rx_bytes=counters.get("rx_bytes"),
        tx_bytes=counters.get("tx_bytes"),
        counters=counters,
        quote=one.where,
    )


def _losses(name: str, one: Reading) -> Iterator[Loss]:
    for counter, cause in _LOSSES:
        if packets := one.counters.get(counter):
            place, quote = f"{name}: {counter.replace('_', ' ')}", one.quotes[counter]
            yield Loss(place=place, cause=cause, packets=packets, quote=quote)


def _rings(name: str, one: Reading) -> Iterator[Ring]:
    """Queues to lcores: packets that found one full, and those that found room in any."""
    for way in ("rx", "tx"):
        full = {
            int(counter.partition("[")[2].rstrip("]")): packets
            for counter, packets in one.counters.items()
            if counter.startswith(f"{way}_errors_to[") and packets
        }
        if full:
            lcores = ", ".join(map(str, sorted(full)))
            yield Ring(
                source=f"{name} {way}",
                destination=f"lcore {lcores}",
                enqueued=one.counters.get(f"{way}_queue_packets", 0),
                dropped=sum(full.values()),
                quote=one.quotes[f"{way}_errors_to[{min(full)}]"],
            )


def _read(text: Text, readings: Readings) -> dict[str, str]:
    """Keep each interface's counters, and return their kinds."""
    name, reading, kinds = "", Reading(), dict[str, str]()
    for line in text.rows:
        if match := _VIF.fullmatch(line.text):
            readings.add(name, reading)
            name, reading = match["name"], Reading(quote=text.take(line))
            kinds[name] = match["os"] if match["kind"] == "PMD" else match["kind"]
        elif name:
            _of_interface(text, line, reading)
    readings.add(name, reading)
    return kinds


def _of_interface(text: Text, line: Line, reading: Reading) -> None:
    if lcores := _LCORES.fullmatch(line.text):
        quote = text.take(line)
        for lcore, digits in enumerate(lcores["errors"].split()):
            reading.note(f"{lcores['way'].lower()}_errors_to[{lcore}]", int(digits), quote)
    elif row := _ROW.fullmatch(line.text):
        quote, at = text.take(line), f"{row['at']}_" if row["at"] else ""
        for counter, digits in _PAIR.findall(line.text):
            reading.note(f"{row['way'].lower()}_{at}{counter}", int(digits), quote)
    elif drops := _DROPS.fullmatch(line.text):
        reading.note("drops", int(drops[1]), text.take(line))
    elif _PASSED.fullmatch(line.text):
        text.take(line)
