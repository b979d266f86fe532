"""Most of the loss was configured: no route, wrong address, a filter; or the frames are damaged."""

import re

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    MAIN_SHARE,
    configured_losses,
    missing,
    more_than_noise,
    quotes,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.unexplained import percent
from linerate.model.evidence import Evidence, Loss

#: Nodes whose drops are messages of the device's own, about frames that it dropped before.
OWN_MESSAGES = ("icmp4-error", "icmp6-error")
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
            r"acl|deny|^nft |tc queue|policer|policy|filter|flow rule|blocked|blackhole|"
            r"null-node|prohibit|rpf|"
            r"source.check|martian|spoofed",
            "a rule of the device drops them: its filter or its blackhole route, or the source "
            "addresses of the traffic profile",
        ),
        (
            r"arp|neighbo|adjacency|glean",
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


@rule(
    "configuration",
    Stage.MISSING,
    reference="drop reasons: VPP `show errors`, docs/telemetry.md",
)
def configuration(evidence: Evidence) -> Finding | None:
    """At least half of what is missing was dropped for a reason that somebody configured."""
    given = evidence.conditions
    lost = [one for one in configured_losses(evidence) if not one.place.startswith(OWN_MESSAGES)]
    gone = missing(evidence)
    if given is None or not more_than_noise(evidence, min(gone, total(lost))):
        return None
    if total(lost) < MAIN_SHARE * gone:
        return None
    worst = sorted(_by_place(lost).items(), key=lambda item: -item[1])
    places = ", ".join(f"{packets:,} at {place}" for place, packets in worst[:NAMED])
    return Finding(
        limit="configuration",
        confidence="high",
        sentence=(
            f"{percent(total(lost), given.sent_packets)} of the packets sent were dropped on "
            f"purpose: {places}"
        ),
        evidence=(given.quote, *quotes(*lost)),
        try_=tuple(dict.fromkeys(_change(place) for place, _ in worst[:NAMED])),
        explains=min(1.0, total(lost) / gone),
    )


def _by_place(losses: list[Loss]) -> dict[str, int]:
    packets: dict[str, int] = {}
    for loss in losses:
        packets[loss.place] = packets.get(loss.place, 0) + loss.packets
    return packets


def _change(place: str) -> str:
    return next((change for reason, change in _CHANGES if reason.search(place)), ELSE)
