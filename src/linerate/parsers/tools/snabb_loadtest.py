"""Snabb's loadtest: packets that each NIC sent and that its partner received, at each load.

`ingress drop` is what the tester's own card had and the tester did not take.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from linerate.model.evidence import Evidence, Quote, Tester
from linerate.parsers.numbers import number
from linerate.parsers.text import Text
from linerate.parsers.tools import parser

_LOAD = re.compile(r"\s*Applying (?P<load>[\d.]{1,16}) (?P<unit>[KMG]?bps) of load\.?\s*")
_COUNT = re.compile(r"\s*(?P<way>TX|RX) (?P<count>\d{1,18}) packets \(.*")
_LOSS = re.compile(r"\s*Loss: (?P<own>\d{1,18}) ingress drop \+ \d{1,18} packets lost \(.*")
_NIC = re.compile(r"\s*NIC \d{1,4}:\s*|\s*[\w.:-]{1,40}:\s*")


@dataclass(slots=True)
class _Step:
    """One load."""

    name: str
    quote: Quote
    sent: int = 0
    received: int = 0
    own: int = 0
    #: Counts of one way without the other are a cut text's.
    counts: int = 0


@parser("Snabb loadtest")
def snabb_loadtest(text: Text) -> Evidence | None:
    """Read each load: a tester by itself."""
    if "ingress drop" not in text.whole and "of load" not in text.whole:
        return None
    steps: list[_Step] = []
    for line in text.rows:
        if match := _LOAD.fullmatch(line.text):
            name = f"Snabb at {number(match['load']) or 0.0:g} {match['unit']}"
            steps.append(_Step(name, text.take(line)))
        elif steps and (count := _COUNT.fullmatch(line.text)):
            quote = text.take(line)
            steps[-1].counts += 1 if count["way"] == "TX" else -1
            if count["way"] == "TX":
                steps[-1].sent += int(count["count"])
            else:
                steps[-1].received += int(count["count"])
                steps[-1].quote = quote
        elif steps and (loss := _LOSS.fullmatch(line.text)):
            text.take(line)
            steps[-1].own += int(loss["own"])
        elif steps and _NIC.fullmatch(line.text):
            text.take(line)
    testers = tuple(_testers(steps))
    return Evidence(testers=testers) if testers else None


def _testers(steps: list[_Step]) -> Iterator[Tester]:
    for step in steps:
        if step.sent and step.counts == 0:
            yield Tester(
                name=step.name,
                sent_packets=step.sent,
                received_packets=step.received,
                missed_packets=step.own,
                quote=step.quote,
            )
