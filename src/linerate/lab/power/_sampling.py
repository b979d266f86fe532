"""Readings of a meter at its own interval, by a thread of its own, and windows of them.

Whoever measures never waits for the meter: what it did not answer in time is missing.
"""

import math
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from linerate.lab.power import Meter, MeterError
from linerate.model.power import Estimate, MeterAbout, PowerReading, PowerWindow

#: Readings that are kept: half a day of one a second.
READINGS_MAX = 50_000
#: A meter that failed is asked again after so many intervals at most.
BACK_OFF_MAX = 8
#: The thread ends by itself; one that hangs is left behind, as it holds nothing of ours.
JOIN_SECONDS = 0.5
#: 95 % of a normal distribution lie within this many standard deviations.
SIGMAS = 1.96


@dataclass(frozen=True, slots=True)
class At:
    """A reading, and its moment on the monotonic clock."""

    seconds: float
    watts: float | None
    joules: float | None


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
        self._readings: deque[At] = deque(maxlen=READINGS_MAX)
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
        self._readings.append(At(moment, reading.watts, reading.joules))
        return True

    def _failed(self, reason: str) -> None:
        self.failures.count += 1
        self.failures.reason = " ".join(reason.split())[:300]


def nonsense(reading: PowerReading) -> str:
    """Why a reading is no figure of a box; nothing where it may be one."""
    if reading.watts is None and reading.joules is None:
        return "no figure"
    for value in (reading.watts, reading.joules):
        if value is not None and not math.isfinite(value):
            return f"{value}, expected a number"
    if reading.watts is not None and not 0 <= reading.watts < 1e6:
        return f"{reading.watts:g} W, expected 0 to 1,000,000"
    return ""


def window(
    readings: Sequence[At], begin: float, end: float, about: MeterAbout
) -> PowerWindow | None:
    """Energy between two moments; None where the readings do not say."""
    by_counter = _counted(readings, begin, end, about)
    return by_counter or _integrated(readings, begin, end, about)


def _counted(
    readings: Sequence[At], begin: float, end: float, about: MeterAbout
) -> PowerWindow | None:
    """By the counter: its growth between the first and the last reading within."""
    inside = [one for one in readings if one.joules is not None and begin <= one.seconds <= end]
    if len(inside) < 2:
        return None
    first, last = inside[0], inside[-1]
    seconds = last.seconds - first.seconds
    if seconds <= 0 or first.joules is None or last.joules is None:
        return None
    watts = (last.joules - first.joules) / seconds
    if watts < 0:
        return None
    step = (about.resolution_joules or 0.0) / seconds
    # The parts before the first and after the last reading are taken to be as the rest.
    left_out = max(0.0, end - begin - seconds) / (end - begin)
    parts = [
        (late.joules - early.joules) / (late.seconds - early.seconds)
        for early, late in pairwise(inside)
        if early.joules is not None and late.joules is not None and late.seconds > early.seconds
    ]
    spread = statistics.stdev(parts) if len(parts) > 1 else 0.0
    own = _own_error(watts, about)
    error = math.sqrt(step**2 + (SIGMAS * spread * left_out) ** 2 + own**2)
    return _window(Estimate(value=watts, plus_minus=error), end - begin, len(inside), "counter")


def _integrated(
    readings: Sequence[At], begin: float, end: float, about: MeterAbout
) -> PowerWindow | None:
    """By the trapezoid rule; what a source read in its first interval may be of before."""
    known = [(one.seconds, one.watts) for one in readings if one.watts is not None]
    settled = begin + about.interval_seconds
    if end - begin < 3 * about.interval_seconds:
        settled = begin
    inside = [(at, watts) for at, watts in known if settled <= at <= end]
    if not inside:
        return None
    values = [watts for _, watts in inside]
    mean = _trapezoid(inside)
    count = len(values)
    spread = statistics.stdev(values) if count > 1 else 0.0
    # Few readings say little of their spread.
    scatter = _student(count) * spread / math.sqrt(count)
    around = [watts for at, watts in known if begin - about.interval_seconds <= at <= end]
    # One interval at the beginning may show what was before.
    edge = 0.0
    if settled == begin:
        share = min(1.0, about.interval_seconds / (end - begin))
        edge = share * (max(around) - min(around))
    step = about.resolution_watts / 2
    own = _own_error(mean, about)
    error = math.sqrt(scatter**2 + edge**2 + step**2 + own**2)
    return _window(Estimate(value=mean, plus_minus=error), end - begin, count, "integration")


def _trapezoid(points: Sequence[tuple[float, float]]) -> float:
    """Mean over the time that the points span."""
    seconds = points[-1][0] - points[0][0]
    if seconds <= 0:
        return statistics.fmean(watts for _, watts in points)
    area = sum(
        (late - early) * (first + second) / 2 for (early, first), (late, second) in pairwise(points)
    )
    return area / seconds


#: 95 % quantiles of Student's t, both sides, by readings; more have about the last.
_STUDENT = (0.0, 0.0, 12.7, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


def _student(count: int) -> float:
    return _STUDENT[count] if count < len(_STUDENT) else 2.1


def _own_error(watts: float, about: MeterAbout) -> float:
    return watts * (about.accuracy_percent or 0.0) / 100


def _window(watts: Estimate, seconds: float, readings: int, by: str) -> PowerWindow:
    joules = Estimate(value=watts.value * seconds, plus_minus=watts.plus_minus * seconds)
    return PowerWindow.model_validate(
        {"seconds": seconds, "readings": readings, "watts": watts, "joules": joules, "by": by}
    )
