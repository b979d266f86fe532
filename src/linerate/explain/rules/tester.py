"""The tester could not offer more, and all that it offered came back."""

from linerate.evidence import Evidence, Tester
from linerate.explain.model import Finding
from linerate.explain.reading import capacity_losses, lost_for_capacity, pushed_back
from linerate.explain.rules import Stage, rule

#: The bench asks for a little less than the ceiling that it measured.
ASKED_SHARE = 0.9
#: TRex's own manual calls a generator's CPU above this too busy to pace well.
BUSY_CPU_PERCENT = 85.0

MORE = ("give the tester another CPU, or a faster one", "larger frames, which cost it less a bit")


@rule("tester", Stage.WHOLE, reference="the tester's ceiling, measured over the bare wire")
def tester(evidence: Evidence) -> Finding | None:
    """Asked for what it can do by itself, less than the line, and nothing was lost."""
    given, ceiling = evidence.conditions, evidence.tester_ceiling_pps
    if given is None or ceiling is None or lost_for_capacity(evidence) > 0:
        return None
    if ceiling >= given.line.packets_per_second or given.asked_pps < ASKED_SHARE * ceiling:
        return None
    if pushed_back(evidence):
        return None
    absent = given.absence_packets
    but = f" but {absent:,} packets that the host's absences cost" if absent else ""
    return Finding(
        limit="tester",
        confidence="high",
        sentence=(
            f"all {given.offered_pps / 1e6:.2f} Mpps that the tester offered came back{but}; its "
            f"own ceiling is {ceiling / 1e6:.2f} of the line's "
            f"{given.line.packets_per_second / 1e6:.2f} Mpps"
        ),
        evidence=(given.quote,),
        try_=MORE,
    )


@rule("tester", Stage.RESOURCE, reference="TRex manual: CPU utilisation and queue_full")
def foreign_tester(evidence: Evidence) -> Finding | None:
    """A traffic generator that says itself that it can't keep up."""
    for one in evidence.testers:
        said = _complaint(one)
        if said and not capacity_losses(evidence):
            return Finding(
                limit="tester",
                confidence="medium",
                sentence=f"{one.name} could not send what it was to: {said}",
                evidence=(one.quote,),
                try_=MORE,
            )
    return None


def _complaint(one: Tester) -> str:
    if one.queue_full:
        return f"its tx queues were full {one.queue_full:,} times"
    if one.cpu_percent is not None and one.cpu_percent >= BUSY_CPU_PERCENT:
        return f"its CPU was busy for {one.cpu_percent:.0f} %"
    return ""
