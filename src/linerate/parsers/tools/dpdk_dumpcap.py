"""dpdk-dumpcap: copies of packets that it wrote, and those that its ring had no room for."""

import re

from linerate.model.evidence import Evidence, Port, Quote
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_ROW = re.compile(
    r"\s*Packets received/dropped on interface '(?P<port>[^']{1,60})':\s*(?P<received>\d{1,18})/"
    r"(?P<dropped>\d{1,18})\b.*"
)


@parser("dpdk-dumpcap")
def dpdk_dumpcap(text: Text) -> Evidence | None:
    """Read each interface. The packets themselves went on: no loss, but a capture with gaps."""
    ports: list[Port] = []
    doubts: list[Quote] = []
    for line in text.rows:
        match = _ROW.fullmatch(line.text)
        if match is None:
            continue
        received, dropped = int(match["received"]), int(match["dropped"])
        quote = text.take(line)
        counters = {"captured": received, "not_captured": dropped}
        ports.append(Port(name=match["port"], counters=counters, quote=quote))
        if dropped:
            words = (
                f"{dropped:,} of {received + dropped:,} packets are not in the capture: its ring"
            )
            doubts.append(quote.model_copy(update={"text": f"{words} was full"}))
    return Evidence(ports=tuple(ports), doubts=tuple(doubts)) if ports else None
