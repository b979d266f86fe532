"""Frames as captured on a port of an engine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """A frame, or its first bytes."""

    #: Since the epoch.
    time_ns: int
    #: The port sent it; else it received it.
    is_sent: bool
    #: Length of the whole frame, without FCS.
    length_bytes: int
    data: bytes


@dataclass(frozen=True, slots=True)
class CaptureCounters:
    """Frames that the filter matched: captured, or missed as the ring was full."""

    matched: int = 0
    captured: int = 0
    missed: int = 0
    #: Lengths of the captured ones, without FCS.
    bytes: int = 0
