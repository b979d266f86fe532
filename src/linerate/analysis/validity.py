"""Whether a trial's figures may be reported: each reason against is a small rule.

A reason makes a trial invalid; a doubt makes it suspect, and is shown with it.
"""

from collections.abc import Callable, Iterable, Iterator

from linerate.analysis.host_losses import judged_at, lost_while_descheduled
from linerate.base.line_rate import format_pps
from linerate.model.box_path import unexplained_inside
from linerate.model.cpu_disturbance import CpuDisturbance
from linerate.model.ledger import forwarder_ledgers
from linerate.model.loss_places import TX_FULL, lost_in_tester
from linerate.model.measurement import Measurement
from linerate.model.measurement.slices import ENOUGH
from linerate.model.measurement.trial import OFFERED_WITHIN

#: A tester that fell short of its own limit by more than this has no stable one.
LIMIT_WITHIN = 0.05
#: A burst may take so much longer, and its last frames may be late by that.
BURST_WITHIN = 0.02
BURST_LATE_US = 50
#: The tester's clock is read in whole microseconds.
CLOCK_US = 1
#: While the tester is descheduled its clock stops but the forwarder continues, so a rate over the
#: tester's clock is too high by this much.
STRETCH_LIMIT = 0.05
#: From here on a reader should know.
STRETCH_DOUBT = 0.01
STEAL_DOUBT = 0.01
#: A forwarder that was descheduled for more of the trial shows the machine's limit, not its own.
DESCHEDULED_LIMIT = 0.05
#: Spread of the tester's rate over attempts at one load that makes it suspect.
ATTEMPTS_DOUBT = 0.05
#: Ratio of the core-to-core round trips before and after.
ROUNDTRIP_DOUBT = 1.5

#: SMIs stop all CPUs for some 100 µs each: more a second than this cost what a trial measures.
SMIS_A_SECOND = 10.0
#: Clocks and rates at two frequencies are no one measurement.
FREQUENCY_LIMIT = 0.05
FREQUENCY_DOUBT = 0.01


#: A doubt that begins so is of the wire: it is so in every trial, whatever the machine does.
WIRE_TOOK = "the wire took"
#: All counters are read within this.
READING_SECONDS = 0.1

Rule = Callable[[Measurement], Iterator[str]]


def no_answer(measurement: Measurement) -> Iterator[str]:
    """Say when the engine did not answer, so that nothing is known."""
    if measurement.no_answer:
        yield "no answer from the engine in time: stop what else runs on this machine"


def box_silent(measurement: Measurement) -> Iterator[str]:
    """Say when a box's counters are missing at the end, so that no loss can be located."""
    if measurement.box is not None:
        yield from measurement.box.problems


def nothing_sent(measurement: Measurement) -> Iterator[str]:
    """Say when nothing was offered, so that nothing was measured."""
    load = measurement.load
    if measurement.packets.sent or load.counted == "other":
        return
    offered = load.offered
    if offered is not None and offered.connections_per_second:
        begun = offered.connections_per_second * load.scale_ppm / 1e6
        yield (
            f"nothing was sent: at {begun:.3g} connections/s none begins within "
            f"{load.duration_us / 1e6:g} s; give a longer --duration, or a higher --rate"
        )
    else:
        yield (
            "nothing was sent: the link took no packet; look at what reads at its other end"
            if load.pushes_back
            else "nothing was sent: look at the profile's rates, and at the links of the tester"
        )


def offered_below_asked(measurement: Measurement) -> Iterator[str]:
    """Say when the tester sent slower than it was asked to, and not for the wire."""
    if measurement.load.pushes_back:
        return
    if measurement.load.burst:
        yield from _broken_burst(measurement)
        return
    asked, offered = measurement.asked_pps, _offered_pps(measurement)
    if offered < asked * (1 - _may_fall_short(measurement)):
        yield (
            f"offered below asked: {format_pps(offered, '.3f')} of {format_pps(asked, '.3f')} "
            f"({100 * offered / asked:.2f} %), the tester was saturated"
        )


def _may_fall_short(measurement: Measurement) -> float:
    """Share of its load.

    A tester far behind it sends in bursts, which overflow rings. One whose CPU was moved away from
    the device's since its rate was looked at is in another state, which has a result of its own.
    """
    within = measurement.load.offered_within
    if within >= LIMIT_WITHIN and measurement.stamp.cpus_are_far:
        within = 1.0
    lossy = measurement.judged_lost > OFFERED_WITHIN * measurement.judged_sent
    return min(within, LIMIT_WITHIN) if lossy else within


