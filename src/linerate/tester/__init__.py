"""What every tester can do; one adapter a file."""

from typing import Protocol

from linerate.evidence import Progress, Reading, WorkerReading
from linerate.evidence.model import RoundTrip


class Tester(Protocol):
    """Sends, receives and counts; `linerate.trial` drives it."""

    def readings(self) -> Reading:
        """All counters, of the device under test too where the tester can see them."""

    def workers(self) -> tuple[WorkerReading, ...]:
        """Clocks alone: cheap enough to ask while packets fly."""

    def roundtrips(self) -> tuple[RoundTrip, ...]:
        """Round trip of a cache line between the workers; none where that is unknown."""

    def steal_seconds(self) -> dict[str, float]:
        """By worker: how long the hypervisor kept its CPU since boot."""

    def involuntary_switches(self) -> dict[str, int]:
        """By worker: how often the kernel took its CPU away so far."""

    def start(self, duration_us: int, scale_ppm: int) -> None:
        """Start to send, at that many millionths of the streams' rates."""

    def stop(self) -> None:
        """Stop sending now."""

    def progress(self) -> Progress:
        """How far the trial is."""
