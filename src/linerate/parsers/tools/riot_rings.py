"""Juniper RIOT's `show riot ring-stats`, ours too: the rings between I/O and worker cores."""

import re

from linerate.model.evidence import Evidence, Loss, Ring
from linerate.parsers.numbers import COUNT, counts
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_HEAD = re.compile(r"\s*src\s+dst\s+pri\s+used\s+free\s+enqs\s+drops\s+deqs\s*")
_TITLE = re.compile(r"\s*ring_stats\s*")
#: `io0`; of ours, `forwarder-0`, a card's port `card0:1` and its queue `rx0`.
_END = r"[a-z]{1,12}-?\d{1,4}(?::\d{1,2})?"
_ROW = re.compile(
    rf"\s*(?P<src>{_END})\s+(?P<dst>{_END})\s+(?P<pri>[A-Z][a-z]{{1,7}}|control|high|normal|-)"
    rf"\s+(?P<counts>(?:{COUNT})(?:\s+(?:{COUNT})){{4}})\s*"
)


@parser("Juniper RIOT ring-stats")
def rings(text: Text) -> Evidence | None:
    """Read each ring, and what found it full."""
    found: list[Ring] = []
    losses: list[Loss] = []
    for line in text.rows:
        if _HEAD.fullmatch(line.text) or _TITLE.fullmatch(line.text):
            text.take(line)
            continue
        match = _ROW.fullmatch(line.text)
        values = counts(match["counts"].split()) if match else None
        if match is None or values is None:
            continue
        used, free, enqueued, dropped, dequeued = values
        quote = text.take(line)
        if match["pri"] == "-":
            # A card's ring, between no two workers.
            place = f"{match['src']} → {match['dst']}: rx missed (ring full)"
            ours = Loss(place=place, cause="rx-ring", packets=dropped, quote=quote)
            losses += [ours] if dropped else []
            continue
        found.append(
            Ring(
                source=match["src"],
                destination=match["dst"],
                priority=match["pri"],
                used=used,
                # Its capacity: an rte_ring of 2048 has 2047 places.
                size=used + free,
                enqueued=enqueued,
                dropped=dropped,
                dequeued=dequeued,
                quote=quote,
            )
        )
        if dropped:
            place = f"{match['src']} → {match['dst']} {match['pri']}: ring full"
            losses.append(Loss(place=place, cause="handoff-ring", packets=dropped, quote=quote))
    return Evidence(rings=tuple(found), losses=tuple(losses)) if found or losses else None
