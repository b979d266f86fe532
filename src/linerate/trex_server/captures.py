"""Captures of clients: frames of some ports in one buffer, until they are fetched."""

import base64
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from linerate.model.captured_frame import CapturedFrame
from linerate.trex_server.errors import FailedError
from linerate.trex_server.traffic_engine import PortCapture, TrafficEngineError

#: Captures at once, as TRex has them.
CAPTURES_MAX = 10
#: Frames of one buffer, and their bytes.
FRAMES_MAX = 100_000
BYTES_MAX = 16 << 20
#: Frames that may wait in the engine; a buffer that is smaller needs no more.
RING_MIN, RING_MAX = 64, 4096
#: Answers that are read of a port at once: requests of others wait for it …
READS = 8
#: … and at the end: all of a ring, a few frames an answer at least.
LAST_READS = 1024
#: Bytes of the frames in one answer to a client.
FETCH_BYTES_MAX = 2 << 20


@dataclass(frozen=True, slots=True)
class Order:
    """A capture as a client asks for it."""

    rx: frozenset[int]
    tx: frozenset[int]
    #: Frames in the buffer.
    limit: int
    #: When it is full, the oldest make room; else the newest are dropped.
    is_cyclic: bool = False
    #: pcap-filter(7); empty: every frame.
    filter: str = ""
    #: Bytes of a frame that are kept; None: all.
    snap_bytes: int | None = None

    @property
    def ports(self) -> list[int]:
        """Numbers of its ports."""
        return sorted(self.rx | self.tx)

    @property
    def ring(self) -> int:
        """Frames that wait in the engine."""
        return max(RING_MIN, min(self.limit, RING_MAX))


@dataclass(frozen=True, slots=True)
class _Kept:
    index: int
    port: int
    frame: CapturedFrame


class Capture:
    """A running one, and its buffer."""

    def __init__(
        self, number: int, order: Order, sources: Mapping[int, PortCapture], now: float
    ) -> None:
        """`now` is of the Unix clock, as the times of frames are."""
        self.number = number
        self.order = order
        self.started_at = now
        self.is_active = True
        self._sources = sources
        self._kept: deque[_Kept] = deque()
        self._bytes = 0
        self._captured = 0

    @property
    def count(self) -> int:
        """Frames in the buffer."""
        return len(self._kept)

    def take(self, reads: int = READS) -> None:
        """Move frames from the engine to the buffer; one that the engine ended has no more."""
        if not self.is_active:
            return
        found: list[tuple[int, CapturedFrame]] = []
        try:
            for port, source in self._sources.items():
                found += [(port, frame) for frame in _read(source, reads)]
        except TrafficEngineError:
            self.is_active = False
        for port, frame in sorted(found, key=lambda one: one[1].time_ns):
            self._keep(port, frame)

    def _keep(self, port: int, frame: CapturedFrame) -> None:
        self._captured += 1
        if self._is_full and not self.order.is_cyclic:
            return
        while self._kept and self._is_full:
            self._drop()
        self._kept.append(_Kept(self._captured, port, frame))
        self._bytes += len(frame.data)

    @property
    def _is_full(self) -> bool:
        return len(self._kept) >= self.order.limit or self._bytes >= BYTES_MAX

    def _drop(self) -> _Kept:
        oldest = self._kept.popleft()
        self._bytes -= len(oldest.frame.data)
        return oldest

    def fetched(self, limit: int, snap_bytes: int | None = None) -> list[dict[str, Any]]:
        """Take frames out of the buffer, the oldest first: some, even where one is long."""
        made: list[dict[str, Any]] = []
        size = 0
        while self._kept and len(made) < limit and size < FETCH_BYTES_MAX:
            one = self._drop()
            size += len(one.frame.data)
            made.append(self._document(one, snap_bytes))
        return made

    def _document(self, one: _Kept, snap_bytes: int | None) -> dict[str, Any]:
        return {
            "index": one.index,
            "port": one.port,
            "origin": "TX" if one.frame.is_sent else "RX",
            # The worker's clock may be behind this one by a little.
            "ts": max(self.started_at, one.frame.time_ns / 1e9),
            "wirelen": one.frame.length_bytes,
            "binary": base64.b64encode(one.frame.data[:snap_bytes]).decode(),
        }

    def stop(self) -> None:
        """Capture no more; what the engine has is in the buffer then."""
        if not self.is_active:
            return
        try:
            for source in self._sources.values():
                source.stop()
        except TrafficEngineError:
            self.is_active = False
        self.take(LAST_READS)
        self.is_active = False

    def remove(self) -> None:
        """Give the engine's part back; where it has gone there is nothing to give."""
        self.is_active = False
        for source in self._sources.values():
            _removed(source)

    def status(self) -> dict[str, Any]:
        """As clients list it."""
        return {
            "id": self.number,
            "state": "ACTIVE" if self.is_active else "STOPPED",
            "matched": sum(source.matched for source in self._sources.values()),
            "count": self.count,
            "bytes": self._bytes,
            "limit": self.order.limit,
            "mode": "cyclic" if self.order.is_cyclic else "fixed",
            "filter": {
                "rx": _mask(self.order.rx),
                "tx": _mask(self.order.tx),
                "bpf": self.order.filter,
            },
        }


def _read(source: PortCapture, reads: int) -> Iterator[CapturedFrame]:
    for _ in range(reads):
        frames = source.read()
        if not frames:
            return
        yield from frames


def _removed(source: PortCapture) -> None:
    try:
        source.remove()
    except TrafficEngineError:
        return


def _mask(ports: frozenset[int]) -> int:
    return sum(1 << port for port in ports)


#: Starts the capture of one port.
Start = Callable[[int, Order], PortCapture]


class Captures:
    """All that clients have started, by their numbers."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._made = 0
        self._captures: dict[int, Capture] = {}

    def started(self, order: Order, now: float) -> Capture:
        """Start one; where there are too many the oldest that runs no more is forgotten.

        Raises FailedError, TrafficEngineError.
        """
        if len(self._captures) >= CAPTURES_MAX:
            stopped = [one.number for one in self.all() if not one.is_active]
            if not stopped:
                raise FailedError(f"capture: {CAPTURES_MAX} run already: stop one")
            self.remove(stopped[0])
        sources: dict[int, PortCapture] = {}
        try:
            for port in order.ports:
                sources[port] = self._start(port, order)
        except TrafficEngineError:
            for source in sources.values():
                _removed(source)
            raise
        self._made += 1
        made = self._captures[self._made] = Capture(self._made, order, sources, now)
        return made

    def capture(self, number: int) -> Capture:
        """One that is there; raises FailedError."""
        found = self._captures.get(number)
        if found is None:
            raise FailedError(f"capture {number}: there is none")
        return found

    def all(self) -> list[Capture]:
        """In the order of their numbers."""
        return list(self._captures.values())

    def remove(self, number: int) -> None:
        """End one and forget it; raises FailedError."""
        self.capture(number).remove()
        del self._captures[number]

    def take(self) -> None:
        """Move waiting frames of all to their buffers."""
        for one in self.all():
            one.take()

    def of_port(self, port: int) -> list[Capture]:
        """Those that run on a port."""
        return [one for one in self.all() if one.is_active and port in one.order.ports]