def _offered_pps(measurement: Measurement) -> float:
    """Rate of clean slices or of the whole trial: what is late in one slice is sent in the next."""
    whole = measurement.rate(measurement.packets.sent)
    return max(measurement.offered.packets_per_second, whole.packets_per_second)


def _broken_burst(measurement: Measurement) -> Iterator[str]:
    """Report when the frames of a burst were sent with larger gaps than intended."""
    asked, took = measurement.load.duration_us, measurement.progress.elapsed_us
    if took > asked * (1 + BURST_WITHIN) + BURST_LATE_US:
        yield f"burst broken: it took {took:,} µs of {asked:,}, the tester was late"


def offered_above_asked(measurement: Measurement) -> Iterator[str]:
    """Say when the tester sent more than it was asked for."""
    asked = measurement.asked_pps * measurement.duration_us / 1e6
    if measurement.packets.sent > asked * (1 + OFFERED_WITHIN) + 64:
        yield f"offered above asked: {measurement.packets.sent:,} of {asked:,.0f} packets"


def tester_lost(measurement: Measurement) -> Iterator[str]:
    """Say when packets were lost within the tester, which is no loss of the device."""
    lost = lost_in_tester(measurement.packets)
    if lost:
        yield f"tester saturated: it lost {lost:,} packets itself"


def tester_fetched_late(measurement: Measurement) -> Iterator[str]:
    """Say when the tester let frames wait in the tx rings, which looks like the device's loss.

    The tester's worker carries the card's work: where it polls too late, the link
    idles (`link_waits`) and the device finds its tx rings full.
    """
    if _card_is_slower(measurement):
        return
    lost = judged_at(measurement, (TX_FULL,))
    waits = sum(counters.get("link_waits", 0) for counters in measurement.ports.values())
    if waits and lost > OFFERED_WITHIN * measurement.judged_sent:
        yield f"tester saturated: it polled too late {waits:,} times, {lost:,} packets lost so"


def _card_is_slower(measurement: Measurement) -> bool:
    """Whether the card's own limits let its link idle, however often the tester polls."""
    card, asked = measurement.card, measurement.asked_pps
    if card is None:
        return False
    slot = card.pcie.link.usable(measurement.load.frame_bytes) if card.pcie else None
    return 0 < card.pps_ceiling < asked or (slot is not None and slot.packets_per_second < asked)


def stretched(measurement: Measurement) -> Iterator[str]:
    """Say when the trial took longer by the wall clock than on the tester's."""
    stretch = stretch_of(measurement)
    if stretch > STRETCH_LIMIT:
        yield f"duration stretched by {100 * stretch:.1f} %: the tester was descheduled"


def stretch_of(measurement: Measurement) -> float:
    """Excess of the wall-clock duration over the tester's clock, as a fraction."""
    hertz = next((ledger.tsc_hz for ledger in measurement.time), 0)
    clocks = measurement.progress.end_tsc - measurement.progress.start_tsc
    took = measurement.seconds
    by_wall = clocks / hertz / took - 1 if hertz and took and clocks > 0 else 0.0
    # A tester that is saturated is at it for longer than asked, and away for longer.
    sending_us = max(measurement.duration_us, measurement.progress.elapsed_us)
    return max(by_wall, measurement.progress.paused_us / sending_us)


def forwarder_descheduled(measurement: Measurement) -> Iterator[str]:
    """Say when a forwarder's worker did not have its CPU."""
    ledgers = forwarder_ledgers(measurement.time)
    if measurement.load.takes_turns and len(ledgers) > 1:
        there = sum(1 - ledger.percent(ledger.away_clocks) / 100 for ledger in ledgers)
        if 1 - there > DESCHEDULED_LIMIT:
            yield (
                f"the forwarder's workers were descheduled for {100 * (1 - there):.1f} % of the "
                "trial: stop what else runs on this machine"
            )
        return
    for ledger in ledgers:
        absent = ledger.percent(ledger.away_clocks) / 100
        if absent > DESCHEDULED_LIMIT:
            times = measurement.stamp.involuntary_switches.get(ledger.worker, 0)
            yield (
                f"{ledger.worker} was descheduled for {100 * absent:.1f} % of the trial "
                f"(switched out {times:,} time{'s' * (times != 1)}): stop what else runs on this "
                "machine"
            )


