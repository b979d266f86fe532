"""Packets that a kernel dropped without a counter, by the reasons that samples of it name.

The tracepoint skb:kfree_skb has a reason since Linux 5.17. Samples are an estimate: what no counter
has is divided among reasons, and what a counter has already is taken off first.
"""

import re
from collections.abc import Mapping

from linerate.parsers.boxes._kernel_profile import Dropped, dropped, seconds_of
from linerate.parsers.kernel_drop_places import COPIES_AT, place_of

#: Reasons whose packets are all counted (/proc/net/snmp, the port, the backlog), or that end a copy
#: for a socket: the packet itself goes on.
_COUNTED = re.compile(
    r"OTHERHOST|IP_(?:INHDR|CSUM|INADDRERRORS|INNOROUTES|OUTNOROUTES|RPFILTER|NOPROTO|INVALID_DEST)"
    r"|UNHANDLED_PROTO|CPU_BACKLOG|PKT_TOO_BIG|NEIGH_QUEUEFULL|HDR_TRUNC|PACKET_SOCK_ERROR"
    r"|SOCKET_\w+|NO_SOCKET|TCP_\w+|UNIX_\w+|UNICAST_IN_L2_MULTICAST"
)
#: Functions that free such packets on kernels without reasons.
_COUNTED_AT = re.compile(rf"{COPIES_AT}|ip_rcv_core")
#: Reasons that some counters have, by the names of their places.
_PARTLY = (
    (re.compile(r"NETFILTER_DROP"), re.compile(r"^nft |^conntrack")),
    (re.compile(r"QDISC_\w+|FQ_\w+|CAKE_\w+|DUALPI2_\w+"), re.compile(r": tc queue ")),
    (re.compile(r"TC_\w+"), re.compile(r": tc ")),
    (re.compile(r"FULL_RING|DEV_READY"), re.compile(r": tx dropped|: tx errors")),
)


def by_place(profile: str, losses: Mapping[str, int], seconds: float) -> dict[str, int]:
    """Packets of a trial by place, an estimate; those that counters have are left out.

    `seconds` is the time of the trial, of which the samples are a part.
    """
    window = seconds_of(profile)
    if window is None:
        return {}
    found: dict[str, int] = {}
    counted_off = dict.fromkeys(range(len(_PARTLY)), 0)
    for one in dropped(profile):
        packets = round(one.packets * seconds / window)
        for number, (reason, place) in enumerate(_PARTLY):
            if reason.fullmatch(one.reason):
                known = sum(count for key, count in losses.items() if place.search(key))
                off = min(packets, known - counted_off[number])
                counted_off[number] += off
                packets -= off
        if packets > 0 and not _is_counted(one):
            name = place_of(one.reason, one.where)
            found[name] = found.get(name, 0) + packets
    return found


def _is_counted(one: Dropped) -> bool:
    if one.reason:
        return _COUNTED.fullmatch(one.reason) is not None
    return _COUNTED_AT.match(one.where) is not None
