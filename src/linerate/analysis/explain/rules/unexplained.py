"""Packets are missing, and no counter says where they were lost."""

from itertools import pairwise

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    MAIN_SHARE,
    NOISE_SHARE,
    forwarders,
    missing,
    more_than_noise,
    unexplained,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.box_path import lost_in, path_of
from linerate.model.evidence import Conditions, Evidence, Quote, Tester
from linerate.model.measurement import Counters

LAW = "the packet ledger: sent = received + losses at named places"

COUNTERS = (
    "look at the device's own counters over the same trial, first its ports' (missed, errors, "
    "filtered), then its drops: VPP `show hardware-interfaces` and `show errors`, Linux "
    "`ip -s -s link`, `ethtool -S` and `nstat`, a switch its interface and ACL counters"
)
EMPTY_HANDED = (
    "nothing received: check that the links are up, that cables join the ports that the testbed "
    "file names, that the device forwards between them, and dut.macs"
)
#: Settings that drop without a counter which a sentence names at most.
SETTINGS_NAMED = 3
WORKERS = "give `show runtime`, or `top -H`, of the same trial: whether a worker has no time left"
LESS = "offer a tenth of the load: if the same share is lost, capacity is not the reason"


@rule("unexplained", Stage.MISSING, reference=LAW)
def most_is_unexplained(evidence: Evidence) -> Finding | None:
    """Nothing was received, or a device's counters do not explain most of the missing packets."""
    given = evidence.conditions
    if given is None or not _matters(evidence):
        return None
    if evidence.silent:
        return _silent(evidence, given)
    most = unexplained(evidence) >= MAIN_SHARE * missing(evidence)
    counts = bool(forwarders(evidence)) or _device_counters(evidence) != []
    return _finding(evidence, given) if most and (counts or not given.received_packets) else None


@rule("unexplained", Stage.LAST, reference=LAW)
def some_is_unexplained(evidence: Evidence) -> Finding | None:
    """No other rule may say more of a device that counts nothing, or not all."""
    given = evidence.conditions
    return _finding(evidence, given) if given is not None and _matters(evidence) else None


@rule("unexplained", Stage.LAST, reference=LAW)
def tester_misses(evidence: Evidence) -> Finding | None:
    """A traffic generator that received less than it sent, and no counter of a device beside it."""
    if evidence.conditions is not None or evidence.ports or forwarders(evidence):
        return None
    for one in _together(evidence.testers):
        sent, received = one.sent_packets or 0, one.received_packets
        if not sent or received is None:
            continue
        lost = sent - received - (one.missed_packets or 0)
        if lost <= NOISE_SHARE * sent or 2 * lost < sent - received:
            continue
        return Finding(
            limit="unexplained",
            confidence="medium",
            sentence=(
                f"{one.name} received {received:,} of the {sent:,} packets that it sent: {lost:,} "
                f"({percent(lost, sent)}) were lost, and no counter of what is between is given"
            ),
            evidence=(one.quote,),
            try_=(COUNTERS, LESS) if received else (EMPTY_HANDED, COUNTERS),
        )
    return None


def _together(testers: tuple[Tester, ...]) -> tuple[Tester, ...]:
    """The same; a generator that sends and one that receives are the two ends of one."""
    if len(testers) < 2 or any(one.received_packets is None for one in testers):
        return testers
    ends = {(one.sent_packets or 0) > (one.received_packets or 0) for one in testers}
    if len(ends) == 1:
        return testers
    sums = {
        name: sum(getattr(one, name) or 0 for one in testers)
        for name in ("sent_packets", "received_packets", "missed_packets")
    }
    return (testers[0].model_copy(update=sums),)


def _silent(evidence: Evidence, given: Conditions) -> Finding | None:
    """Packets that no counter has, of a device with settings that drop without counting."""
    lost = unexplained(evidence)
    if lost < MAIN_SHARE * missing(evidence):
        return None
    settings = ", ".join(f"`{quote.text}`" for quote in evidence.silent[:SETTINGS_NAMED])
    return Finding(
        limit="configuration",
        # An inference: they are there, and nothing else is known to drop.
        confidence="medium",
        sentence=(
            f"{lost:,} of {given.sent_packets:,} packets ({percent(lost, given.sent_packets)}) "
            f"were lost in the device without a counter{_in_pass(evidence)}, which has {settings}: "
            "such settings drop and count nothing"
        ),
        evidence=(given.quote, *evidence.silent),
        try_=("take them away, or give them a counter (nftables: `counter drop`), and repeat",),
        explains=min(1.0, lost / max(1, missing(evidence))),
    )


