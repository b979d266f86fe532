"""The cause of loss at a place: an exhausted resource, or configuration.

One table for all sources, so that `no route` is configuration in every tool's output.
"""

import re

from linerate.model.evidence import Cause
from linerate.model.loss_places import of_all_passes

#: The first that matches counts; names of places and reasons in any source's words.
_PATTERNS: tuple[tuple[Cause, str], ...] = (
    # Between two ports that both count (model/box_path.py).
    ("link", r"^between \S+ and \S+: "),
    # Reasons of a kernel's own (linux/dropreason-core.h).
    ("rx-ring", r"^kernel drop (?:CPU_BACKLOG|SOCKET_RCVBUFF)\b"),
    ("tx-ring", r"^kernel drop (?:QDISC_\w+|FQ_\w+|CAKE_\w+|DUALPI2_\w+|FULL_RING)\b"),
    ("buffers", r"^kernel drop (?:NOMEM|PFMEMALLOC|PROTO_MEM)\b"),
    ("damaged", r"^kernel drop (?:\w+_CSUM|HDR_TRUNC|PKT_TOO_SMALL)\b"),
    ("configuration", r"^kernel drop [A-Z]"),
    # Flows of a switch, by what they match (parsers/boxes/ovs.py): any words.
    ("configuration", r"^openflow\b"),
    ("tester", r"^(?:tester|(?:testpmd |iperf3 )?t[01])\b"),
    # VPP counts hand-offs at nodes of that name: only those of a full queue are losses.
    ("handoff-ring", r"congestion drop|hand-?off (?:ring|queue)? ?(?:full|drop|congest)"),
    # VPP's tap and vhost-user find it full: its other end may have dropped.
    ("rx-ring", r"full rx queue"),
    (
        "tx-ring",
        r"no free (?:tx )?slots|not enough (?:tx )?slots|tx[ _-]full|tx[ _-]?ring|tx[ _-]drop"
        r"|tx_queue_full|tx queue drop|tx-error|tx[ _-]miss|dpdk tx failure"
        r"|tx packet drops \(ring full"
        r"|tc queue (?!tbf|netem)\S+ drops|no available descriptors|tx frame not ready"
        r"|tx sendto temporary|sendto E(?:AGAIN|BUSY)"
        # A DPDK driver counts what its ring has no room for, and leaves it to the program.
        r"|tx errors: refused by the driver|grout: port tx error"
        # Frames that a kernel did not take out of a packet socket.
        r"|not sent by the kernel",
    ),
    ("card-pps", r"card packet rate"),
    ("pcie", r"pcie"),
    (
        "buffers",
        r"no[ _-]?mbuf|nombuf|no[ _-](?:free |rx )?buf|out of buffers?|buffer alloc"
        r"|mbuf[ _]alloc|mempool exhausted|no headroom|no room to delay",
    ),
    (
        "rx-ring",
        r"rx[ _-]?miss|imissed|backlog of CPU \d+ full|ring full"
        r"|socket full|rx[ _-]?no[ _-]?desc|rx_out_of_buffer",
    ),
    (
        "flow-table",
        r"flow table full|offload refused|conntrack: no room"
        # VPP's plugins acl and nat, and its sessions.
        r"|too many sessions|maximum sessions exceeded|out of ports|session table is full",
    ),
    (
        "configuration",
        r"no route|blackhole|null-node|unreachable|prohibit|rpf|martian|source.check"
        r"|ttl|hop limit|time.?e(?:xceeded|xpired)|interface (?:is )?(?:admin )?down|admin down"
        r"|is down|link down|not enabled|disabled|unknown label|label|unknown vlan|acl|deny"
        r"|policy|flow rule|filter|blocked|no (?:arp|neighbo|adjacency)|neighbo|unknown protocol"
        r"|unknown (?:ethertype|type)|punt|mtu|df set|l3 mac mismatch|mac mismatch|not for us"
        r"|unicast.*(?:wrong|other)|local adjacency|drop dispositions?|lookup miss"
        r"|same as ingress|spoofed|options present|drop dpo|ip[46] drop|s-bit not set"
        r"|unsupported|disallowed|non-ip[46]|lost at random|^icmp[46]-error\b"
        # Where frames are sent, from where, and what for: none of it is a lack of capacity.
        r"|oversize frame|longer than max_frame|not for the router|to a group|no station"
        r"|destination (?:in|is) |multicast|broadcast|link-local|source (?:in|is|route)\b|as source"
        r"|router itself|address of the router|sender not on|has no address|has ip6|routing header"
        r"|not in the vlan|in the vlan|reserved vlan|(?:is|mac is) a group|unknown option"
        r"|no such (?:port|protocol)|no next header|asks for no answer|not icmp|no echo request"
        r"|no arp request|not ip4 over|neither request|request answered|solicitation answered"
        r"|neighbor learnt|icmpecho: fragment"
        # Linux as a box (parsers/boxes/linux.py).
        r"|^nft .* drops$|XDP program drops|tc filter or policer drops|tc queue (?:tbf|netem) drops"
        r"|another mac address|no protocol takes|wrong destination address"
        # Open vSwitch as a box.
        r"|policer drops|meter drops|recirculated too often|drop action\b"
        # VPP: packets without a neighbour are dropped while it is asked for, and those for a port
        # of its own where nothing listens.
        r"|(?:requests?|solicitations?) (?:sent|throttled)$|no listener"
        r"|same interface|range check bad|policer\b.*drop|loss simulation|no translation"
        r"|couldn't translate|non-SYN packet|no (?:such )?(?:tunnel|session)|no matching tunnel"
        r"|unknown ip protocol",
    ),
    (
        "damaged",
        r"checksum|too short|shorter than|malformed|bad |invalid|version|length|crc|truncat"
        r"|rx-error|code is not 0|beyond 65535|rx errors$",
    ),
    # Other nodes of grout's that drop (parsers/boxes/grout.py): it routes, and they are no route,
    # no neighbour, no such interface.
    ("configuration", r"^grout: "),
)
_CAUSES = tuple((cause, re.compile(pattern, re.IGNORECASE)) for cause, pattern in _PATTERNS)


def cause_of(place: str) -> Cause:
    """Say what kind of loss a place of that name stands for."""
    place = of_all_passes(place)
    for cause, pattern in _CAUSES:
        if pattern.search(place):
            return cause
    return "other"
