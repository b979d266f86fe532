"""Evidence: normalised counters of tester, card, device under test and host."""

from linerate.evidence.model import (
    DropCount,
    Evidence,
    Load,
    Progress,
    Reading,
    Stamp,
    WorkerReading,
)

__all__ = ["DropCount", "Evidence", "Load", "Progress", "Reading", "Stamp", "WorkerReading"]
