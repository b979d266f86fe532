"""Measurements: the counters of one trial of ours, as they were read."""

from linerate.measurement.model import (
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
from linerate.measurement.slices import Slice, Slices

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
