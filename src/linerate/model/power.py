"""Power of a box during a trial: readings, windows without and under load, figures with an error.

Each ± is about 95 %: the reading's step, the spread of readings, the part of a window that one
interval of the source may have of another, and the meter's own error where it is known.
"""

import math
from typing import Literal

from linerate.base.frozen_model import FrozenModel


class Estimate(FrozenModel):
    """A figure and its error."""

    value: float
    plus_minus: float

    def relative(self) -> float:
        """Error over the value's size."""
        return self.plus_minus / abs(self.value) if self.value else math.inf


class Thermal(FrozenModel):
    """CPUs of a machine at one moment; None where it does not say."""

    mhz_least: float | None = None
    mhz_mean: float | None = None
    celsius_most: float | None = None


class PowerReading(FrozenModel):
    """One reading: power, or a counter of energy that only grows, or both."""

    watts: float | None = None
    joules: float | None = None


class PowerSample(PowerReading):
    """A reading at a moment of a trial."""

    #: Since the first packet; before it negative.
    at_us: int


class PowerWindow(FrozenModel):
    """Energy over a stretch of time."""

    seconds: float
    readings: int
    watts: Estimate
    joules: Estimate
    #: From an energy counter, or by integration of readings of power.
    by: Literal["counter", "integration"]


class MeterAbout(FrozenModel):
    """The meter, as it was when it was read."""

    source: str
    #: Parts that are measured: the box at the wall, or CPU packages alone.
    covers: str
    interval_seconds: float
    #: Smallest step of its power; 0 where it is finer than the figures.
    resolution_watts: float
    #: The same of its counter, where it has one.
    resolution_joules: float | None = None
    #: Its own error in % of the reading; None where it is not known, and not in any ±.
    accuracy_percent: float | None = None


class PowerTrial(FrozenModel):
    """Power before, during and after the load of one trial."""

    about: MeterAbout
    idle_before: PowerWindow | None = None
    load: PowerWindow | None = None
    idle_after: PowerWindow | None = None
    #: Why there is no figure under load.
    missing: str = ""
    #: Readings that failed while it ran, and why the last of them did.
    failed: int = 0
    failure: str = ""
    samples: tuple[PowerSample, ...] = ()

    @property
    def idle_watts(self) -> Estimate | None:
        """Power without load: the mean of before and after, and half their difference as error."""
        found = [one.watts for one in (self.idle_before, self.idle_after) if one is not None]
        if not found:
            return None
        mean = sum(one.value for one in found) / len(found)
        drift = (max(one.value for one in found) - min(one.value for one in found)) / 2
        own = math.sqrt(sum(one.plus_minus**2 for one in found)) / len(found)
        return Estimate(value=mean, plus_minus=math.hypot(own, drift))


class PowerFigures(FrozenModel):
    """Figures of a trial's power, as tables have them."""

    about: MeterAbout
    watts: Estimate | None = None
    idle_watts: Estimate | None = None
    over_idle_watts: Estimate | None = None
    #: Energy over the load.
    joules: Estimate | None = None
    #: Millions of packets received a second, for each watt.
    mpps_per_watt: Estimate | None = None
    #: Energy of a packet that came through, nanojoules: of all that the box draws …
    nj_per_packet: Estimate | None = None
    #: … and of what it draws over idle.
    nj_per_packet_over_idle: Estimate | None = None
    by: Literal["counter", "integration"] | None = None
    readings: int = 0
    #: Why figures are missing.
    missing: str = ""


def figures_of(trial: PowerTrial | None, received_pps: float) -> PowerFigures | None:
    """Figures of a trial that brought that many packets a second through."""
    if trial is None:
        return None
    idle = trial.idle_watts
    load = trial.load
    if load is None:
        return PowerFigures(about=trial.about, idle_watts=idle, missing=trial.missing)
    watts = load.watts
    over = None if idle is None else _over(watts, idle, trial.about.accuracy_percent)
    return PowerFigures(
        about=trial.about,
        watts=watts,
        idle_watts=idle,
        over_idle_watts=over,
        joules=load.joules,
        mpps_per_watt=_ratio(received_pps / 1e6, watts),
        nj_per_packet=_per_packet(watts, received_pps),
        nj_per_packet_over_idle=None if over is None else _per_packet(over, received_pps),
        by=load.by,
        readings=load.readings,
    )


def _over(watts: Estimate, idle: Estimate, accuracy_percent: float | None) -> Estimate:
    """Difference by one meter: its own error is one of the difference, not of both readings."""
    share = (accuracy_percent or 0.0) / 100
    random = (
        math.sqrt(max(0.0, one.plus_minus**2 - (share * one.value) ** 2)) for one in (watts, idle)
    )
    value = watts.value - idle.value
    return Estimate(value=value, plus_minus=math.hypot(*random, share * value))


def _ratio(figure: float, watts: Estimate) -> Estimate | None:
    if watts.value <= 0:
        return None
    return Estimate(value=figure / watts.value, plus_minus=figure / watts.value * watts.relative())


def _per_packet(watts: Estimate, pps: float) -> Estimate | None:
    if pps <= 0:
        return None
    return Estimate(value=1e9 * watts.value / pps, plus_minus=1e9 * watts.plus_minus / pps)
