"""VPP's `show errors`, and our engine's (vlib/error.c).

The table counts all events, not drops alone: packets generated or passed on are distinguished from
drops by the severity where there is one, and else by the words.
"""

import re
from dataclasses import dataclass

from linerate.model.evidence import Evidence, Loss
from linerate.model.loss_causes import cause_of
from linerate.parsers.numbers import COUNT, count
from linerate.parsers.text import Line, Text
from linerate.parsers.tools import parser
from linerate.parsers.vpp_reasons import is_passing

_HEAD = re.compile(r"\s*Count\s+Node\s+Reason(\s+Severity)?(\s+Index)?\s*")
_ROW = re.compile(rf"\s*(?P<count>{COUNT})\s+(?P<node>[A-Za-z][^\s:]*)\s+(?P<reason>\S.*)")
_SEVERITY = re.compile(r"(?P<reason>.*\S)\s+(?P<severity>error|warn|warning|info)")
_INDEX = re.compile(r"(?P<reason>.*\S)\s+\d+")
#: With `verbose`: one part for each thread, then the sums.
_THREAD = re.compile(r"\s*Thread\s+\d+\s+\((\S+)\):\s*")
_TOTAL = re.compile(r"\s*Total:\s*")
#: First words of names of VPP's nodes: without a head, only these make a row.
_NODE = re.compile(
    r"(?:(?:ip[46]|mpls|ethernet|arp|l2|dpdk|memif|nat[46]|det44|acl|ipsec|esp[46]|ah[46]|vxlan|gre"
    r"|udp[46]|null|worker|icmp[46]|snap|llc|punt|bond|vhost|virtio|rdma|avf|af|session|interface"
    r"|geneve|gtpu|lb[46]|map|policer|wg[46]|linux)-\S+|\S+-(?:tx|output))"
)

#: Nodes whose counters of requests are of the packets that these were sent for, all of which
#: they drop: their next hop has no MAC address yet (vnet/ip-neighbor/ip4_neighbor.c).
_UNRESOLVED = re.compile(
    r"(?:ip4-arp|ip4-glean|ip6-discover-neighbor|ip6-glean): "
    r".*(?:requests?|solicitations?) (?:sent|throttled)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Table:
    """The columns of the table that is being read, if one is."""

    open: bool = False
    has_severity: bool = False
    has_index: bool = False
    worker: str = ""
    in_total: bool = False

    def columns(self, node: str, reason: str) -> tuple[str, str] | None:
        """Split a reason from its severity; None when the row is no row of a table."""
        # Without a head, a count and some words may be anything.
        if not self.open and "-" not in node:
            return None
        if self.has_index and (match := _INDEX.fullmatch(reason)):
            reason = match["reason"]
        if self.open and not self.has_severity:
            return reason, ""
        if match := _SEVERITY.fullmatch(reason):
            return match["reason"], match["severity"]
        # Old versions print no severity: then node and reason must both be VPP's.
        known = _NODE.fullmatch(node) and (is_passing(reason) or cause_of(reason) != "other")
        return (reason.rstrip(), "") if known else None


@parser("VPP show errors")
def errors(text: Text) -> Evidence | None:
    """Read where packets ended, and why."""
    table, losses, known = _Table(), [], False
    for line in text.rows:
        if head := _HEAD.fullmatch(line.text):
            table = _Table(True, head[1] is not None, head[2] is not None)
        elif table.open and (match := _THREAD.fullmatch(line.text)):
            table.worker, table.in_total = match[1], False
        elif table.open and _TOTAL.fullmatch(line.text):
            table.in_total = True
        elif (loss := _row(text, table, line)) is not None:
            losses.extend(loss)
            known = True
            continue
        else:
            table.open &= not line.text.strip("-= \t")
            continue
        text.take(line)
        known = True
    return Evidence(losses=tuple(losses)) if known else None


def _row(text: Text, table: _Table, line: Line) -> list[Loss] | None:
    """Read a row: one loss, or none when nothing ended there; None when it is no row."""
    match = _ROW.fullmatch(line.text)
    packets = count(match["count"]) if match else None
    if match is None or packets is None:
        return None
    columns = table.columns(match["node"], match["reason"])
    if columns is None:
        return None
    quote = text.take(line)
    reason, severity = columns
    place = f"{match['node']}: {reason}"
    passes = severity == "info" or is_passing(reason)
    if (passes and not _UNRESOLVED.fullmatch(place)) or table.in_total or not packets:
        return []
    return [
        Loss(place=place, cause=cause_of(place), packets=packets, worker=table.worker, quote=quote)
    ]
