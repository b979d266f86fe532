"""Most of the loss was configured: no route, wrong address, a filter; or the frames are damaged."""

import re

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    MAIN_SHARE,
    configured_losses,
    counted_packets,
    few_of_their_own,
    missing,
    more_than_noise,
    offered_packets,
    quotes,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.unexplained import percent
from linerate.model.evidence import Evidence, Loss, Quote

#: Nodes whose drops are messages of the device's own, about frames that it dropped before.
OWN_MESSAGES = ("icmp4-error", "icmp6-error")
#: A card's counter of frames that none of its rules takes: on most links others' multicast.
_OF_OTHERS = "rx_steer_missed_packets"
#: Packets that are worth a word where it is unknown how many came.
MANY = 1000
#: Share from which on fewer are, where it is known what came to their place.
LARGE_SHARE = 0.01
#: Reasons that samples of a kernel name.
_KERNEL = re.compile(r"kernel drop ")
#: Places at most that are named in the sentence.
NAMED = 3

#: Remedies by the reason of a counter; the first match counts.
_CHANGES = tuple(
    (re.compile(reason, re.IGNORECASE), change)
    for reason, change in (
        (
            r"lost at random",
            "the device was asked to lose them: `dut: {lose: …}` of the testbed file",
        ),
        (
            r"mac mismatch|another mac address|wrong destination address|not for us"
            r"|unicast.*(?:wrong|other)|group mac|not for the router$",
            "frames have another destination MAC address than the port: `dut.macs`, or `mac` of "
            "`dut.ports`, in the testbed file",
        ),
        (
            r"ip6 disabled|no interface has ip6",
            "no IPv6 on the interface: `set int ip address PORT ADDRESS/LENGTH` in dut.cli_file",
        ),
        (
            r"oversize|longer than max_frame",
            "frames longer than the port takes: `--card max_frame=BYTES`, or the profile's sizes",
        ),
        (r"mpls disabled", "no MPLS on the interface: `set interface mpls PORT enable`"),
        (
            r"vlan",
            "no such VLAN: `create sub-interfaces PORT VLAN` in dut.cli_file, `l2switch.vlans`, or "
            "the tags of the traffic profile",
        ),
        (
            r"label",
            "no such label: `mpls local-label add LABEL eos via NEXT-HOP PORT` in dut.cli_file",
        ),
        (r"ttl|hop limit|time.?exceeded", "a higher TTL in the traffic profile's IP header"),
        (
            r"acl|deny|^nft |xdp|tc queue|policer|policy|filter|flow rule|blocked|blackhole|"
            r"null-node|prohibit|rpf|"
            r"source.check|martian|spoofed",
            "a rule of the device drops them: its filter or its blackhole route, or the source "
            "addresses of the traffic profile",
        ),
        (
            r"arp|neighbo|neigh_|adjacency|glean",
            "no neighbour: `ip neighbor PORT ADDRESS MAC` in dut.cli_file",
        ),
        (
            r"route|unreachable|lookup miss",
            "no route to the destinations: `ip route add PREFIX via NEXT-HOP` in dut.cli_file, or "
            "other destinations in the traffic profile",
        ),
        (r"mtu|df set", "frames larger than the MTU: the profile's sizes, or the interface's MTU"),
        (r"down", "an interface is down: `set int state PORT up` in dut.cli_file"),
        (
            r"local|router itself|echo|not for the router",
            "frames are for the device itself: destinations behind it in the traffic profile",
        ),
        (
            r"checksum|short|malformed|bad |invalid|version|length|crc|truncat",
            "the frames that are offered are damaged: the traffic profile's headers",
        ),
    )
)
ELSE = "look at routes, filters and interfaces of the device, and at the traffic profile"
#: The same in words of the device, where its outputs were pasted.
_CHANGES_OF_A_DEVICE = tuple(
    (re.compile(reason, re.IGNORECASE), change)
    for reason, change in (
        (
            r"mac mismatch|another mac address|wrong destination address|not for us",
            "the sender uses another destination MAC address than the port has",
        ),
        (r"vlan", "no such VLAN on the interface"),
        (r"label|mpls", "no such label, or MPLS is off on the interface"),
        (r"ttl|hop limit|time.?exceeded", "a higher TTL at the sender, or a routing loop"),
        (
            r"null-node|blackhole",
            "ask which route takes them (VPP: `show ip fib ADDRESS`, Linux: `ip route get "
            "ADDRESS`): none, or one that drops",
        ),
        (
            r"acl|deny|nft|xdp|iptables|tc |policer|policy|filter|flow|blocked|prohibit|meter",
            "a rule of the device drops them: look at its filter, policer or flow table",
        ),
        (
            r"rpf|source.check|martian|spoofed",
            "the reverse path filter drops them: no route back to their source addresses",
        ),
        (
            r"arp|neighbo|adjacency|glean",
            "the next hop has no MAC address: does it answer ARP or ND? (`show ip neighbors`, `ip "
            "neighbor`)",
        ),
        (r"route|unreachable|lookup miss|fib", "no route to the destinations"),
        (r"mtu|df set|oversize|too (?:big|long)", "frames larger than the MTU"),
        (r"down", "an interface is down"),
        (r"local|listener|protocol", "packets are for the device itself, or of a kind it ignores"),
        (
            r"checksum|short|malformed|bad |invalid|version|length|truncat",
            "the frames that come are damaged: look at who sends them",
        ),
    )
)


