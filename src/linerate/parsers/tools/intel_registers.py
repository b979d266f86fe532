"""Statistics registers of Intel's cards by their own names, as Snabb and others dump them."""

import re

from linerate.model.evidence import Evidence, Loss, Port, Quote
from linerate.parsers.numbers import COUNT, count
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_ROW = re.compile(
    rf"\s*(?P<value>{COUNT})\s+(?P<name>[A-Z][A-Z0-9]{{2,8}})\s+"
    r"[A-Z][A-Za-z0-9 \[\]()/>=,-]{4,80}"
)
#: With fewer of them it may be another list.
_KNOWN = frozenset(("GPRC", "GPTC", "TPR", "TPT", "MPC", "GORCL", "GOTCL", "RNBC", "CRCERRS"))
_KNOWN_MIN = 3


@parser("Intel registers")
def intel_registers(text: Text) -> Evidence | None:
    """Read one card. RNBC is no loss: the frame may still have waited in the card."""
    counters: dict[str, int] = {}
    quotes: dict[str, Quote] = {}
    rows = [(line, match) for line in text.rows if (match := _ROW.fullmatch(line.text))]
    if len(_KNOWN & {match["name"] for _, match in rows}) < _KNOWN_MIN:
        return None
    for line, match in rows:
        value = count(match["value"])
        if value is not None:
            counters[match["name"]] = value
            quotes[match["name"]] = text.take(line)
    quote = next(iter(quotes.values()))
    losses = [
        Loss(place=f"NIC: {name}", cause=cause, packets=counters[name], quote=quotes[name])
        for name, cause in (("MPC", "rx-ring"), ("CRCERRS", "damaged"))
        if counters.get(name)
    ]
    port = Port(
        name="NIC",
        rx_packets=counters.get("GPRC"),
        tx_packets=counters.get("GPTC"),
        counters=counters,
        quote=quote,
    )
    return Evidence(ports=(port,), losses=tuple(losses))
