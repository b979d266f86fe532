"""Whether a trial's figures may be reported: each reason against is a small rule.

A reason makes a trial invalid; a doubt makes it suspect, and is shown with it.
"""

from collections.abc import Callable, Iterator

from linerate.evidence import Evidence
from linerate.ledger import TimeLedger, forwarder_ledgers
from linerate.places import HANDOFF_FULL, RX_MISSED, TX_FULL, lost_at, lost_in_tester

#: The tester must offer what it was asked for, within its pacing error.
OFFERED_WITHIN = 0.001
#: While the tester is off its CPU its clock stands still but the forwarder works
#: on, so a rate over the tester's clock is too high by this much.
STRETCH_LIMIT = 0.05
#: From here on a reader should know.
STRETCH_DOUBT = 0.01
STEAL_DOUBT = 0.01
#: A forwarder that was off its CPU for more of the trial shows the machine's limit, not its own.
ABSENT_LIMIT = 0.05
#: Ratio of the core-to-core round trips before and after.
ROUNDTRIP_DOUBT = 1.5

#: A worker that comes back from an absence finds full rings, and fills others: that
#: costs somewhat more packets than arrived meanwhile.
ABSENCE_FACTOR = 1.5
#: A worker that polls in vain for less of its time has none to spare.
BUSY_IDLE_PERCENT = 5.0

Rule = Callable[[Evidence], Iterator[str]]


def offered_below_asked(evidence: Evidence) -> Iterator[str]:
    """Say when the tester sent slower than it was asked to."""
    asked = evidence.load.asked_pps
    offered = evidence.offered.packets_per_second
    if offered < asked * (1 - OFFERED_WITHIN):
        yield (
            f"offered below asked: {offered / 1e6:.3f} of {asked / 1e6:.3f} Mpps "
            f"({100 * offered / asked:.2f} %), the tester was saturated"
        )


def offered_above_asked(evidence: Evidence) -> Iterator[str]:
    """Say when the tester sent more than it was asked for."""
    asked = evidence.load.asked_pps * evidence.load.duration_us / 1e6
    if evidence.packets.sent > asked * (1 + OFFERED_WITHIN) + 64:
        yield f"offered above asked: {evidence.packets.sent:,} of {asked:,.0f} packets"


def tester_lost(evidence: Evidence) -> Iterator[str]:
    """Say when packets were lost within the tester, which is no loss of the device."""
    lost = lost_in_tester(evidence.packets)
    if lost:
        yield f"tester saturated: it lost {lost:,} packets itself"


def tester_fetched_late(evidence: Evidence) -> Iterator[str]:
    """Say when the tester let frames wait in the tx rings, which looks like the device's loss.

    The tester's worker carries the card's work: where it polls too late, the link
    idles (`link_waits`) and the device finds its tx rings full.
    """
    lost = lost_at(evidence.packets, TX_FULL)
    waits = sum(counters.get("link_waits", 0) for counters in evidence.ports.values())
    if waits and lost > OFFERED_WITHIN * evidence.packets.sent:
        yield f"tester saturated: it polled too late {waits:,} times, {lost:,} packets lost so"


def stretched(evidence: Evidence) -> Iterator[str]:
    """Say when the trial took longer by the wall clock than on the tester's."""
    stretch = stretch_of(evidence)
    if stretch > STRETCH_LIMIT:
        yield f"duration stretched by {100 * stretch:.1f} %: the tester was off its CPU"


def stretch_of(evidence: Evidence) -> float:
    """How much longer the sending took than on the tester's clock, as a fraction."""
    hertz = next((ledger.tsc_hz for ledger in evidence.time), 0)
    clocks = evidence.progress.end_tsc - evidence.progress.start_tsc
    took = evidence.seconds
    by_wall = clocks / hertz / took - 1 if hertz and took and clocks > 0 else 0.0
    return max(by_wall, evidence.progress.paused_us / evidence.load.duration_us)


def forwarder_absent(evidence: Evidence) -> Iterator[str]:
    """Say when a forwarder's worker did not have its CPU."""
    for ledger in forwarder_ledgers(evidence.time):
        absent = ledger.away_clocks / ledger.elapsed_clocks
        if absent > ABSENT_LIMIT:
            times = evidence.stamp.involuntary_switches.get(ledger.worker, 0)
            yield (
                f"{ledger.worker} was off its CPU for {100 * absent:.1f} % of the trial "
                f"(switched out {times:,} times): stop what else runs on this machine"
            )


def cut_short(evidence: Evidence) -> Iterator[str]:
    """Say when the tester stopped before its time."""
    asked, took = evidence.load.duration_us, evidence.progress.elapsed_us
    if took < asked * (1 - OFFERED_WITHIN):
        yield f"cut short: {took / 1e6:.3f} of {asked / 1e6:.3f} s"


