"""Flow rules in the kernel's words: `tc flower` and `ethtool -N`, for patterns of the same names.

Frames, addresses and numbers are those of `flow_rule_patterns`.
"""

from dataclasses import dataclass, field
from typing import Literal

from linerate.model.flow_rule_acting import Acting

#: tc filters of software alone, of hardware alone; ntuple rules, which are hardware's.
Way = Literal["tc skip_hw", "tc skip_sw", "ntuple"]
WAYS: tuple[Way, ...] = ("tc skip_hw", "tc skip_sw", "ntuple")
#: Priority of our tc filters: no one's default, so that leftovers have a name.
PRIORITY = 47113
#: The priority of the filter that counts what ours let pass.
BEHIND = PRIORITY + 1

_IP4 = "src_ip 198.18.0.1 dst_ip 198.19.0.1"
_IP6 = "src_ip 2001:2::1 dst_ip 2001:2::2"
_PORTS = "src_port 1025 dst_port 12"
_NTUPLE4 = "src-ip 198.18.0.1 dst-ip 198.19.0.1"
_NTUPLE6 = "src-ip 2001:2::1 dst-ip 2001:2::2"
_NTUPLE_PORTS = "src-port 1025 dst-port 12"


@dataclass(frozen=True, slots=True)
class KernelPattern:
    """A pattern that has a name there too, in the words of both programs."""

    name: str
    #: Behind `protocol`: the protocol, `flower`, the keys.
    flower: str
    #: Behind `flow-type`; "": ethtool has no such rule.
    ntuple: str = ""


PATTERNS = (
    KernelPattern("eth dst", "all flower dst_mac 02:00:00:00:00:01",
                  "ether dst 02:00:00:00:00:01"),
    KernelPattern("eth type", "0x88b5 flower", "ether proto 0x88b5"),
    KernelPattern("vlan id", "802.1q flower vlan_id 100"),
    KernelPattern("vlan id, ipv4 udp flow",
                  f"802.1q flower vlan_id 100 vlan_ethtype ipv4 {_IP4} ip_proto udp {_PORTS}"),
    KernelPattern("mpls label", "mpls_uc flower mpls_label 16"),
    KernelPattern("ipv4", "ip flower"),
    KernelPattern("ipv4 addresses", f"ip flower {_IP4}", f"ip4 {_NTUPLE4}"),
    KernelPattern("ipv4 src /24", "ip flower src_ip 198.18.0.0/24",
                  "ip4 src-ip 198.18.0.0 m 0.0.0.255"),
    KernelPattern("ipv4 tos", "ip flower ip_tos 0x2e", "ip4 tos 0x2e"),
    KernelPattern("ipv4 ttl", "ip flower ip_ttl 1"),
    KernelPattern("ipv4 udp flow", f"ip flower {_IP4} ip_proto udp {_PORTS}",
                  f"udp4 {_NTUPLE4} {_NTUPLE_PORTS}"),
    KernelPattern("ipv4 tcp flow", f"ip flower {_IP4} ip_proto tcp {_PORTS}",
                  f"tcp4 {_NTUPLE4} {_NTUPLE_PORTS}"),
    KernelPattern("ipv4 tcp flow, flags",
                  f"ip flower {_IP4} ip_proto tcp {_PORTS} tcp_flags 0x2/0xff"),
    KernelPattern("ipv4 sctp flow", f"ip flower {_IP4} ip_proto sctp {_PORTS}",
                  f"sctp4 {_NTUPLE4} {_NTUPLE_PORTS}"),
    KernelPattern("ipv4 icmp echo", f"ip flower {_IP4} ip_proto icmp type 8 code 0"),
    KernelPattern("udp dst port", "ip flower ip_proto udp dst_port 12", "udp4 dst-port 12"),
    KernelPattern("udp dst range", "ip flower ip_proto udp dst_port 1024-2047"),
    KernelPattern("ipv6 addresses", f"ipv6 flower {_IP6}", f"ip6 {_NTUPLE6}"),
    KernelPattern("ipv6 src /48", "ipv6 flower src_ip 2001:2::/48"),
    KernelPattern("ipv6 udp flow", f"ipv6 flower {_IP6} ip_proto udp {_PORTS}",
                  f"udp6 {_NTUPLE6} {_NTUPLE_PORTS}"),
    KernelPattern("ipv6 tcp flow", f"ipv6 flower {_IP6} ip_proto tcp {_PORTS}",
                  f"tcp6 {_NTUPLE6} {_NTUPLE_PORTS}"),
)  # fmt: skip

#: tc's actions, and those of ntuple rules: a queue, or -1, which drops.
TC_ACTIONS = {
    "drop": "action drop",
    "mark": "action skbedit mark 1",
    "queue": "action skbedit queue_mapping 1",
    "pass": "action pass",
}
NTUPLE_ACTIONS = {"drop": "action -1", "queue": "action 1"}
#: Columns of the table.
COLUMNS: tuple[tuple[Way, str], ...] = (
    *(("tc skip_hw", action) for action in TC_ACTIONS),
    *(("tc skip_sw", action) for action in TC_ACTIONS),
    *(("ntuple", action) for action in NTUPLE_ACTIONS),
)
#: The pattern of which rules are made in numbers.
RATE_PATTERN = "ipv4 udp flow"


@dataclass(frozen=True, slots=True)
class KernelCell:
    """One pattern with one action, in one way."""

    pattern: KernelPattern
    way: Way
    action: str
    #: In the kernel's words; None: taken.
    refused: str | None = None
    #: Whether the driver took it; None: tc does not say so.
    in_hw: bool | None = None
    acting: Acting | None = None


@dataclass(frozen=True, slots=True)
class KernelRate:
    """Rules that were made by one program's run, and how long it took."""

    way: Way
    rules: int
    create_s: float
    remove_s: float


@dataclass(slots=True)
class KernelProbe:
    """All that was found of an interface."""

    interface: str
    driver: str
    cells: list[KernelCell] = field(default_factory=list)
    rates: list[KernelRate] = field(default_factory=list)
    #: Rules of an earlier probe that were removed first.
    leftovers: int = 0
