"""Frames of a live engine's port, copied out by a filter."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

from linerate.engine.telemetry import Telemetry, TelemetryError, rows
from linerate.model.captured_frame import CaptureCounters, CapturedFrame

Direction = Literal["rx", "tx", "both"]
_ROW = ("time_ns", "direction", "length", "kept", "more")


@dataclass(frozen=True, slots=True)
class CaptureOrder:
    """A capture as the engine starts it; what is None is the engine's default."""

    port: str
    direction: Direction = "rx"
    #: pcap-filter(7); empty: every frame.
    filter: str = ""
    #: Bytes of a frame that are kept.
    snap_bytes: int | None = None
    #: Frames after which it ends.
    limit: int | None = None
    #: Frames that may wait to be read.
    ring: int | None = None

    def parameters(self) -> str:
        """As the engine reads them; the filter last, since it may have commas."""
        keys = {
            "port": self.port,
            "direction": self.direction,
            "snap": self.snap_bytes,
            "limit": self.limit,
            "ring": self.ring,
            "filter": self.filter or None,
        }
        return ",".join(f"{name}={value}" for name, value in keys.items() if value is not None)


class FrameCapture:
    """A capture that runs until it is left; a context manager."""

    def __init__(self, telemetry: Telemetry, order: CaptureOrder) -> None:
        """It starts on entry."""
        self._telemetry = telemetry
        self._order = order
        self._id = 0
        #: Bytes of a frame whose rest is in the next answer.
        self._begun = b""
        self.counters = CaptureCounters()
        #: The engine captures no more.
        self.is_over = False
        #: No frame waited at the last look.
        self.is_empty = False

    def __enter__(self) -> Self:
        answer = self._telemetry.ask(f"/linerate/capture/start,{self._order.parameters()}")
        self._id = int(answer["id"])
        return self

    def __exit__(self, *_: object) -> None:
        self._telemetry.ask(f"/linerate/capture/remove,{self._id}")

    def stop(self) -> None:
        """Capture no more; frames that wait can still be read."""
        self._note(self._telemetry.ask(f"/linerate/capture/stop,{self._id}"))

    def read(self) -> list[CapturedFrame]:
        """Read frames that wait, in the order of their times: as many as one answer has.

        None may be whole while some are there: `is_empty` says whether none was.
        """
        command = f"/linerate/capture/frames,{self._id}"
        answer = self._telemetry.ask(command)
        self._note(answer)
        self.is_empty = not answer["time_ns"]
        return list(self._read(answer, command))

    def _note(self, answer: dict[str, Any]) -> None:
        self.counters = CaptureCounters(
            *(int(answer[name]) for name in ("matched", "captured", "missed", "bytes"))
        )
        self.is_over = answer["state"] != "running"

    def _read(self, answer: dict[str, Any], command: str) -> Iterator[CapturedFrame]:
        data = bytes.fromhex("".join(answer["frames"]))
        at = 0
        for row in rows({name: answer[name] for name in _ROW}, command):
            end = at + int(row["kept"])
            if end > len(data):
                raise TelemetryError(f"{command}: {len(data)} bytes of {end}")
            self._begun += data[at:end]
            at = end
            if row["more"]:
                continue
            yield CapturedFrame(
                time_ns=int(row["time_ns"]),
                is_sent=row["direction"] == "tx",
                length_bytes=int(row["length"]),
                data=self._begun,
            )
            self._begun = b""


def port_names(telemetry: Telemetry) -> list[str]:
    """Ports of an engine."""
    return [str(row["name"]) for row in telemetry.table("/linerate/ports")]