def not_drained(evidence: Evidence) -> Iterator[str]:
    """Say when packets were still on their way when counters were read."""
    if not evidence.progress.drained:
        yield "counters not drained: packets were still on their way"


def ledger_violated(evidence: Evidence) -> Iterator[str]:
    """Say when the packet ledger breaks its law: a bug, never hidden."""
    for violation in evidence.packets.violations:
        yield f"packet ledger violated: {violation}"


def cycles_open(evidence: Evidence) -> Iterator[str]:
    """Say when a worker's clocks are not accounted for."""
    for ledger in evidence.time:
        if not ledger.closes:
            yield f"{ledger.worker}: {ledger.closed_percent:.2f} % of its cycles accounted for"


INVALID: tuple[Rule, ...] = (
    offered_below_asked,
    offered_above_asked,
    tester_lost,
    tester_fetched_late,
    stretched,
    forwarder_absent,
    cut_short,
    not_drained,
    ledger_violated,
    cycles_open,
)


def caused_by_tester(evidence: Evidence) -> bool:
    """Whether a lower load could make the trial valid."""
    rules = (offered_below_asked, tester_lost, tester_fetched_late)
    return any(True for rule in rules for _ in rule(evidence))


def roundtrip_changed(evidence: Evidence) -> Iterator[str]:
    """Say when the hypervisor moved the CPUs about."""
    after = {trip.worker: trip.median_ns for trip in evidence.stamp.roundtrips_after}
    for trip in evidence.stamp.roundtrips_before:
        now = after.get(trip.worker, 0.0)
        low, high = sorted((trip.median_ns, now))
        if low > 0 and high / low > ROUNDTRIP_DOUBT:
            yield f"{trip.worker}: core-to-core round trip {trip.median_ns:.0f} → {now:.0f} ns"


def stolen(evidence: Evidence) -> Iterator[str]:
    """Say when the hypervisor kept a worker's CPU."""
    for worker, seconds in evidence.stamp.steal_seconds.items():
        share = seconds / evidence.seconds if evidence.seconds else 0.0
        if share > STEAL_DOUBT:
            yield f"{worker}: {100 * share:.1f} % of its CPU stolen by the hypervisor"


def paused(evidence: Evidence) -> Iterator[str]:
    """Say when the tester was off its CPU for a while, though not for long."""
    stretch = stretch_of(evidence)
    if STRETCH_DOUBT < stretch <= STRETCH_LIMIT:
        yield f"the tester was off its CPU for {100 * stretch:.1f} % of the trial"


def lost_to_absence(evidence: Evidence) -> Iterator[str]:
    """Say when packets were lost because a worker was off its CPU."""
    lost = lost_by_absence(evidence)
    if not lost:
        return
    away = max(forwarder_ledgers(evidence.time), key=lambda ledger: ledger.away_clocks)
    milliseconds = 1e3 * away.away_clocks / away.tsc_hz
    yield f"{away.worker}: {milliseconds:.1f} ms off its CPU, {lost:,} packets lost so"


def busiest_worker(evidence: Evidence) -> TimeLedger | None:
    """Find the forwarder's worker that had the least time to spare."""
    ledgers = forwarder_ledgers(evidence.time_at_load)
    return min(ledgers, key=lambda ledger: ledger.spare_percent, default=None)


def lost_by_absence(evidence: Evidence) -> int:
    """Packets lost at rings while a worker that had time to spare was off its CPU.

    All or none of what the rings lost: none when the workers' absences can't have
    cost so many packets, or a worker was busy anyway.
    """
    lost = sum(lost_at(evidence.packets, place) for place in (RX_MISSED, TX_FULL, HANDOFF_FULL))
    busy = busiest_worker(evidence)
    if busy is None or busy.spare_percent < BUSY_IDLE_PERCENT:
        return 0
    away_seconds = sum(
        ledger.away_clocks / ledger.tsc_hz for ledger in forwarder_ledgers(evidence.time)
    )
    arrived = evidence.offered.packets_per_second * away_seconds
    return lost if lost <= ABSENCE_FACTOR * arrived else 0


SUSPECT: tuple[Rule, ...] = (roundtrip_changed, stolen, paused, lost_to_absence)


def reasons(evidence: Evidence) -> tuple[str, ...]:
    """Why the trial is invalid; none when it is valid."""
    return tuple(reason for rule in INVALID for reason in rule(evidence))


def doubts(evidence: Evidence) -> tuple[str, ...]:
    """Why the trial is suspect."""
    return tuple(reason for rule in SUSPECT for reason in rule(evidence))
