"""Drops that a kernel traces: dropwatch, `perf script` of skb:kfree_skb, trace_pipe, bpftrace.

A trace has no number of packets that came, and it may be of a part of them: a sample, no count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from linerate.model.evidence import Evidence, Quote, TracedDrop
from linerate.parsers.kernel_drop_places import drop_cause, is_copy, place_of
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser

_FUNCTION = r"(?P<where>[a-zA-Z_][\w.]{1,80}|0x[0-9a-f]{4,16})"
_DROPWATCH = re.compile(
    rf"\s*(?P<packets>\d{{1,12}}) drops at {_FUNCTION}(?:\+(?:0x)?[0-9a-f]{{1,8}})?(?:\s.*)?",
    re.ASCII,
)
_DROPWATCH_HEAD = re.compile(
    r"\s*(?:Init\w{1,12}ing (?:kallsyms db|null lookup method)|Enabling monitoring\.\.\."
    r"|Kernel monitoring activated\.|Issue Ctrl-C to stop monitoring|dropwatch> ?\w{0,10})\s*"
)
_TRACE = re.compile(
    rf".*\bkfree_skb: skbaddr=.{{0,120}}?location=(?:\[[0-9a-f<>]+\]\s*)?{_FUNCTION}\S*"
    r"(?:\s+reason: (?:SKB_DROP_REASON_)?(?P<reason>[A-Z0-9_]{2,60}))?\s*"
)
#: `@[NETFILTER_DROP]: 1234`, `@drops[SKB_DROP_REASON_NO_SOCKET, nf_hook_slow+0]: 5`.
_MAP = re.compile(
    r"\s*@\w{0,30}\[\s*(?:SKB_DROP_REASON_)?(?P<reason>[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]+){1,8})"
    r"(?:,\s*(?P<where>[a-zA-Z_][\w.]{1,80})\S*)?\s*\]:\s*(?P<packets>\d{1,15})\s*",
    re.ASCII,
)
#: Sides of a call that a trace prints below it.
_STACK = re.compile(r"\s+[0-9a-f]{4,16} [\w.+]{2,100} \(.{1,200}\)\s*")


@dataclass(slots=True)
class _Place:
    """Packets that ended at one place."""

    reason: str
    where: str
    packets: int
    quote: Quote


@parser("traced drops of a kernel")
def kernel_drop_trace(text: Text) -> Evidence | None:
    """Read where packets ended, copies for sockets left out."""
    whole = text.whole
    if "kfree_skb" not in whole and " drops at " not in whole and "@" not in whole:
        return None
    found: dict[tuple[str, str], _Place] = {}
    traced = False
    for line in text.rows_and_commands:
        if _DROPWATCH_HEAD.fullmatch(line.text) or (traced and _STACK.fullmatch(line.text)):
            if not line.typed:
                text.take(line)
        elif not line.typed and (match := _match(line)) is not None:
            traced = True
            _note(found, match, text.take(line))
    if not traced:
        return None
    return Evidence(traced_drops=tuple(_drops(found)))


def _match(line: Line) -> re.Match[str] | None:
    return next(
        filter(None, (one.fullmatch(line.text) for one in (_DROPWATCH, _TRACE, _MAP))), None
    )


def _note(found: dict[tuple[str, str], _Place], match: re.Match[str], quote: Quote) -> None:
    groups = match.groupdict()
    reason, where = groups.get("reason") or "", groups.get("where") or "an unnamed function"
    where = where.partition(".")[0]
    packets = int(groups.get("packets") or 1)
    known = found.get((reason, where))
    if known is None:
        found[reason, where] = _Place(reason, where, packets, quote)
    else:
        known.packets += packets


def _drops(found: dict[tuple[str, str], _Place]) -> Iterator[TracedDrop]:
    lost = [one for one in found.values() if not is_copy(one.reason, one.where)]
    whole = sum(one.packets for one in lost)
    for one in sorted(lost, key=lambda place: -place.packets):
        if one.packets:
            yield TracedDrop(
                place=place_of(one.reason, one.where),
                cause=drop_cause(one.reason, one.where),
                packets=one.packets,
                traced=whole,
                quote=one.quote,
            )
