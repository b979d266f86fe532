"""VPP's `show trace` (vlib/trace.c): packets, and the nodes that each went through.

A packet that ends at `drop` (`error-drop` before 18.10) shows the counter that it ended at below
(vlib/drop.c). It is a sample: which packets are traced, the user chose.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from linerate.model.evidence import Evidence, Quote, TracedDrop
from linerate.model.loss_causes import cause_of
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser
from linerate.parsers.tools.vpp_stats import CARD_INPUT

_NODE = re.compile(r"\s*\d{2}:\d{2}:\d{2}:\d{6}:\s+(?P<name>[A-Za-z0-9]\S*)\s*")
_PACKET = re.compile(r"\s*Packet \d{1,9}\s*")
_THREAD = re.compile(r"\s*-{3,}\s*Start of thread \d{1,4} \S+\s*-{3,}\s*")
_LIMITED = re.compile(r"\s*(?:Limiting display to \d+ packets\..*|No packets in trace buffer)\s*")
#: `ethernet-input: unknown vlan`; `rx:eth0` has no blank.
_REASON = re.compile(r"\s*(?P<node>[a-z0-9][\w./-]{1,80}): (?P<words>[A-Za-z0-9(]\S?.{0,120})")
_ENDS = ("drop", "error-drop")


@dataclass(slots=True)
class _Trace:
    #: Packets that have been through a node.
    packets: int = 0
    #: The present packet has been through one.
    begun: bool = False
    #: Its last node is one at which packets end.
    ended: bool = False
    #: Node before that one, for a packet without a reason.
    last: str = ""
    #: The end of the present packet, until the next one.
    place: str = ""
    quote: Quote | None = None
    drops: Counter[str] = field(default_factory=Counter)
    quotes: dict[str, Quote] = field(default_factory=dict)

    def close(self) -> None:
        """End the present packet."""
        if self.place and self.quote is not None:
            self.drops[self.place] += 1
            self.quotes.setdefault(self.place, self.quote)
        self.begun = self.ended = False
        self.place = self.last = ""


@parser("VPP show trace")
def trace(text: Text) -> Evidence | None:
    """Read how many packets of the trace ended, and at what counter."""
    found = _Trace()
    for line in text.rows:
        if (match := _NODE.fullmatch(line.text)) is not None:
            _node(text, line, found, match["name"])
        elif _PACKET.fullmatch(line.text) or _THREAD.fullmatch(line.text):
            found.close()
            text.take(line)
        elif found.ended and (match := _REASON.fullmatch(line.text)):
            found.place = f"{match['node']}: {match['words'].strip()}"
            found.quote = text.take(line)
        elif _LIMITED.fullmatch(line.text) or (found.begun and line.text[:1].isspace()):
            text.take(line)
    found.close()
    if not found.packets:
        return None
    return Evidence(
        traced_drops=tuple(
            TracedDrop(
                place=place,
                cause=cause_of(place),
                packets=packets,
                traced=found.packets,
                quote=found.quotes[place],
            )
            for place, packets in found.drops.most_common()
        )
    )


def _node(text: Text, line: Line, found: _Trace, name: str) -> None:
    # A piece of a trace may lack the line that separates packets.
    if CARD_INPUT.fullmatch(name):
        found.close()
    quote = text.take(line)
    if not found.begun:
        found.begun, found.packets = True, found.packets + 1
    found.ended = name in _ENDS
    if found.ended and not found.place:
        found.place, found.quote = f"{found.last or name}: dropped", quote
    elif not found.ended:
        found.last = name
