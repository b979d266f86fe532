"""Probed patterns and actions in testpmd's words.

Addresses are of 198.18.0.0/15 and 2001:2::/48, reserved for benchmarks (RFC 2544, RFC 5180): a rule
that exists for a moment on a live port matches no real traffic.
"""

from dataclasses import dataclass

_IP4 = "ipv4 src is 198.18.0.1 dst is 198.19.0.1"
_IP6 = "ipv6 src is 2001:2::1 dst is 2001:2::2"
_PORTS = "src is 1025 dst is 12"


@dataclass(frozen=True, slots=True)
class Words:
    """A pattern or actions: a short name, and the text without the end."""

    name: str
    text: str


PATTERNS = (
    Words("eth", "eth"),
    Words("eth dst", "eth dst is 02:00:00:00:00:01"),
    Words("eth type", "eth type is 0x88b5"),
    Words("vlan id", "eth / vlan vid is 100"),
    Words("vlan id, ipv4 udp flow", f"eth / vlan vid is 100 / {_IP4} / udp {_PORTS}"),
    Words("mpls label", "eth / mpls label is 16"),
    Words("mpls, ipv4 addresses", f"eth / mpls label is 16 / {_IP4}"),
    Words("ipv4", "eth / ipv4"),
    Words("ipv4 addresses", f"eth / {_IP4}"),
    Words("ipv4 src /24", "eth / ipv4 src spec 198.18.0.0 src prefix 24"),
    Words("ipv4 tos", "eth / ipv4 tos is 0x2e"),
    Words("ipv4 ttl", "eth / ipv4 ttl is 1"),
    Words("ipv4 udp flow", f"eth / {_IP4} / udp {_PORTS}"),
    Words("ipv4 tcp flow", f"eth / {_IP4} / tcp {_PORTS}"),
    Words("ipv4 tcp flow, flags", f"eth / {_IP4} / tcp {_PORTS} flags is 2"),
    Words("ipv4 sctp flow", f"eth / {_IP4} / sctp {_PORTS}"),
    Words("ipv4 icmp echo", f"eth / {_IP4} / icmp type is 8 code is 0"),
    Words("udp dst port", "eth / ipv4 / udp dst is 12"),
    Words("udp dst mask", "eth / ipv4 / udp dst spec 1024 dst mask 0xff00"),
    Words("udp dst range", "eth / ipv4 / udp dst spec 1024 dst last 2047"),
    Words("ipv6 addresses", f"eth / {_IP6}"),
    Words("ipv6 src /48", "eth / ipv6 src spec 2001:2:: src prefix 48"),
    Words("ipv6 udp flow", f"eth / {_IP6} / udp {_PORTS}"),
    Words("ipv6 tcp flow", f"eth / {_IP6} / tcp {_PORTS}"),
)

ACTIONS = (
    Words("queue", "queue index 0"),
    Words("mark", "mark id 1"),
    Words("mark+q", "mark id 1 / queue index 0"),
    Words("flag+q", "flag / queue index 0"),
    Words("cnt+q", "count / queue index 0"),
    Words("drop", "drop"),
    Words("rss", "rss queues 0 end"),
    Words("jump", "jump group 1"),
    Words("pass", "passthru"),
)

#: For filling the table, the first pattern and actions that were accepted.
FLOWS = ("ipv4 udp flow", "ipv4 tcp flow", "ipv4 addresses", "ipv6 udp flow")
FLOW_ACTIONS = ("mark+q", "queue", "mark", "drop", "cnt+q", "rss")


def rule(pattern: str, actions: str) -> str:
    """A whole rule."""
    return f"ingress pattern {pattern} / end actions {actions} / end"


#: An odd number: multiplied by it, no two of 2^32 numbers become the same.
_SCRAMBLE = 2654435761


def nth_flow(pattern: str, number: int) -> str:
    """Another flow for each number: its source address, and source port where it has one."""
    scrambled = number * _SCRAMBLE & 0xFFFF_FFFF
    high, low = scrambled >> 16, scrambled & 0xFFFF
    return (
        pattern.replace("198.18.0.1", f"198.18.{high >> 8}.{high & 255}")
        .replace("198.19.0.1", f"198.19.{low >> 8}.{low & 255}")
        .replace("2001:2::1", f"2001:2::{high:x}:{low:x}")
    )
