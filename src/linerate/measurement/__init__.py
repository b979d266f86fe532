"""Measurements: the counters of one trial of ours, as they were read."""

from linerate.measurement.model import (
    DropCount,
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
    "DropCount",
    "Load",
    "Measurement",
    "Progress",
    "Reading",
    "Sample",
    "Stamp",
    "ToolCpu",
    "WorkerReading",
]
