"""Contents of one scrape: engines, their runs, and VPP."""

from dataclasses import dataclass, field

from linerate.engine.snapshot import Look
from linerate.model.evidence import Evidence
from linerate.ui.exporter.runs import RunState


@dataclass(frozen=True, slots=True)
class Scene:
    """All that metrics are made of."""

    look: Look
    #: By engine; those that no lab of ours started are missing.
    runs: dict[str, RunState] = field(default_factory=dict)
    vpp: Evidence | None = None
    #: Total duration.
    seconds: float = 0.0
