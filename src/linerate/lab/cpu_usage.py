"""Disturbances of the workers by the machine, and their CPU use, between two points of a trial."""

import time
from dataclasses import dataclass, field

from linerate.host.cpu_counters import Moment, between
from linerate.lab.tester import Tester
from linerate.model.ledger import TimeLedger
from linerate.model.measurement import Progress, Stamp, WorkerReading
from linerate.model.measurement.trial import RoundTrip


def ledgers_since(
    after: tuple[WorkerReading, ...], before: tuple[WorkerReading, ...]
) -> tuple[TimeLedger, ...]:
    """Use of each worker's cycles between two readings."""
    return tuple(later.since(earlier) for later, earlier in zip(after, before, strict=True))


@dataclass(frozen=True, slots=True)
class AtLoad:
    """Worker activity under load."""

    time: tuple[TimeLedger, ...] = ()
    kernel_percent: dict[str, float] = field(default_factory=dict)
    lock_wait_percent: dict[str, float] = field(default_factory=dict)
    #: By worker, the readings of its CPU during the load.
    moments: dict[str, tuple[Moment, ...]] = field(default_factory=dict)


class Use:
    """CPU use of the workers so far."""

    def __init__(self, tester: Tester) -> None:
        self._at = time.monotonic()
        self._kernel = tester.kernel_seconds()
        self._locks = tester.lock_wait_seconds()
        self._workers = tester.workers()
        self._moments = tester.moments()

    def since(self, before: "Use") -> AtLoad:
        """Say what was used between two moments."""
        took = self._at - before._at
        return AtLoad(
            time=ledgers_since(self._workers, before._workers),
            kernel_percent=_percent(self._kernel, before._kernel, took),
            lock_wait_percent=_percent(self._locks, before._locks, took),
            moments={
                name: (before._moments[name], moment) for name, moment in self._moments.items()
            },
        )


class HostReading:
    """Disturbances of the workers, before and after a trial."""

    def __init__(self, tester: Tester, roundtrips: tuple[RoundTrip, ...]) -> None:
        """`roundtrips` can be measured only while no packets fly."""
        self._at = time.monotonic()
        self._roundtrips = roundtrips
        self._steal = tester.steal_seconds()
        self._switches = tester.switches()
        self._moments = tester.moments()

    def stamp(self, tester: Tester, progress: Progress, at_load: "AtLoad") -> Stamp:
        """Disturbances so far; no packet is in flight any more."""
        return self.until(HostReading(tester, tester.roundtrips()), progress, at_load)

    def until(self, after: "HostReading", progress: Progress, at_load: "AtLoad") -> Stamp:
        """Disturbances between two readings."""
        return Stamp(
            roundtrips_before=self._roundtrips,
            roundtrips_after=after._roundtrips,
            steal_seconds={
                name: round(after._steal[name] - seconds, 3)
                for name, seconds in self._steal.items()
            },
            involuntary_switches={
                name: after._switches[name].involuntary - count.involuntary
                for name, count in self._switches.items()
            },
            voluntary_switches={
                name: after._switches[name].voluntary - count.voluntary
                for name, count in self._switches.items()
            },
            descheduled_percent=_percent(
                {name: count.waited_seconds for name, count in after._switches.items()},
                {name: count.waited_seconds for name, count in self._switches.items()},
                after._at - self._at,
            ),
            cpus={
                name: between([moment, *at_load.moments.get(name, ()), after._moments[name]])
                for name, moment in self._moments.items()
            },
            paused_us=progress.paused_us,
            kernel_percent=at_load.kernel_percent,
            lock_wait_percent=at_load.lock_wait_percent,
        )


def _percent(
    after: dict[str, float], before: dict[str, float], took_seconds: float
) -> dict[str, float]:
    """Seconds between two readings, as a share of the time that passed.

    The two clocks are read one after the other: of a short time there may be a little more.
    """
    return {
        name: min(round(100 * (after[name] - seconds) / took_seconds, 1), 100.0)
        if took_seconds
        else 0.0
        for name, seconds in before.items()
    }
