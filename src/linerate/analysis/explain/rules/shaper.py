"""A cloud's allowance for the machine is used up."""

from linerate.analysis.explain.model import Finding
from linerate.analysis.explain.reading import main_losses, quotes, share_of_losses, total
from linerate.analysis.explain.rules import Stage, rule
from linerate.model.evidence import Evidence

TRY = (
    "a larger machine: its size sets the allowance",
    "fewer packets a second or fewer tracked flows, by the name of the counter",
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
    return Finding(
        limit="shaper",
        confidence="high",
        sentence=(
            f"the cloud's shaper held back or dropped {total(lost):,} packets above what it allows "
            f"this machine: {places}"
        ),
        evidence=quotes(*lost),
        try_=TRY,
        explains=share_of_losses(evidence, lost),
    )
