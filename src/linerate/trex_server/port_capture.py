"""A capture of one port, over the engine's telemetry."""

from linerate.engine.frame_capture import CaptureOrder, FrameCapture
from linerate.engine.telemetry import Telemetry
from linerate.model.captured_frame import CapturedFrame
from linerate.trex_server.reported import reported


class TelemetryCapture:
    """Runs from its making on."""

    def __init__(self, telemetry: Telemetry, order: CaptureOrder) -> None:
        """Start it; raises TrafficEngineError."""
        self._capture = FrameCapture(telemetry, order)
        reported(self._capture.__enter__)

    @property
    def matched(self) -> int:
        """Frames that the filter matched, as of the last reading."""
        return self._capture.counters.matched

    def read(self) -> list[CapturedFrame]:
        """Frames that wait, as many as an answer has; a long one comes in several answers."""
        frames = reported(self._capture.read)
        while not frames and not self._capture.is_empty:
            frames = reported(self._capture.read)
        return frames

    def stop(self) -> None:
        """Capture no more; frames that wait can still be read."""
        reported(self._capture.stop)

    def remove(self) -> None:
        """End it."""
        reported(self._capture.__exit__)