def mostly_disturbed(measurement: Measurement) -> Iterator[str]:
    """Say when too little of the trial was undisturbed, however long it went on."""
    slices, wanted = measurement.slices, measurement.load.clean_us
    if slices is None or slices.clean_us >= ENOUGH * wanted:
        return
    away = f"{slices.most_away} was descheduled" if slices.most_away else "workers were stalled"
    yield (
        f"undisturbed for {slices.clean_us / 1e6:.2f} s of {measurement.seconds:.2f} s, "
        f"{wanted / 1e6:.2f} s are needed: {away}; stop what else runs on this machine"
    )


def tester_descheduled(measurement: Measurement) -> Iterator[str]:
    """Say when the tester's thread waited for its CPU: its own clock need not notice."""
    if measurement.load.takes_turns:
        return
    for ledger in measurement.time:
        waited = measurement.stamp.descheduled_percent.get(ledger.worker, 0.0)
        if ledger.role == "tester" and waited > 100 * DESCHEDULED_LIMIT:
            yield (
                f"{ledger.worker} was runnable and did not run for {waited:.1f} % of the time: "
                "stop what else runs on this machine"
            )


def took_too_long(measurement: Measurement) -> Iterator[str]:
    """Say when packets were sent for longer than asked: others had the tester's CPU.

    One that sent slower than asked took longer for that: it is no other reason.
    """
    asked, took = measurement.duration_us, measurement.progress.elapsed_us
    if measurement.load.burst or any(offered_below_asked(measurement)):
        return
    if took > asked * (1 + STRETCH_LIMIT):
        yield f"took too long: {took / 1e6:.3f} s for {asked / 1e6:.3f} s"


def cut_short(measurement: Measurement) -> Iterator[str]:
    """Say when the tester stopped before its time."""
    asked, took = measurement.load.duration_us, measurement.progress.elapsed_us
    if took < asked * (1 - OFFERED_WITHIN) - CLOCK_US:
        yield f"cut short: {took / 1e6:.3f} of {asked / 1e6:.3f} s"


def not_drained(measurement: Measurement) -> Iterator[str]:
    """Say when packets were still on their way when counters were read."""
    if not measurement.progress.drained:
        yield "counters not drained: packets were still on their way"


def ledger_violated(measurement: Measurement) -> Iterator[str]:
    """Say when the packet ledger breaks its law: a bug, never hidden."""
    if _in_flight_only(measurement):
        return
    packets = measurement.packets
    for violation in packets.backwards if measurement.foreign else packets.violations:
        yield f"packet ledger violated: {violation}"


def _in_flight_only(measurement: Measurement) -> bool:
    """A device that sends by itself does not stop for us to read its counters."""
    if measurement.load.counted != "other":
        return False
    in_reading = READING_SECONDS * measurement.received.packets_per_second
    return abs(measurement.packets.unexplained) <= in_reading


def cycles_open(measurement: Measurement) -> Iterator[str]:
    """Report when a worker's cycles do not add up."""
    for ledger in measurement.time:
        if not ledger.closes:
            yield f"{ledger.worker}: {ledger.closed_percent:.2f} % of its cycles accounted for"


def many_smis(measurement: Measurement) -> Iterator[str]:
    """Say when the firmware took the CPUs too often."""
    smis = _smis(measurement)
    if measurement.seconds and smis > max(1.0, SMIS_A_SECOND * measurement.seconds):
        yield f"{smis:,} SMIs: the firmware stopped the CPUs that often"


def _smis(measurement: Measurement) -> int:
    """All CPUs are stopped at once: the most that one of them counted."""
    return max((cpu.smis or 0 for cpu in measurement.stamp.cpus.values()), default=0)


def throttled(measurement: Measurement) -> Iterator[str]:
    """Say when a worker's CPU was too hot to run as fast as it can."""
    for worker, cpu in measurement.stamp.cpus.items():
        if cpu.throttles:
            yield f"{worker}: its CPU throttled {cpu.throttles:,} times, it is too hot"


def frequency_changed(measurement: Measurement) -> Iterator[str]:
    """Say when a worker's CPU did not keep its frequency."""
    for worker, cpu in measurement.stamp.cpus.items():
        if cpu.frequency_change > FREQUENCY_LIMIT:
            yield f"{worker}: {_frequencies(cpu)}: set the governor to performance"


def _frequencies(cpu: CpuDisturbance) -> str:
    return f"its CPU went between {cpu.megahertz_min:,.0f} and {cpu.megahertz_max:,.0f} MHz"


