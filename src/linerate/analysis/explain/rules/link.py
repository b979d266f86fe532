"""Most of what is missing was lost between two ports that both count, or a port runs slower."""

import re

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    MAIN_SHARE,
    SAME_WITHIN,
    lost_at_ports,
    missing,
    more_than_noise,
    offered_packets,
    quotes,
    total,
    unexplained,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.unexplained import percent
from linerate.base.line_rate import format_bps, format_pps, line_rate
from linerate.model.evidence import Evidence

TRY = (
    "look at both ends of that cable: `ethtool PORT` for the negotiated speed and duplex, `ethtool "
    "-S PORT` for CRC errors and pause frames, the cable and its modules",
    "check that the testbed file names the ports that the cable joins: `linerate testbed check`",
)


@rule(
    "link",
    Stage.MISSING,
    reference="the packet ledger: what one port sent, the port that it is cabled to received",
)
def link(evidence: Evidence) -> Finding | None:
    """At least half of what is missing left one port, and never arrived at the next."""
    given = evidence.conditions
    lost = [one for one in evidence.losses if one.cause == "link" and one.packets > 0]
    gone = missing(evidence)
    if given is None or not more_than_noise(evidence, min(gone, total(lost))):
        return None
    if evidence.misaddressed or total(lost) < MAIN_SHARE * gone:
        return None
    worst = max(lost, key=lambda one: one.packets)
    return Finding(
        limit="link",
        confidence="high",
        sentence=(
            f"{percent(total(lost), given.sent_packets)} of the packets sent were lost "
            f"{worst.place.partition(':')[0]}: sent by one port, not received by the other"
            f"{_without_link(evidence)}"
        ),
        evidence=(given.quote, *quotes(*lost), *evidence.unplugged),
        try_=TRY,
        explains=min(1.0, total(lost) / gone),
    )


@rule(
    "link",
    Stage.MISSING,
    refines="unexplained",
    reference="Linux, net/sched/sch_generic.c: a device without carrier drops in noop_qdisc",
)
def no_carrier(evidence: Evidence) -> Finding | None:
    """At least half of what is missing was lost at a port without a link, or without a counter.

    A kernel takes back the routes over an interface that is down.
    """
    given, gone = evidence.conditions, missing(evidence)
    if given is None or not evidence.unplugged:
        return None
    routes = [one for one in evidence.losses if _NO_ROUTE.match(one.place)]
    at_ports = lost_at_ports(evidence, evidence.unplugged)
    lost = [*(one for one in at_ports if one.cause != "link"), *routes]
    packets = total(lost) + unexplained(evidence)
    if not more_than_noise(evidence, min(gone, packets)) or packets < MAIN_SHARE * gone:
        return None
    places = ", ".join(f"{one.packets:,} at {one.place}" for one in lost)
    where = f": {places}" if lost else " without a counter"
    return Finding(
        limit="link",
        confidence="high",
        sentence=(
            f"{percent(min(packets, given.sent_packets), given.sent_packets)} of the packets sent "
            f"were lost in the device{where}{_without_link(evidence)}: it drops what is sent there"
        ),
        evidence=(given.quote, *quotes(*lost), *evidence.unplugged),
        try_=TRY,
        explains=min(1.0, packets / gone),
    )


#: Places of packets whose route went with its interface.
_NO_ROUTE = re.compile(r"ip6?: no route")


def _without_link(evidence: Evidence) -> str:
    return "".join(f"; {quote.text}" for quote in evidence.unplugged)


@rule("link", Stage.RESOURCE, reference="IEEE 802.3, 28: a link runs at what both ends can")
def negotiated_below_the_line(evidence: Evidence) -> Finding | None:
    """A port runs at less than the line, and what comes through is what it carries."""
    given = evidence.conditions
    if given is None:
        return None
    slow = [port for port in evidence.ports if port.link_bps and port.link_bps < given.link_bps]
    if not slow or not more_than_noise(evidence, missing(evidence)):
        return None
    slowest = min(slow, key=lambda port: port.link_bps or 0)
    one = line_rate(slowest.link_bps or 0, given.frame_bytes)
    pps = given.directions * one.packets_per_second
    if abs(given.received_pps - pps) > SAME_WITHIN * pps:
        return None
    return Finding(
        limit="link",
        confidence="high",
        sentence=(
            f"{slowest.name} negotiated {format_bps(slowest.link_bps or 0)} of the line's "
            f"{format_bps(given.link_bps)}: {format_pps(given.received_pps)} were received, and it "
            f"carries {format_pps(pps)}"
        ),
        evidence=(given.quote, *(port.quote for port in slow)),
        try_=(TRY[0],),
    )


#: Fewer damaged frames are no verdict where it is unknown how many came: a cable that is plugged
#: makes some.
FEW = 100
#: Damage that happens on the way, not at the sender.
_ON_THE_WAY = re.compile(r"crc|symbol|align|jabber|fragment|fcs|code_err", re.IGNORECASE)


@rule("link", Stage.MISSING, reference="IEEE 802.3, 4.2.4: frames with a wrong check sequence")
def damaged_on_the_way(evidence: Evidence) -> Finding | None:
    """Most of what was lost arrived with a wrong check sequence."""
    lost = [
        one for one in evidence.losses if one.cause == "damaged" and _ON_THE_WAY.search(one.place)
    ]
    if not lost or evidence.conditions is not None:
        return None
    if total(lost) < MAIN_SHARE * total(evidence.losses) or not _matters(evidence, total(lost)):
        return None
    places = ", ".join(f"{one.packets:,} at {one.place}" for one in lost[:3])
    return Finding(
        limit="link",
        confidence="high" if offered_packets(evidence) else "medium",
        sentence=f"frames arrived damaged: {places}: the cable, its modules, or the port beyond",
        evidence=quotes(*lost),
        try_=(TRY[0],),
    )


def _matters(evidence: Evidence, packets: int) -> bool:
    if offered_packets(evidence) is None:
        return packets >= FEW
    return more_than_noise(evidence, packets)
