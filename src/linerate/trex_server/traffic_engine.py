"""Requests of the server to an engine: ports, profiles of streams at run time, counters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from linerate.engine.frame_capture import CaptureOrder
from linerate.model.captured_frame import CapturedFrame

ProfileState = Literal["idle", "running", "paused", "done"]
#: A stream in the engine's words.
EngineStream = dict[str, Any]


class TrafficEngineError(Exception):
    """The engine refused a command, or no longer answers; one line."""


@dataclass(frozen=True, slots=True)
class PortInfo:
    """A tester port."""

    name: str
    driver: str
    mac: str
    link_bps: int
    link_up: bool = True
    #: Where frames go whose stream leaves the destination to the server.
    next_mac: str = "00:00:00:00:00:00"
    numa_node: int = 0
    pci_address: str = "N/A"


@dataclass(frozen=True, slots=True)
class PortCounters:
    """Counters of one port since the engine started; bytes without FCS."""

    tx_packets: int = 0
    rx_packets: int = 0
    tx_bytes: int = 0
    rx_bytes: int = 0
    tx_errors: int = 0
    rx_errors: int = 0
    #: Counters of the driver by name, in the same order in each reading.
    extended: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamCounters:
    """Counters of one stream since it was loaded."""

    sent: int = 0
    lost: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    #: By port: frames and bytes (FCS included).
    received: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamLatency:
    """Latency of one stream since it was loaded, in ns."""

    count: int = 0
    min_ns: int = 0
    max_ns: int = 0
    sum_ns: int = 0
    jitter_sum_ns: int = 0
    jitter_count: int = 0
    #: Numbers of HdrHistogram's buckets, and their packets.
    buckets: Sequence[tuple[int, int]] = ()
    #: Highest since the last reading, where the engine reports it.
    last_max_us: float | None = None


@dataclass(frozen=True, slots=True)
class Utilization:
    """Busy share of the tester's worker."""

    cpu_percent: float = 0.0


class PortCapture(Protocol):
    """Frames of one port, captured until it is removed. Each call may raise TrafficEngineError."""

    @property
    def matched(self) -> int:
        """Frames that the filter matched, as of the last reading."""
        ...

    def read(self) -> Sequence[CapturedFrame]:
        """Some frames that wait, the oldest first; none where none wait."""
        ...

    def stop(self) -> None:
        """Capture no more; frames that wait can still be read."""
        ...

    def remove(self) -> None:
        """End it."""
        ...


class TrafficEngine(Protocol):
    """A running engine. Each call may raise TrafficEngineError."""

    def ports(self) -> Sequence[PortInfo]:
        """Tester ports, in the order of their numbers."""
        ...

    def counters(self) -> Mapping[str, PortCounters]:
        """By port."""
        ...

    def utilization(self) -> Utilization:
        """Busy share of the tester's worker."""
        ...

    def load(self, port: str, profile: str, streams: Sequence[EngineStream]) -> None:
        """Add streams to a profile, which is made if there is none."""
        ...

    def remove(self, port: str, profile: str) -> None:
        """Remove a profile and its streams."""
        ...

    def start(
        self,
        port: str,
        profile: str,
        scale: float,
        duration_us: int | None = None,
        at_us: int | None = None,
    ) -> None:
        """Start a profile; without a duration it has no end. `at_us` is of the Unix clock."""
        ...

    def stop(self, port: str, profile: str) -> None:
        """Stop sending."""
        ...

    def pause(self, port: str, profile: str) -> None:
        """Hold all its streams."""
        ...

    def resume(self, port: str, profile: str) -> None:
        """Let them go on."""
        ...

    def set_rate(self, port: str, profile: str, scale: float) -> None:
        """Give a running profile another scale."""
        ...

    def set_stream_rate(self, port: str, profile: str, stream: str, scale: float) -> None:
        """Give one of its streams a scale of its own; 0 pauses it."""
        ...

    def inject(self, port: str, frames: Sequence[bytes]) -> None:
        """Send frames, without FCS, out of a port."""
        ...

    def capture(self, order: CaptureOrder) -> PortCapture:
        """Start to capture frames of a port."""
        ...

    def set_addresses(self, port: str, addresses: Sequence[str], vlan: Sequence[int]) -> None:
        """Give a port other addresses to answer to, in a VLAN; none: it answers nothing."""
        ...

    def profile_states(self) -> Mapping[tuple[str, str], ProfileState]:
        """By port and profile."""
        ...

    def streams(self) -> Mapping[str, StreamCounters]:
        """By the stream's name."""
        ...

    def latencies(self, names: Iterable[str]) -> Mapping[str, StreamLatency]:
        """Latency of these streams, by name."""
        ...
