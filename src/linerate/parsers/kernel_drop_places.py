"""Places at which a kernel drops packets, by the reason that it has or the function that does.

The tracepoint skb:kfree_skb has a reason since Linux 5.17.
"""

import re

from linerate.model.evidence import Cause
from linerate.model.loss_causes import cause_of

#: Functions that end copies of packets, and messages that are none.
COPIES_AT = r"t?packet_rcv|unix_|tcp_|netlink_|sk_stream|skb_queue_purge"
#: Reasons of the same.
COPIES = re.compile(
    r"PACKET_SOCK_ERROR|UNIX_\w+|TCP_\w+|SOCKET_CLOSE|QUEUE_PURGE|NETLINK\w*|VLAN_\w+_COPY|CONSUMED"
)
#: Reasons that say nothing.
NAMELESS = frozenset(("NOT_SPECIFIED", "NOT_DROPPED_YET", ""))
#: Functions, for packets without a reason; the first that fits.
_FUNCTIONS: tuple[tuple[str, Cause], ...] = (
    (r"enqueue_to_backlog|netif_rx\b", "rx-ring"),
    (r"nf_hook_slow|nft_|ipt_|nf_queue|br_nf_|ebt_|nf_tables|iptable", "configuration"),
    (r"ip_error|ip_forward|ip6_forward|ip_rcv_finish|ip6?_route|ip6_pkt_drop|ip_pkt_drop"
     r"|arp_|neigh_|icmpv?6?_send|tcf_|tc_run|sch_handle|ip6?_sublist|br_handle|br_forward"
     r"|vlan_|ip6?_output_finish|ip_local_deliver", "configuration"),
)  # fmt: skip
_COMPILED = tuple((re.compile(functions), cause) for functions, cause in _FUNCTIONS)
#: Queues before a port: why they had no room is open.
_QUEUES = re.compile(
    r"(?:__)?dev_(?:queue_)?xmit\w*|\w*enqueue|pfifo|fq_|cake_"
    r"|kernel drop (?:QDISC|FQ|CAKE|DUALPI2)_"
)


def place_of(reason: str, where: str) -> str:
    """Name a place in the words of the loss ledger."""
    return f"kernel drop {'' if reason in NAMELESS else reason} in {where}".replace(
        "drop  in", "drop without a reason in"
    )


def drop_cause(reason: str, where: str) -> Cause:
    """Say what kind of loss it is; a queue before a port says where and not why."""
    if reason not in NAMELESS:
        place = place_of(reason, where)
        return "other" if _QUEUES.match(place) else cause_of(place)
    return next((cause for functions, cause in _COMPILED if functions.match(where)), "other")


def is_copy(reason: str, where: str) -> bool:
    """Whether a copy for a socket ended, or a message between programs: no packet was lost."""
    if reason not in NAMELESS:
        return COPIES.fullmatch(reason) is not None
    return re.match(COPIES_AT, where) is not None
