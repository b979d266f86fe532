"""VPP's `show buffers` (vlib/buffer.c): an empty pool is a reason to lose packets, and no count."""

import re

from linerate.model.evidence import Evidence, Quote
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_HEAD = re.compile(
    r"\s*Pool Name\s+Index\s+NUMA\s+Size\s+Data Size\s+Total\s+Avail\s+Cached\s+Used\s*"
)
_ROW = re.compile(
    r"\s*(?P<pool>[A-Za-z]\S*)\s+\d{1,6}\s+\d{1,6}\s+\d{1,9}\s+\d{1,9}\s+(?P<total>\d{1,10})"
    r"\s+(?P<free>\d{1,10})\s+(?P<cached>\d{1,10})\s+\d{1,10}\s*"
)
#: In per cent of a pool's buffers: less is none, since each thread keeps some of its own.
_FREE_PERCENT_MIN = 1.0


@parser("VPP show buffers")
def buffers(text: Text) -> Evidence | None:
    """Doubt pools that have none left."""
    open_table = known = False
    doubts: list[Quote] = []
    for line in text.rows:
        if _HEAD.fullmatch(line.text):
            open_table = known = True
            text.take(line)
        elif open_table and (match := _ROW.fullmatch(line.text)):
            quote = text.take(line)
            total, free = int(match["total"]), int(match["free"]) + int(match["cached"])
            if total and 100.0 * free < _FREE_PERCENT_MIN * total:
                why = f"pool {match['pool']} has {free} of {total} buffers left"
                doubts.append(quote.model_copy(update={"text": why}))
        else:
            open_table = False
    return Evidence(doubts=tuple(doubts)) if known else None
