"""Events for sessions: each has a queue with a sequence of its own, which it asks for."""

from collections import deque
from enum import IntEnum
from typing import Any

#: A session that asks for nothing for so long has gone.
IDLE_SECONDS = 60.0
SESSIONS_MAX = 64
WAITING_MAX = 4096


class Kind(IntEnum):
    """Numbers of TRex's events."""

    PORT_STARTED = 0
    PORT_STOPPED = 1
    PORT_PAUSED = 2
    PORT_RESUMED = 3
    PORT_JOB_DONE = 4
    PORT_ACQUIRED = 5
    PORT_RELEASED = 6
    PORT_ATTRIBUTES = 8
    PROFILE_STARTED = 10
    PROFILE_STOPPED = 11
    PROFILE_PAUSED = 12
    PROFILE_RESUMED = 13
    PROFILE_FINISHED = 14
    SERVER_STOPPED = 100


class _Queue:
    def __init__(self) -> None:
        self.waiting: deque[dict[str, Any]] = deque()
        self.next_number = 0
        self.asked_at = 0.0


class Events:
    """Queues of all sessions that ask."""

    def __init__(self) -> None:
        self._queues: dict[int | str, _Queue] = {}

    def add(self, kind: Kind, data: dict[str, Any]) -> None:
        """Give an event to every session."""
        self._put({"name": "trex-event", "type": int(kind), "data": data})

    def add_barrier(self, key: int, baseline: bool) -> None:
        """Give a barrier to every session: whoever asked sees it behind all earlier events."""
        self._put({"name": "trex-barrier", "type": key, "data": {}, "baseline": baseline})

    def taken(self, session: int | str, now: float) -> list[dict[str, Any]]:
        """Events that wait for a session, which may be a new one."""
        self._forget(now)
        queue = self._queues.get(session)
        if queue is None:
            queue = self._queues[session] = _Queue()
        queue.asked_at = now
        events = list(queue.waiting)
        queue.waiting.clear()
        return events

    def _put(self, event: dict[str, Any]) -> None:
        for session, queue in list(self._queues.items()):
            if len(queue.waiting) >= WAITING_MAX:
                # Its numbers begin anew, which a client takes for a new server.
                del self._queues[session]
                continue
            queue.waiting.append(event | {"seq": queue.next_number})
            queue.next_number += 1

    def _forget(self, now: float) -> None:
        oldest_first = sorted(self._queues, key=lambda name: self._queues[name].asked_at)
        for session in oldest_first:
            gone = now - self._queues[session].asked_at > IDLE_SECONDS
            if gone or len(self._queues) >= SESSIONS_MAX:
                del self._queues[session]
