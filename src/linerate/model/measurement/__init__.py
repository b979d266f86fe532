"""Measurements: the counters of one trial of ours, as they were read."""

from linerate.model.measurement.slices import Slice, Slices
from linerate.model.measurement.trial import (
    FAR_NS,
    Counters,
    DropCount,
    Link,
    Load,
    Measurement,
    Progress,
    Reading,
    Sample,
    Stamp,
    ToolCpu,
    WorkerReading,
)

__all__ = [
    "FAR_NS",
    "Counters",
    "DropCount",
    "Link",
    "Load",
    "Measurement",
    "Progress",
    "Reading",
    "Sample",
    "Slice",
    "Slices",
    "Stamp",
    "ToolCpu",
    "WorkerReading",
]