def _matters(evidence: Evidence) -> bool:
    return more_than_noise(evidence, unexplained(evidence))


def _finding(evidence: Evidence, given: Conditions) -> Finding:
    lost = unexplained(evidence)
    start, end, between = _widest_gap(evidence, given)
    return Finding(
        limit="unexplained",
        confidence="high",
        sentence=(
            f"{lost:,} of {given.sent_packets:,} packets ({percent(lost, given.sent_packets)}) "
            f"were not received, and no counter shows where they were lost: {between:,} between "
            f"{start.source_name} ({start.packets:,}) and {end.source_name} ({end.packets:,})"
        ),
        evidence=(start.quote, end.quote),
        try_=((COUNTERS, LESS, WORKERS) if given.received_packets else (EMPTY_HANDED, COUNTERS)),
        explains=min(1.0, lost / max(1, missing(evidence))),
    )


def percent(packets: int, of: int) -> str:
    """A share that is never rounded to none, nor to all."""
    share = 100.0 * packets / of
    if packets == of:
        return "100 %"
    return f"{min(max(share, 0.01), 99.99):.2f} %"


class _Counter:
    """Packets counted at one place of the path."""

    def __init__(self, source_name: str, packets: int, quote: Quote) -> None:
        self.source_name = source_name
        self.packets = packets
        text = quote.model_copy(update={"text": f"{source_name}: {packets:,} packets"})
        self.quote = text


def _in_pass(evidence: Evidence) -> str:
    """The one of several crossings of a box that most packets were lost in, in words."""
    known = _by_name(evidence)
    path = path_of(known)
    if path is None or len(path.passes) == 1:
        return ""
    lost = {one: lost_in(one, known) for one in path.passes}
    worst = max(lost, key=lambda one: lost[one])
    return f" in {worst.text}" if lost[worst] >= MAIN_SHARE * sum(lost.values()) else ""


def _by_name(evidence: Evidence) -> dict[str, Counters]:
    """Packets that each port counts both ways."""
    return {
        port.name: {"rx_packets": port.rx_packets, "tx_packets": port.tx_packets}
        for port in evidence.ports
        if port.rx_packets is not None and port.tx_packets is not None
    }


def _of_passes(evidence: Evidence) -> list[_Counter]:
    """Packets that a box received and sent in each of several crossings; else nothing."""
    known = _by_name(evidence)
    path = path_of(known)
    if path is None or len(path.passes) == 1:
        return []
    quotes = {port.name: port.quote for port in evidence.ports}
    found = []
    for one, other in zip(path.hops(0)[1:-1], path.hops(1)[1:-1], strict=True):
        counts = {port: known[port][f"{way}_packets"] for port, way in (one, other)}
        names = " and ".join(port for port, packets in counts.items() if packets) or one[0]
        counted = _Counter(f"{one[1]} packets of {names}", sum(counts.values()), quotes[one[0]])
        found.append(counted)
    return found


def _device_counters(evidence: Evidence) -> list[_Counter]:
    """Packets received and sent by the device's ports; nothing where it has no counters."""
    if of_passes := _of_passes(evidence):
        return of_passes
    ports = [port for port in evidence.ports if port.side == "dut"]
    received = [port for port in ports if port.rx_packets]
    sent = [port for port in ports if port.tx_packets]
    found = []
    if received:
        count = sum(port.rx_packets or 0 for port in received)
        found.append(_Counter("rx packets of the device's ports", count, received[0].quote))
    if sent:
        count = sum(port.tx_packets or 0 for port in sent)
        found.append(_Counter("tx packets of the device's ports", count, sent[0].quote))
    return found


def _widest_gap(evidence: Evidence, given: Conditions) -> tuple[_Counter, _Counter, int]:
    """The two neighbours on the path between which most packets are missing."""
    path = [
        _Counter("sent by the tester", given.sent_packets, given.quote),
        *_device_counters(evidence),
        _Counter("received by the tester", given.received_packets, given.quote),
    ]
    gaps = [(one, other, one.packets - other.packets) for one, other in pairwise(path)]
    return max(gaps, key=lambda gap: gap[2])
