"""A cloud's allowance for the machine is used up, or a rate that the machine's queues have."""

import re

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import main_losses, quotes, share_of_losses, total
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import Evidence

TRY = (
    "a larger machine: its size sets the allowance",
    "fewer packets a second or fewer tracked flows, by the name of the counter",
)
#: Queues and policers of a kernel's own; a router's.
_OWN = re.compile(r"\btc (?:queue|class|police)\b|policer")
RATE = (
    "a higher rate: the rate that the queue or policer named above is configured with",
    "if it is to shape: nothing, the drops are its work",
)


@rule(
    "shaper",
    Stage.RESOURCE,
    reference="AWS ENA driver: *_allowance_exceeded counts packets queued or dropped above it",
)
def shaper(evidence: Evidence) -> Finding | None:
    """Most packets were held back or dropped above what the cloud allows."""
    lost = main_losses(evidence, "shaper")
    if not lost:
        return None
    places = ", ".join(f"{loss.packets:,} at {loss.place}" for loss in lost[:3])
    own = _OWN.search(lost[0].place) is not None
    packets = f"{total(lost):,} packets"
    who = (
        f"a rate that is configured here dropped {packets} above it"
        if own
        else f"the cloud's shaper held back or dropped {packets} above what it allows this machine"
    )
    return Finding(
        limit="shaper",
        confidence="high",
        sentence=f"{who}: {places}",
        evidence=quotes(*lost),
        try_=RATE if own else TRY,
        explains=share_of_losses(evidence, lost),
    )
