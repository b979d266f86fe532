"""Captured frames as JSON."""

from collections.abc import Iterable

from linerate.base.published import Output, published
from linerate.model.captured_frame import CaptureCounters, CapturedFrame
from linerate.report.frame_text import describe


class CapturedFrameOutput(Output):
    """A frame that a port received or sent."""

    #: Time on the host's clock, since the epoch.
    time_ns: int
    #: `rx` received, `tx` sent.
    direction: str
    #: Length of the whole frame, without FCS.
    length_bytes: int
    #: Its bytes, as many as were kept; hexadecimal.
    frame: str
    #: Addresses, protocol, and what ARP and ICMP ask and answer.
    text: str


@published("capture", "JSON of `linerate capture --json`")
class CaptureOutput(Output):
    """Captured frames; none of them where they were written to a file."""

    #: Frames that the filter matched: captured, or missed.
    matched: int
    captured: int
    #: No room was left for them to wait in.
    missed: int
    #: Lengths of the captured frames together, without FCS.
    bytes: int
    frames: tuple[CapturedFrameOutput, ...]


def captured(counters: CaptureCounters, frames: Iterable[CapturedFrame]) -> CaptureOutput:
    """For programs."""
    return CaptureOutput(
        matched=counters.matched,
        captured=counters.captured,
        missed=counters.missed,
        bytes=counters.bytes,
        frames=tuple(
            CapturedFrameOutput(
                time_ns=frame.time_ns,
                direction="tx" if frame.is_sent else "rx",
                length_bytes=frame.length_bytes,
                frame=frame.data.hex(),
                text=describe(frame.data),
            )
            for frame in frames
        ),
    )
