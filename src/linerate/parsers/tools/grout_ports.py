"""grout's ports: `grcli interface stats`, and its cards' counters (`stats show hardware`)."""

from collections.abc import Iterator

from linerate.model.evidence import Cause, Evidence, Loss, Port
from linerate.parsers import grout_tables as grout
from linerate.parsers.dpdk_counters import losses_of, port_of
from linerate.parsers.readings import Reading, Readings, port_with
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

#: An interface's own counters; its card's say more of the same losses.
_LOSSES: tuple[tuple[str, Cause], ...] = (("rx_drops", "other"), ("tx_errors", "tx-ring"))
#: Interfaces that are no ports: of a VRF, of the kernel.
_MAIN = ("main", "gr-vrf")


@parser("grout interfaces")
def grout_ports(text: Text) -> Evidence | None:
    """Read each interface; of several readings of a card the difference counts."""
    if "RX_PACKETS" not in text.whole and "_packets" not in text.whole:
        return None
    lines = [line.text for line in text.lines]
    cards = _cards(text)
    interfaces = grout.table(lines, grout.INTERFACE_NAMES)
    ports: list[Port] = []
    losses: list[Loss] = []
    for name, (row, at) in interfaces.items():
        if not {"RX_PACKETS", "TX_PACKETS"} <= row.keys() or name.startswith(_MAIN):
            continue
        reading = Reading()
        quote = text.take(text.lines[at - 1])
        for counter, value in row.items():
            reading.note(counter.lower(), int(value), quote)
        ports.append(port_with(name, reading))
        if name not in cards:
            losses += _losses(name, reading)
    for name, card in cards.counted():
        known = {port.name for port in ports}
        ports += [port_of(name, card)] if name not in known else []
        losses += losses_of(name, card)
    return Evidence(ports=tuple(ports), losses=tuple(losses)) if ports else None


def _cards(text: Text) -> Readings:
    readings, current = Readings(), dict[str, Reading]()
    for line in text.rows:
        match = grout.CARD.fullmatch(line.text)
        if match is None:
            continue
        name, counter, value = match.groups()
        reading = current.setdefault(name, Reading())
        if counter in reading.counters:
            readings.add(name, reading)
            reading = current[name] = Reading()
        reading.note(counter, int(value), text.take(line))
    for name, reading in current.items():
        readings.add(name, reading)
    return readings


def _losses(name: str, reading: Reading) -> Iterator[Loss]:
    for counter, cause in _LOSSES:
        if packets := reading.counters.get(counter):
            place, quote = f"{name}: {counter}", reading.quotes[counter]
            yield Loss(place=place, cause=cause, packets=packets, quote=quote)
