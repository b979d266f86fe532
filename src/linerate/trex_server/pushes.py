"""Frames that clients push, each at its time."""

from collections import deque
from collections.abc import Sequence

from linerate.trex_server.errors import FailedError
from linerate.trex_server.traffic_engine import TrafficEngine, TrafficEngineError

#: Frames of a port that wait for their time.
WAITING_MAX = 4096
#: Frames given to the engine at once, which has room for 256.
AT_ONCE_MAX = 128


class Pushes:
    """Queues of all ports."""

    def __init__(self, engine: TrafficEngine) -> None:
        self._engine = engine
        #: By the port's name in the engine: when they are due, and frames.
        self._waiting: dict[str, deque[tuple[float, bytes]]] = {}

    def add(self, port: str, frames: Sequence[bytes], gap_s: float, now: float) -> None:
        """Send the first frame now, each other one a gap after the one before.

        Raises FailedError, TrafficEngineError; then none of the port wait any more.
        """
        waiting = self._waiting.setdefault(port, deque())
        if len(waiting) + len(frames) > WAITING_MAX:
            raise FailedError(f"push_pkts: {len(waiting)} frames wait already: push fewer")
        waiting.extend((now + number * gap_s, frame) for number, frame in enumerate(frames))
        self._send(port, now)

    def send(self, now: float) -> None:
        """Send what is due; frames that the engine refuses are lost with those behind them."""
        for port in list(self._waiting):
            try:
                self._send(port, now)
            except TrafficEngineError:
                self._waiting.pop(port, None)

    def seconds_left(self, now: float) -> float | None:
        """Time until the next frame is due; None: none waits."""
        due = [waiting[0][0] for waiting in self._waiting.values() if waiting]
        return max(0.0, min(due) - now) if due else None

    def _send(self, port: str, now: float) -> None:
        waiting = self._waiting[port]
        frames: list[bytes] = []
        while waiting and waiting[0][0] <= now and len(frames) < AT_ONCE_MAX:
            frames.append(waiting.popleft()[1])
        if frames:
            self._engine.inject(port, frames)
