"""The line is full: nothing could have been faster."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import (
    all_came_back,
    all_is_explained,
    busiest,
    capacity_losses,
    configured_losses,
    lost_for_capacity,
    more_than_noise,
    near_line,
    quotes,
    sends_itself,
    total,
)
from linerate.analysis.explain.rules import Stage, rule
from linerate.base.line_rate import format_pps
from linerate.model.evidence import Conditions, Evidence, Worker

#: From here on the line is full: what is missing was lost in bursts that came faster than it.
LINE_FULL_PERCENT = 99.5


@rule("line", Stage.WHOLE, reference="IEEE 802.3: frame, 8 bytes of preamble, 12 of gap")
def line(evidence: Evidence) -> Finding | None:
    """As much as the links carry was received, but for losses while workers were descheduled."""
    given = evidence.conditions
    if given is None or not given.link_bps:
        return None
    if sends_itself(evidence):
        return _filled(given, busiest(evidence))
    if not given.sent_packets:
        return None
    if not all_came_back(evidence) and not _lost_in_bursts_alone(evidence):
        return None
    whole = 1 + given.descheduled_packets / max(given.received_packets, 1)
    if given.line_percent * whole < LINE_FULL_PERCENT:
        return None
    lost = capacity_losses(evidence)[:1] if _loses(evidence) else []
    rest = "".join(f"; the rest was lost in bursts, most at {one.place}" for one in lost)
    return Finding(
        limit="line",
        confidence="high",
        sentence=(
            f"{format_pps(given.received_pps)} of {given.frame_bytes:g} bytes received: "
            f"{given.line_percent:.2f} % of the line{rest}"
        ),
        evidence=(given.quote, *quotes(*lost)),
        try_=("a faster link, if more is wanted",),
    )


def _lost_in_bursts_alone(evidence: Evidence) -> bool:
    """Whether nothing that is missing was dropped on purpose, or without a reason."""
    dropped = total(configured_losses(evidence))
    return all_is_explained(evidence) and not more_than_noise(evidence, dropped)


def _loses(evidence: Evidence) -> bool:
    return more_than_noise(evidence, lost_for_capacity(evidence))


def _filled(given: Conditions, worker: Worker | None) -> Finding | None:
    """A device that sends by itself does not stop for its counters: its rate is not that exact."""
    if worker is None or worker.saturated or not near_line(given):
        return None
    return Finding(
        limit="line",
        confidence="medium",
        sentence=(
            f"the device sends {format_pps(given.received_pps)} of {given.frame_bytes} bytes, "
            f"{given.line_percent:.1f} % of the line, and {worker.name} has "
            f"{worker.spare_percent or 0:.0f} % of its time to spare"
        ),
        evidence=(given.quote, *quotes(worker)),
        try_=("a faster link, if more is wanted",),
    )


#: Line utilisation that a tester prints of a full line: it rounds, and paces a little below.
REPORTED_FULL_PERCENT = 99.0


@rule("line", Stage.WHOLE, reference="TRex: tx_util, L1 bits/s over the link's rate")
def tester_fills_the_line(evidence: Evidence) -> Finding | None:
    """A traffic generator that says that its line is full, and received what it sent."""
    if evidence.conditions is not None:
        return None
    for one in evidence.testers:
        sent, received = one.sent_packets or 0, one.received_packets or 0
        lost = max(0, sent - received)
        if not sent or not received or (one.line_percent or 0.0) < REPORTED_FULL_PERCENT:
            continue
        if more_than_noise(evidence, lost):
            continue
        return Finding(
            limit="line",
            confidence="high",
            sentence=(
                f"{one.name} received {received:,} of the {sent:,} packets that it sent, at "
                f"{one.line_percent:.1f} % of the line"
            ),
            evidence=(one.quote,),
            try_=("a faster link, if more is wanted",),
        )
    return None
