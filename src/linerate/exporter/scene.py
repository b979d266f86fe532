"""What one scrape saw: engines, the runs that they belong to, and VPP."""

from dataclasses import dataclass, field

from linerate.evidence import Evidence
from linerate.exporter.runs import RunState
from linerate.snapshot import Look


@dataclass(frozen=True, slots=True)
class Scene:
    """All that metrics are made of."""

    look: Look
    #: By engine; those that no lab of ours started are missing.
    runs: dict[str, RunState] = field(default_factory=dict)
    vpp: Evidence | None = None
    #: How long all of it took.
    seconds: float = 0.0