def link_down(measurement: Measurement) -> Iterator[str]:
    """Say which links were down, and since when."""
    progress = measurement.progress
    for port, at_us in zip(progress.link_down_port, progress.link_down_us, strict=True):
        yield f"{port}: link down since {at_us / 1e6:.1f} s"


INVALID: tuple[Rule, ...] = (
    no_answer,
    box_silent,
    nothing_sent,
    offered_below_asked,
    offered_above_asked,
    tester_lost,
    tester_fetched_late,
    stretched,
    forwarder_descheduled,
    mostly_disturbed,
    tester_descheduled,
    took_too_long,
    cut_short,
    not_drained,
    ledger_violated,
    cycles_open,
    many_smis,
    throttled,
    frequency_changed,
)


#: The machine took the CPU from who needed it.
OF_THE_HOST: tuple[Rule, ...] = (
    no_answer,
    stretched,
    forwarder_descheduled,
    mostly_disturbed,
    tester_descheduled,
    took_too_long,
    many_smis,
    throttled,
    frequency_changed,
)
#: About the whole trial: no reason against figures of clean slices.
FOR_A_WHILE: tuple[Rule, ...] = (stretched, forwarder_descheduled, tester_descheduled)
#: Reasons that concern the rate: packets are counted all the same.
OF_THE_MACHINE: tuple[Rule, ...] = (offered_below_asked, *OF_THE_HOST)


def may_be_accepted(measurement: Measurement) -> bool:
    """Whether an invalid trial has figures all the same: nothing but the machine speaks against it.

    No ledger is open, no link was down, and the tester lost nothing.
    """
    against = (link_down, nothing_sent, *(one for one in INVALID if one not in OF_THE_MACHINE))
    return not any(True for rule in against for _ in rule(measurement))


def caused_by_tester(measurement: Measurement) -> bool:
    """Whether a lower load could make the trial valid."""
    if measurement.no_answer or any(link_down(measurement)):
        return False
    rules = (offered_below_asked, tester_lost, tester_fetched_late)
    return any(True for rule in rules for _ in rule(measurement))


def caused_by_host(measurement: Measurement) -> bool:
    """Whether the machine took the CPU from who needed it, so that the same may be valid again."""
    return any(True for rule in _applying(OF_THE_HOST, measurement) for _ in rule(measurement))


def _applying(rules: Iterable[Rule], measurement: Measurement) -> Iterator[Rule]:
    """Rules that concern what the figures are of."""
    left_out = () if measurement.clean is None else (*FOR_A_WHILE, *DOUBTS_FOR_A_WHILE)
    return (rule for rule in rules if rule not in left_out)


def roundtrip_changed(measurement: Measurement) -> Iterator[str]:
    """Say when the hypervisor moved the CPUs about."""
    after = {trip.worker: trip.median_ns for trip in measurement.stamp.roundtrips_after}
    for trip in measurement.stamp.roundtrips_before:
        now = after.get(trip.worker, 0.0)
        low, high = sorted((trip.median_ns, now))
        if low > 0 and high / low > ROUNDTRIP_DOUBT:
            yield f"{trip.worker}: core-to-core round trip {trip.median_ns:.0f} → {now:.0f} ns"


def stolen(measurement: Measurement) -> Iterator[str]:
    """Say when the hypervisor kept a worker's CPU."""
    for worker, seconds in measurement.stamp.steal_seconds.items():
        share = seconds / measurement.seconds if measurement.seconds else 0.0
        if share > STEAL_DOUBT:
            yield f"{worker}: {100 * share:.1f} % of its CPU stolen by the hypervisor"


def some_smis(measurement: Measurement) -> Iterator[str]:
    """Say when the firmware took the CPUs, though not often."""
    if smis := _smis(measurement):
        yield f"{smis:,} SMI{'s' * (smis > 1)}: the firmware stopped the CPUs"


def frequency_moved(measurement: Measurement) -> Iterator[str]:
    """Say when a worker's CPU hardly kept its frequency."""
    for worker, cpu in measurement.stamp.cpus.items():
        if FREQUENCY_DOUBT < cpu.frequency_change <= FREQUENCY_LIMIT:
            yield f"{worker}: {_frequencies(cpu)}"


def paused(measurement: Measurement) -> Iterator[str]:
    """Report when the tester was descheduled for a while, though not for long."""
    stretch = stretch_of(measurement)
    if STRETCH_DOUBT < stretch <= STRETCH_LIMIT:
        yield f"the tester was descheduled for {100 * stretch:.1f} % of the trial"


