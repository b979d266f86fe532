"""MoonGen's and libmoon's statistics: packets that each device sent and received."""

import re

from linerate.model.evidence import Evidence, Quote, Tester
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_DEVICE = r"\[{1,2}Device: id=(?P<id>\d{1,4})\]{1,2}"
#: libmoon, lua/stats.lua; and MoonGen's first versions.
_TOTAL = re.compile(_DEVICE + r" (?P<way>[RT]X): .*\btotal (?P<count>\d{1,18}) packets\b")
_OLD = re.compile(_DEVICE + r" (?P<way>Sent|Received) (?P<count>\d{1,18}) packets\b")
_ANY = re.compile(_DEVICE + r" (?:[RT]X:|Sent|Received) ")
_CHARS_MAX = 400


@parser("MoonGen")
def moongen(text: Text) -> Evidence | None:
    """Add up what all devices sent and received; the last line of each counts."""
    if "Device: id=" not in text.whole:
        return None
    counts: dict[tuple[str, str], int] = {}
    quote: Quote | None = None
    for line in text.rows:
        if len(line.text) > _CHARS_MAX or not _ANY.search(line.text):
            continue
        quote = text.take(line)
        if match := _TOTAL.search(line.text) or _OLD.search(line.text):
            way = "sent" if match["way"] in ("TX", "Sent") else "received"
            counts[way, match["id"]] = int(match["count"])
    if quote is None:
        return None
    sent, received = (
        [count for (one, _), count in counts.items() if one == way] for way in ("sent", "received")
    )
    tester = Tester(
        name="MoonGen",
        sent_packets=sum(sent) if sent else None,
        received_packets=sum(received) if received else None,
        quote=quote,
    )
    return Evidence(testers=(tester,))
