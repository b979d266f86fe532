"""Energy over a stretch of time, from readings of power or of a counter at their own interval."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from linerate.model.power import Estimate, MeterAbout, PowerReading, PowerWindow

#: 95 % of a normal distribution lie within this many standard deviations.
SIGMAS = 1.96


@dataclass(frozen=True, slots=True)
class At:
    """A reading, and its moment on the monotonic clock."""

    seconds: float
    watts: float | None
    joules: float | None


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
    inside = [(at, watts) for at, watts in known if settled <= at < end]
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
