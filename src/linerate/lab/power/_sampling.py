"""Readings of a meter at its own interval, by a thread of its own.

Whoever measures never waits for the meter: what it did not answer in time is missing.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from linerate.analysis.power_windows import At, nonsense
from linerate.lab.power import Meter, MeterError
from linerate.model.power import MeterAbout

#: Readings that are kept; of the older ones each second is left out when there are more.
READINGS_MAX = 50_000
#: Intervals after which a meter that failed is asked again, at most.
BACK_OFF_MAX = 8
#: The thread ends by itself; one that hangs is left behind, as it holds nothing of ours.
JOIN_SECONDS = 0.5


@dataclass(slots=True)
class Failures:
    """Readings that failed so far, and why the last of them did."""

    count: int = 0
    reason: str = ""
    #: When the meter was last asked and has not yet answered; None while it is not asked.
    asked_at: float | None = None


@dataclass
class Sampler:
    """Reads one meter until it is stopped."""

    meter: Meter
    clock: Callable[[], float] = time.monotonic
    failures: Failures = field(default_factory=Failures)

    def __post_init__(self) -> None:
        self._readings: deque[At] = deque()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read_on, name="power", daemon=True)

    @property
    def about(self) -> MeterAbout:
        """The meter."""
        return self.meter.about

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """End it; a meter that hangs is left to its own time limit."""
        self._over.set()
        self._thread.join(JOIN_SECONDS)

    def readings(self, begin: float, end: float) -> list[At]:
        """Readings between two moments, and the next one on both sides."""
        found = list(self._readings)
        first = max((n for n, one in enumerate(found) if one.seconds < begin), default=0)
        last = min((n for n, one in enumerate(found) if one.seconds > end), default=len(found))
        return found[first : last + 1]

    def _read_on(self) -> None:
        interval = self.about.interval_seconds
        waits = 1
        try:
            while not self._over.is_set():
                began = self.clock()
                waits = 1 if self._read(began) else min(2 * waits, BACK_OFF_MAX)
                self._over.wait(max(0.0, began + waits * interval - self.clock()))
        finally:
            self.meter.close()

    def _read(self, began: float) -> bool:
        """Take a reading; returns whether there was one."""
        self.failures.asked_at = began
        try:
            reading = self.meter.read()
        except MeterError as error:
            self._failed(str(error))
            return False
        except Exception as error:  # a source's bug costs a figure, and no trial
            self._failed(f"{self.about.source}: {type(error).__name__}: {error}")
            return False
        finally:
            self.failures.asked_at = None
        if problem := nonsense(reading):
            self._failed(f"{self.about.source}: {problem}")
            return False
        # It is of some moment between question and answer.
        moment = (began + self.clock()) / 2
        if len(self._readings) >= READINGS_MAX:
            kept = list(self._readings)
            older = len(kept) // 2
            self._readings = deque([*kept[:older:2], *kept[older:]])
        self._readings.append(At(moment, reading.watts, reading.joules))
        return True

    def _failed(self, reason: str) -> None:
        self.failures.count += 1
        self.failures.reason = " ".join(reason.split())[:300]
