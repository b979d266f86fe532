"""Measurements: the counters of one trial of ours, as they were read."""

from linerate.model.measurement.slices import Slice, Slices
from linerate.model.measurement.trial import (
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