def lost_to_descheduling(measurement: Measurement) -> Iterator[str]:
    """Report packets lost because a worker was descheduled."""
    lost = lost_while_descheduled(measurement)
    if not lost:
        return
    away = max(forwarder_ledgers(measurement.time), key=lambda ledger: ledger.away_clocks)
    milliseconds = 1e3 * away.away_clocks / away.tsc_hz
    yield f"{away.worker}: {milliseconds:.1f} ms descheduled, {lost:,} packets lost so"


def pushed_back(measurement: Measurement) -> Iterator[str]:
    """Say when the wire took less than the tester was asked to offer."""
    asked = measurement.asked_pps
    offered = measurement.offered.packets_per_second
    if measurement.load.pushes_back and offered < asked * (1 - OFFERED_WITHIN):
        yield (
            f"{WIRE_TOOK} {format_pps(offered, '.3f')} of {format_pps(asked, '.3f')}: "
            "it pushes back, no more was offered"
        )


def tester_varied(measurement: Measurement) -> Iterator[str]:
    """Say when the tester offered much less than it had managed before."""
    asked, offered = measurement.asked_pps, _offered_pps(measurement)
    if _may_fall_short(measurement) > LIMIT_WITHIN and offered < asked * (1 - LIMIT_WITHIN):
        yield (
            f"the tester offered {format_pps(offered, '.3f')}; a moment before it could "
            f"{format_pps(asked, '.3f')}"
        )


def attempts_disagree(measurement: Measurement) -> Iterator[str]:
    """Say when the tester managed much more in one attempt than in another."""
    managed = measurement.load.fell_short_pps
    if managed and max(managed) > min(managed) * (1 + ATTEMPTS_DOUBT):
        yield (
            f"the tester managed {format_pps(min(managed), '.3f')} to "
            f"{format_pps(max(managed), '.3f')} in {len(managed)} attempts at a higher load"
        )


def pause_received(measurement: Measurement) -> Iterator[str]:
    """Say when a device asked the port at the other end to stop sending for a while."""
    for name, counters in measurement.ports.items():
        if frames := counters.get("rx_pause", 0):
            yield f"{name}: {frames:,} PAUSE frames received: what is behind it pushes back"


def unexplained_by_foreign(measurement: Measurement) -> Iterator[str]:
    """Say when a device that is not ours lost packets that its counters do not show."""
    unexplained = measurement.packets.unexplained
    if measurement.foreign and unexplained:
        where = "the device's own counters do not show them"
        if measurement.box is not None:
            where = unexplained_inside(measurement.packets, measurement.ports)
        yield f"{unexplained:,} packets unexplained: {where}"


def duplicated(measurement: Measurement) -> Iterator[str]:
    """Report frames received more than once: they make up for no loss."""
    if measurement.foreign and (again := measurement.packets.duplicated):
        yield f"{again:,} packets received more than once: the device duplicates"


def corrupted(measurement: Measurement) -> Iterator[str]:
    """Report damaged frames."""
    if measurement.foreign and (damaged := measurement.packets.corrupted):
        yield f"{damaged:,} packets received damaged"


SUSPECT: tuple[Rule, ...] = (
    roundtrip_changed,
    stolen,
    some_smis,
    frequency_moved,
    paused,
    lost_to_descheduling,
    pushed_back,
    tester_varied,
    attempts_disagree,
    pause_received,
    unexplained_by_foreign,
    duplicated,
    corrupted,
)


#: As FOR_A_WHILE.
DOUBTS_FOR_A_WHILE: tuple[Rule, ...] = (stolen, paused, lost_to_descheduling)


def reasons(measurement: Measurement) -> tuple[str, ...]:
    """Why the trial is invalid; none when it is valid.

    A link that is down accounts for all that the tester did not do.
    """
    if unknown := tuple(no_answer(measurement)):
        return unknown
    if down := tuple(link_down(measurement)):
        return (*down, *ledger_violated(measurement))
    if nothing := tuple(nothing_sent(measurement)):
        return nothing
    rules = _applying(INVALID, measurement)
    return tuple(reason for rule in rules for reason in rule(measurement))


def doubts(measurement: Measurement) -> tuple[str, ...]:
    """Why the trial is suspect."""
    rules = _applying(SUSPECT, measurement)
    return tuple(reason for rule in rules for reason in rule(measurement))
