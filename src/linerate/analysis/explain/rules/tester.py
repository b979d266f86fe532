"""The tester could not offer more, and all that it offered was received."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    NOISE_SHARE,
    all_came_back,
    all_is_explained,
    busiest,
    capacity_losses,
    fell_behind,
    lost_for_capacity,
    missing,
    more_than_noise,
    pushed_back,
    quotes,
    sender,
    sending_clocks,
    sent_by,
    tester_fell_short,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.analysis.explain.rules.worker_cpu import clock_is_used_up
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Conditions, Evidence, Quote, Tester, Worker
from linerate.model.measurement import FAR_NS

#: The bench asks for a little less than the ceiling that it measured.
ASKED_SHARE = 0.9
#: TRex's own manual calls a generator's CPU above this too busy to pace well.
BUSY_CPU_PERCENT = 85.0
#: So little is lost in bursts, of what comes through as fast as it is sent.
HARDLY = 0.01

MORE = ("give the tester another CPU, or a faster one", "larger frames, which cost it less a bit")


@rule(
    "tester",
    Stage.WHOLE,
    reference="veth(4): the sender's CPU carries a frame up to the receiver's socket",
)
def no_time_left(evidence: Evidence) -> Finding | None:
    """On a wire that pushes back: it works all the time, and the device takes all that it sends."""
    worker, given = sender(evidence), evidence.conditions
    if worker is None or given is None or not pushed_back(evidence):
        return None
    if not worker.saturated or fell_behind(evidence) or clock_is_used_up(evidence):
        return None
    if missing(evidence) > HARDLY * given.sent_packets or not all_is_explained(evidence):
        return None
    return Finding(
        limit="tester",
        confidence="high" if evidence.tester_ceiling_pps else "medium",
        sentence=_no_time_text(evidence, worker, given),
        evidence=(*quotes(worker, busiest(evidence)), given.quote, *_too_few(given)),
        try_=("a method that costs its sender less: AF_XDP, or a wire without the kernel", *MORE),
    )


def _no_time_text(evidence: Evidence, worker: Worker, given: Conditions) -> str:
    """`the tester has no time left at 0.45 Mpps: 99 % of it sending, 95 % in the kernel, …`."""
    sending = f"{worker.percent_of_time(sending_clocks(worker)):.0f} % of it sending"
    inside = (
        "" if worker.kernel_percent is None else f", {worker.kernel_percent:.0f} % in the kernel"
    )
    ceiling, clock_hz = evidence.tester_ceiling_pps, worker.tsc_hz or 0.0
    each = (worker.seconds or 0.0) * clock_hz / sent_by(worker)
    bare = f" ({clock_hz / ceiling:,.0f} over the bare link)" if ceiling else ""
    device = busiest(evidence)
    spare = device.spare_percent if device is not None else None
    left = "" if spare is None else f" and has {spare:.0f} % of its time to spare"
    return (
        f"the tester has no time left at {format_pps(given.offered_pps)}: {sending}{inside}, "
        f"{each:,.0f} cycles a packet{bare}; {device.name if device else 'the device'} keeps up"
        f"{left}"
    )


@rule("tester", Stage.WHOLE, reference="the tester's ceiling, measured over the bare link")
def tester(evidence: Evidence) -> Finding | None:
    """Asked for what it can do by itself, less than the line, and next to nothing was lost."""
    given, ceiling = evidence.conditions, evidence.tester_ceiling_pps
    if given is None or ceiling is None or not given.sent_packets:
        return None
    if more_than_noise(evidence, lost_for_capacity(evidence)) or not all_came_back(evidence):
        return None
    short = tester_fell_short(given) and given.offered_pps < ceiling
    bare_link_pps, ceiling = ceiling, given.offered_pps if short else ceiling
    if ceiling >= given.line.packets_per_second or given.asked_pps < ASKED_SHARE * ceiling:
        return None
    if pushed_back(evidence) and given.offered_pps < ASKED_SHARE * ceiling:
        return None
    return Finding(
        limit="tester",
        confidence="high",
        sentence=(
            f"{_came_back_text(evidence, given)}; "
            f"{_own_text(ceiling, bare_link_pps)}, of the line's "
            f"{format_pps(given.line.packets_per_second)}{_far_text(given)}"
        ),
        evidence=(given.quote, *_too_few(given)),
        try_=MORE,
    )


def _too_few(given: Conditions) -> tuple[Quote, ...]:
    """That it has fewer workers than the line needs, where that is so."""
    known = given.tester_workers
    if known is None or not known.too_few:
        return ()
    return (given.quote.model_copy(update={"text": known.text}),)


def _own_text(ceiling_pps: float, bare_link_pps: float) -> str:
    """Its ceiling, or that it offered less than that, and than it was asked for."""
    if ceiling_pps == bare_link_pps:
        return f"its own ceiling is {format_pps(ceiling_pps)}"
    return (
        f"asked for more, it offered {format_pps(ceiling_pps)} beside the device "
        f"({format_pps(bare_link_pps)} over the bare link)"
    )


def _far_text(given: Conditions) -> str:
    """Why a tester does less now than it may a minute later, where that is the reason."""
    if (given.round_trip_ns or 0.0) <= FAR_NS:
        return ""
    return (
        "; its CPU and the device's are far from each other (a cache line takes "
        f"{given.round_trip_ns:.0f} ns to and fro), which each frame pays for"
    )


def _came_back_text(evidence: Evidence, given: Conditions) -> str:
    """`all 4.37 Mpps that the tester offered were received`, or how many of them were not."""
    but = [f"{missing(evidence):,} packets"] if missing(evidence) else []
    if given.descheduled_packets:
        but.append(f"{given.descheduled_packets:,} that were lost while a worker was descheduled")
    kept = f" but {' and '.join(but)}" if but else ""
    return f"all {format_pps(given.offered_pps)} that the tester offered were received{kept}"


@rule("tester", Stage.RESOURCE, reference="TRex manual: CPU utilisation and queue_full")
def foreign_tester(evidence: Evidence) -> Finding | None:
    """A traffic generator that says itself that it can't keep up."""
    for one in evidence.testers:
        text = _complaint(one)
        if text and not capacity_losses(evidence) and all_is_explained(evidence):
            return Finding(
                limit="tester",
                confidence="medium",
                sentence=f"{one.name} did not keep up: {text}",
                evidence=(one.quote,),
                try_=MORE,
            )
    return None


def _complaint(one: Tester) -> str:
    missed = one.missed_packets or 0
    if missed > NOISE_SHARE * max(one.sent_packets or 0, one.received_packets or 0):
        return f"{missed:,} packets reached it, and its own rx rings were full"
    if one.queue_full:
        return f"its tx queues were full {one.queue_full:,} times"
    if one.cpu_percent is not None and one.cpu_percent >= BUSY_CPU_PERCENT:
        return f"its CPU was busy for {one.cpu_percent:.0f} %"
    return ""
