"""The line is full: nothing could have been faster."""

from linerate.evidence import Evidence
from linerate.explain.model import Finding
from linerate.explain.rules import Stage, rule

#: Pacing is that exact: from here on the line is full.
LINE_FULL_PERCENT = 99.9


@rule("line", Stage.WHOLE, reference="IEEE 802.3: frame, 8 bytes of preamble, 12 of gap")
def line(evidence: Evidence) -> Finding | None:
    """All that the links carry came back, but for what the host's absences cost."""
    given = evidence.conditions
    if given is None or not given.sent_packets or not given.link_bps:
        return None
    whole = 1 + given.absence_packets / max(given.received_packets, 1)
    if given.percent_of_line * whole < LINE_FULL_PERCENT:
        return None
    return Finding(
        limit="line",
        confidence="high",
        sentence=(
            f"{given.received_pps / 1e6:.2f} Mpps of {given.frame_bytes:g} bytes came back: "
            f"{given.percent_of_line:.2f} % of the line"
        ),
        evidence=(given.quote,),
        try_=("a faster link, if more is wanted",),
    )
