"""Juniper RIOT's `port-extended-stats`: what each I/O core took in and gave out."""

import re
from typing import Literal

from linerate.model.evidence import Evidence, Loss, Port, Quote
from linerate.parsers.numbers import COUNT, counts
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

#: More misses than this for each packet that came in are no count of packets: a line of
#: 100 Gbit/s has 148.8 Mpps, a core that polls it takes more than a thousandth of that.
MISSES_PER_PACKET_MAX = 1000

_HEAD = re.compile(
    r"\s*lcore_id\s+pkts_in\s+rx-rate\s+rx_misses\s+pkts_out\s+tx-rate\s+tx_misses\s*"
)
_TITLE = re.compile(r"\s*(?:#*\s*Absolute Statistics|IO Lcore Statistics\s*\(\d+ sec\):)\s*")
_TOTAL = re.compile(rf"\s*Total\s+Rx:\s*(?:{COUNT})\s+Tx:\s*(?:{COUNT})\s*")
_ROW = re.compile(rf"\s*(?:{COUNT})(?:\s+(?:{COUNT})){{6}}\s*")


@parser("Juniper RIOT port-extended-stats")
def io_cores(text: Text) -> Evidence | None:
    """Read each I/O core's counters. Bare numbers are read below their head only."""
    ports: list[Port] = []
    losses: list[Loss] = []
    doubts: list[Quote] = []
    in_table = False
    for line in text.rows:
        if _HEAD.fullmatch(line.text):
            in_table = True
            text.take(line)
            continue
        if _TITLE.fullmatch(line.text) or (in_table and _TOTAL.fullmatch(line.text)):
            text.take(line)
            continue
        values = counts(line.text.split()) if in_table and _ROW.fullmatch(line.text) else None
        if values is None:
            in_table = False
            continue
        core, came_in, rx_rate, rx_misses, went_out, tx_rate, tx_misses = values
        quote = text.take(line)
        counters = {"rx-rate": rx_rate, "tx-rate": tx_rate}
        missed: tuple[tuple[str, int, int, Literal["rx-ring", "tx-ring"]], ...] = (
            ("rx_misses", rx_misses, came_in, "rx-ring"),
            ("tx_misses", tx_misses, went_out, "tx-ring"),
        )
        for name, misses, passed, cause in missed:
            if misses > MISSES_PER_PACKET_MAX * max(passed, 1):
                doubts.append(quote.model_copy(update={"text": _doubt(name, misses, passed)}))
                continue
            counters[name] = misses
            if misses:
                place = f"io lcore {core}: {name}"
                losses.append(Loss(place=place, cause=cause, packets=misses, quote=quote))
        ports.append(
            Port(
                name=f"io lcore {core}",
                rx_packets=came_in,
                tx_packets=went_out,
                counters=counters,
                quote=quote,
            )
        )
    if not ports:
        return None
    return Evidence(ports=tuple(ports), losses=tuple(losses), doubts=tuple(doubts))


def _doubt(name: str, misses: int, passed: int) -> str:
    times = f"{misses / passed:,.0f} times" if passed else "beside"
    return f"{name} {misses:,} can't be lost packets: it is {times} the {passed:,} that passed"