@rule(
    "configuration",
    Stage.MISSING,
    reference="drop reasons: VPP `show errors`, docs/telemetry.md",
)
def configuration(evidence: Evidence) -> Finding | None:
    """At least half of what is missing was dropped for a reason that somebody configured."""
    given = evidence.conditions
    lost = [one for one in configured_losses(evidence) if not one.place.startswith(OWN_MESSAGES)]
    few = few_of_their_own(lost)
    if given is None:
        few += [one for one in lost if one.place.endswith(_OF_OTHERS) and one not in few]
    lost = [one for one in lost if one not in few]
    gone = missing(evidence) if given is not None else total(evidence.losses) - total(few)
    if not _matters(evidence, min(gone, total(lost))) or total(lost) < MAIN_SHARE * gone:
        return None
    worst = sorted(_by_place(lost).items(), key=lambda item: -item[1])
    places = ", ".join(f"{packets:,} at {place}" for place, packets in worst[:NAMED])
    changes = _CHANGES if given is not None else _CHANGES_OF_A_DEVICE
    return Finding(
        limit="configuration",
        confidence="high" if counted_packets(evidence) else "medium",
        sentence=f"{_share(evidence, total(lost))} dropped on purpose: {places}",
        evidence=(
            *(() if given is None else (given.quote,)),
            *quotes(*lost),
            *_settings(evidence, lost),
        ),
        try_=tuple(dict.fromkeys(_change(place, changes) for place, _ in worst[:NAMED])),
        explains=min(1.0, total(lost) / gone),
    )


@rule("configuration", Stage.MISSING, reference="IEEE 802.3, 4.2.4.1: address recognition")
def filtered_by_the_card(evidence: Evidence) -> Finding | None:
    """At least half of what is missing was sent to a port that has another address."""
    given = evidence.conditions
    lost = [one for one in evidence.losses if one.cause == "link" and one.packets > 0]
    if given is None or not evidence.misaddressed or not _matters(evidence, total(lost)):
        return None
    if total(lost) < MAIN_SHARE * missing(evidence):
        return None
    ports = "; ".join(quote.text for quote in evidence.misaddressed)
    return Finding(
        limit="configuration",
        confidence="high",
        sentence=(
            f"{_share(evidence, total(lost))} lost before a port of the device counted them: "
            f"{ports}, and its card drops others' without a counter"
        ),
        evidence=(given.quote, *quotes(*lost), *evidence.misaddressed),
        try_=(_change("another MAC address", _CHANGES),),
        explains=min(1.0, total(lost) / missing(evidence)),
    )


def _matters(evidence: Evidence, packets: int) -> bool:
    """Whether these are worth a word; in pasted text it may be unknown how many came."""
    offered = offered_packets(evidence)
    if offered is None:
        return packets >= MANY
    if counted_packets(evidence) is None and packets < MANY:
        # Few, and so is all that is known to have come there.
        return packets >= LARGE_SHARE * offered
    return more_than_noise(evidence, packets)


def _share(evidence: Evidence, packets: int) -> str:
    """`40 % of the packets sent were`, or how many where the share is unknown."""
    offered = offered_packets(evidence)
    if offered is None:
        return f"{packets:,} packets were"
    # Counted since different times, more may have been dropped than came.
    if packets > offered:
        return (
            f"{packets:,} packets, of {offered:,} that came since the counters were cleared, were"
        )
    what = "sent" if evidence.conditions is not None else f"that came ({offered:,})"
    return f"{percent(packets, offered)} of the packets {what} were"


@rule("configuration", Stage.LAST, reference="VPP `show trace`: a packet's last nodes")
def dropped_in_the_trace(evidence: Evidence) -> Finding | None:
    """Packets of a trace end at a drop for a configured reason: a sample, no share."""
    drops = [one for one in evidence.traced_drops if one.cause in ("configuration", "damaged")]
    dropped, traced = (
        sum(one.packets for one in drops),
        max((one.traced for one in drops), default=0),
    )
    if not drops or 2 * dropped < traced:
        return None
    if all(_KERNEL.match(one.place) for one in drops) and dropped < MANY:
        # A kernel always drops some.
        return None
    places = ", ".join(f"{one.packets:,} at {one.place}" for one in drops[:NAMED])
    return Finding(
        limit="configuration",
        confidence="medium",
        sentence=f"{dropped:,} of {traced:,} traced packets were dropped on purpose: {places}",
        evidence=tuple(one.quote for one in drops[:NAMED]),
        try_=tuple(
            dict.fromkeys(_change(one.place, _CHANGES_OF_A_DEVICE) for one in drops[:NAMED])
        ),
    )


def _settings(evidence: Evidence, lost: list[Loss]) -> tuple[Quote, ...]:
    """Settings that drop without counting, where a kernel's own reason stands for a counter."""
    return evidence.silent if any(_KERNEL.match(one.place) for one in lost) else ()


def _by_place(losses: list[Loss]) -> dict[str, int]:
    packets: dict[str, int] = {}
    for loss in losses:
        packets[loss.place] = packets.get(loss.place, 0) + loss.packets
    return packets


def _change(place: str, changes: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    return next((change for reason, change in changes if reason.search(place)), ELSE)
