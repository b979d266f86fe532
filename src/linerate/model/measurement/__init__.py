"""Measurements: the counters of one trial of ours, as they were read."""

from linerate.model.measurement.counters import DropCount, Link, TrialCounters
from linerate.model.measurement.flows import Counters
from linerate.model.measurement.slices import Slice, Slices
from linerate.model.measurement.trial import (
    FAR_NS,
    Asked,
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
    "Asked",
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
    "TrialCounters",
    "WorkerReading",
]
