"""VPP's counters that are no end of a packet, by VPP's own definitions.

`show errors` counts all events. Since 21.01 a counter may have a severity (src/*/*.api,
*_error.def), and those of severity `info` are no drops; nodes that define none have severity
`error`, and older versions print none at all. So counters of packets that go on are known by name:
by the words of `show errors`, and by the shorter ones of the stats segment.
"""

import re

#: Words of `show errors` (macros foreach_*_error), lower case. A table's miss is no drop: that is
#: counted as `table-miss drops`.
_GOES_ON = frozenset(
    {
        *("ok", "no error", "none", "no match", "matched", "missed", "valid packets"),
        # vnet/ip, vnet/classify, vnet/l2.
        *("input acl misses", "input acl hits", "input acl hits after chain walk"),
        *("output acl misses", "output acl hits", "output acl hits after chain walk"),
        *("classify misses", "classify hits", "classify hits after chain walk"),
        *("flow classify misses", "flow classify hits", "flow classify hits after chain walk"),
        *("policer classify misses", "policer classify hits"),
        *("policer classify hits after chain walk", "packets transmitted"),
        *("l2 learn misses", "l2 mac moves", "l2 not learned due to limit", "l2 learn hit updates"),
        *("l2 forward misses", "l2 forward hits", "l2 replication complete", "l2 uu fwd"),
        *("l2 inverter packets", "l2 patch packets", "l2 efp filter packets", "packets forwarded"),
        *("in default", "out default", "ip4 options present", "packet fragmented"),
        *("number of sent fragments", "successful reassemblies", "fragments reassembled"),
        *("fragments received", "pkts with ip6 hop-by-hop options", "arp requests resolved"),
        *("arp request ip4 source address learned", "mpls output packets needs fragmentation"),
        *("packets need fragmentation", "dispatched", "udp port punt", "socket rx", "socket tx"),
        *("ip4 source and port range check good packets", "timer events"),
        # vnet/ipsec, plugins/ikev2, plugins/wireguard.
        *("ipsec policy protect", "ipsec policy bypass", "ipsec policy match", "hand-off"),
        *("nat keepalive", "spi 0", "ike packets handoff"),
        # plugins/nat, plugins/acl, plugins/adl, plugins/mactime, plugins/nsim, plugins/map.
        *("next in2out", "next out2in", "fragment cached", "same worker", "do handoff"),
        *(
            "acl permit packets",
            "checked packets",
            "new sessions added",
            "existing session packets",
        ),
        *("restart session timer", "allow/deny packets processed", "ip4 allowlist allowed"),
        *("ip6 allowlist allowed", "permitted packets", "packets buffered", "packets reordered"),
        *("permitted inbound whitelisted non-ip packets", "completed packets", "packets clamped"),
        *("permitted outbound whitelisted non-ip packets", "sr: encaps packets"),
        *("sr: srh inserted packets", "sr: bindingsid steered packets", "sr steered ipv6 packets"),
        *("packets translated from external to internal", "successfully rewritten"),
        *("packets translated from internal to external", "valid map packets"),
        # Samples and states of a driver, no packets.
        *("sflow packets sampled", "sflow packets dropped", "sflow discards dropped"),
        *("sflow psample sent", "sflow psample send failed", "sflow dropmon sent"),
        *("sflow dropmon send failed", "timed out block", "total received block"),
        *("pending msgs in tx ring", "out-of-order buffers in used ring", "syscall required"),
        *("dhcp bind success", "arp replies copied to host", "not ip packet"),
        # vnet/tcp, vnet/session: hosts, not a forwarder's packets.
        *(
            "packets pushed into rx fifo",
            "syns received",
            "syn-acks received",
            "pure acks received",
        ),
        *("resets sent", "resets received", "packets punted", "fins received"),
        *("connections accepted", "accepted session", "connected session", "packets filtered"),
    }
)
#: Names of the stats segment for counters of severity `info` that the words below don't fit.
_INFO_NAMES = frozenset(
    {
        *("options", "resolved", "throttled", "handoff", "nat_keepalive", "spi_0", "clamped"),
        *("reass_success", "reass_fragments_reassembled", "reass_fragments_rcvd", "fragment_sent"),
        *("replies_sent", "replies_received", "proxy_arp_replies_sent", "l3_src_address_learned"),
        *("echo_replies_sent", "dest_unreach_sent", "ttl_expire_sent", "param_problem_sent"),
        *("packet_too_big_sent", "request_sent", "pkts_decap", "pkts_encap", "pkts_need_frag"),
        *("neighbor_advertisements_tx", "neighbor_advertisements_rx", "router_advertisements_tx"),
        *("router_advertisements_rx", "rx_pkts", "rx_post_pkts", "post_rx_pkts", "rx", "tx"),
        *("enqueued", "pkts_sent", "not_ip", "copies", "packets"),
    }
)
_PASSING = re.compile(
    r"valid \S+ packets"
    r"|(?:.*\s)?(?:packets?|pkts|frames|msgs|messages|requests?|repl(?:y|ies)|solicitations"
    r"|advertisements|responses?|echo|buffers|segments|hits?)"
    r"\s+(?:\(?sent|\(?received|\(?processed|encapsulated|decapsulated|forwarded|transmitted"
    r"|enqueued|handed off|handed off processed|encrypted|decrypted|throttled|learned|generated"
    r"|reassembled|fragmented|relayed to .*|rewritten|recorded for export|translated)\)?"
    r"|(?:L2|l2)\S*\s+(?:input|output|learn|fwd|forward|flood|xcrw|rewrite|efp)\b.*packets"
    r"|(?:good|successful)\b.*|(?:new|existing) sessions?\b.*"
    r"|.*\bprocessed"
    r"|.*(?:response|request|reply|replies|advertisement) sent",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"drop|\bbad\b|fail|invalid|unknown|\bno\b|not |miss|too |error|unable|discard|denied|wrong"
    r"|unsupported|malformed|reject",
    re.IGNORECASE,
)


def is_passing(reason: str) -> bool:
    """Say whether a counter of that name is of packets that went on, or were made."""
    words = reason.strip().lower()
    if words in _GOES_ON or words in _INFO_NAMES or words.endswith("response sent"):
        return True
    return _PASSING.fullmatch(reason) is not None and _ENDING.search(reason) is None
