"""`linerate capture`: frames of a live engine's port, in lines or in a file."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from linerate.base.errors import UserError
from linerate.base.published import printed
from linerate.base.safe_open import open_own
from linerate.base.signals import noted
from linerate.cli.live_engine import EngineName, connect
from linerate.cli.options import JsonOption
from linerate.engine.frame_capture import CaptureOrder, Direction, FrameCapture, port_names
from linerate.model.captured_frame import CapturedFrame
from linerate.report.captured_frame import captured
from linerate.report.frame_text import frame_line
from linerate.report.pcapng import CaptureWriter
from linerate.ui.screen import complain, say

#: Pause between two looks at whether frames wait.
POLL_SECONDS = 0.02


def _complete_port(incomplete: str) -> list[str]:
    """Ports of the only live engine; without one there is nothing to complete."""
    try:
        with connect(None) as telemetry:
            names = port_names(telemetry)
    except UserError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def capture(
    port: Annotated[
        str,
        typer.Argument(help="Port of the engine.", metavar="PORT", autocompletion=_complete_port),
    ],
    filter_text: Annotated[
        str,
        typer.Option("--filter", help="Which frames, as of tcpdump.", metavar="'arp or icmp'"),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--write", "-w", help="Write a pcapng file, not lines.", metavar="FILE"),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-c", help="End after that many frames.", min=1)
    ] = None,
    snap: Annotated[
        int | None,
        typer.Option("--snap", help="Bytes of each frame that are kept.", min=14, max=9728),
    ] = None,
    direction: Annotated[
        Direction, typer.Option("--direction", help="Frames received, sent, or both.")
    ] = "rx",
    ring: Annotated[
        int | None,
        typer.Option("--ring", help="Frames that may wait to be read.", min=1, max=65536),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", help="End after that many seconds.", min=0.1)
    ] = None,
    name: EngineName = None,
    as_json: JsonOption = False,
) -> None:
    """Capture frames of a live engine's port: a line each, or a file for Wireshark."""
    order = CaptureOrder(port, direction, filter_text.strip(), snap, count, ring)
    with (
        connect(name) as telemetry,
        FrameCapture(telemetry, order) as running,
        noted() as is_ended,
    ):
        frames = _Frames(running, timeout, is_ended)
        kept: list[CapturedFrame] = []
        if out is not None:
            _write(frames, order, out)
        elif as_json:
            for some in frames:
                kept += some
        else:
            _print(frames)
    counted = running.counters
    if as_json:
        say(printed("capture", captured(counted, kept)))
        return
    complain(
        f"{counted.captured} frames captured, {counted.matched} matched the filter, "
        f"{counted.missed} missed: no room to wait"
    )


def _print(frames: "_Frames") -> None:
    for some in frames:
        for frame in some:
            say(frame_line(frame))


class _Frames:
    """Frames as they come, some at a time, and at the end those that still wait."""

    def __init__(
        self, running: FrameCapture, timeout: float | None, is_ended: Callable[[], bool]
    ) -> None:
        self.running = running
        self._end = None if timeout is None else time.monotonic() + timeout
        self._is_ended = is_ended

    def __iter__(self) -> Iterator[list[CapturedFrame]]:
        while not self._is_over():
            yield self.running.read()
            if self.running.is_empty:
                time.sleep(POLL_SECONDS)
        self.running.stop()
        self.running.is_empty = False
        while not self.running.is_empty:
            yield self.running.read()

    def _is_over(self) -> bool:
        late = self._end is not None and time.monotonic() >= self._end
        return late or self.running.is_over or self._is_ended()


def _write(frames: _Frames, order: CaptureOrder, out: Path) -> None:
    with open_own(out) as file:
        writer = CaptureWriter(file, order.port, order.filter, order.snap_bytes or 0)
        for some in frames:
            for frame in some:
                writer.write(frame)
            # For those who read it while it grows.
            writer.flush()
        writer.end(frames.running.counters)
