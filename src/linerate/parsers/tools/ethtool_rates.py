"""ethtool_stats.pl of the kernel lists: what a card's counters gained in a second.

`Ethtool(mlx5p1  ) stat:     14804736 (     14,804,736) <= rx_packets /sec`
"""

import re
from collections.abc import Iterator

from linerate.model.evidence import Evidence, Loss, Port
from linerate.parsers import driver_counters
from linerate.parsers.numbers import COUNT, count
from linerate.parsers.readings import Reading
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser
from linerate.parsers.tools.ethtool_stats import port_of

_ROW = re.compile(
    rf"^\s*(?:Ethtool\s?\((?P<port>[\w.@:-]{{1,40}})\s*\)\s*)?stat:\s*(?:{COUNT})\s*"
    rf"\(\s*(?P<rate>{COUNT})\s*\)\s*<=\s*(?P<name>[\w.\[\]-]{{1,80}})\s*/sec\s*$",
    re.IGNORECASE,
)
_UNNAMED = "NIC"


@parser("ethtool_stats.pl")
def ethtool_rates(text: Text) -> Evidence | None:
    """Read the rates of each card; of several screens the last one counts."""
    if "/sec" not in text.whole:
        return None
    cards: dict[str, Reading] = {}
    for lines in _wrapped(text.rows):
        row = _ROW.match(" ".join(line.text.strip() for line in lines))
        rate = count(row["rate"]) if row else None
        if row is None or rate is None:
            continue
        quote, *_ = [text.take(line) for line in lines]
        name = row["port"] or _UNNAMED
        if row["name"] in cards.setdefault(name, Reading()).counters:
            cards[name] = Reading()
        cards[name].note(row["name"], rate, quote)
    if not cards:
        return None
    return Evidence(
        ports=tuple(_port(name, reading) for name, reading in cards.items()),
        losses=tuple(loss for name, reading in cards.items() for loss in _losses(name, reading)),
    )


def _wrapped(rows: list[Line]) -> Iterator[list[Line]]:
    """Rows of statistics, put together where a mail program broke them."""
    for at, line in enumerate(rows):
        if "stat:" not in line.text:
            continue
        if "/sec" in line.text or at + 1 == len(rows):
            yield [line]
        else:
            yield rows[at : at + 2]


def _port(name: str, reading: Reading) -> Port:
    # A second's worth of packets, like the losses.
    port = port_of(name, reading)
    return port.model_copy(update={"rx_pps": port.rx_packets, "tx_pps": port.tx_packets})


def _losses(name: str, reading: Reading) -> list[Loss]:
    return [
        Loss(
            place=f"{name}: {lost.name}, in a second",
            cause=lost.cause,
            packets=lost.packets,
            quote=reading.quotes[lost.name],
        )
        for lost in driver_counters.lost(reading.counters)
    ]
