"""A tester whose device's power is measured: to a trial it is the tester itself.

A trial lets the box rest, starts, ends and asks for its power: before and after its load the box is
idle for as long as the testbed says. Trials that are shorter than two intervals of the meter, as
those that find out the tester's rate, have no power and are not waited for.
"""

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

from linerate.analysis.power_windows import window
from linerate.lab.box.access import Access, BoxError, opened
from linerate.lab.power import Meter, MeterError, open_meter
from linerate.lab.power._hosts import (
    HERE,
    AtBox,
    HostError,
    PowerHost,
    RunLine,
    last_line,
)
from linerate.lab.power._sampling import Sampler
from linerate.lab.tester import Tester
from linerate.lab.tester._passed_on import PassedOn
from linerate.model.measurement import Load, Progress
from linerate.model.power import MeterAbout, PowerReading, PowerSample, PowerTrial, PowerWindow
from linerate.model.power_sources import Meter as Spec
from linerate.model.testbed import Dut

#: Shorter loads say nothing of power.
LOAD_SECONDS_MIN = 1.0
INTERVALS_MIN = 2
#: A window without load has this many readings at least.
IDLE_READINGS = 2
#: Samples that are kept with a trial; of more each n-th.
SAMPLES_MAX = 2000
POLL_SECONDS = 0.05
#: After the load a box is not idle at once.
COOLING_SECONDS = 0.2


@runtime_checkable
class Powered(Protocol):
    """A tester that knows the power of its device."""

    def rest(self, load_seconds: float) -> None:
        """Wait for the idle time before a load."""

    def power(self) -> PowerTrial:
        """Power in the last trial; waits for the idle time after it."""


def rest_before(tester: object, load: Load) -> None:
    """Let the device be idle before a load, where its power is measured.

    A trial calls it before its first readings: idle time is none of its time ledger.
    """
    if isinstance(tester, Powered):
        tester.rest(load.duration_us / 1e6)


def power_of(tester: object) -> PowerTrial | None:
    """Power in a tester's last trial, where it is measured."""
    return tester.power() if isinstance(tester, Powered) else None


class Watch:
    """The power of one device, from trial to trial."""

    def __init__(self, sampler: Sampler, idle_seconds: float) -> None:
        self._sampler = sampler
        self._idle_seconds = idle_seconds
        #: Since when nothing has been offered.
        self._idle_since = time.monotonic()
        self._began = 0.0
        self._ended: float | None = None
        self._before: tuple[float, float] | None = None
        self._failed_before = 0

    @property
    def about(self) -> MeterAbout:
        """The meter."""
        return self._sampler.about

    def rest(self, load_seconds: float) -> None:
        """Wait for the idle time before a load that is long enough; no counter is read before."""
        self._before = self._idle() if self._is_measured(load_seconds) else None

    def begin(self) -> None:
        """Say that the load begins."""
        self._failed_before = self._sampler.failures.count
        self._began, self._ended = time.monotonic(), None

    def end(self) -> None:
        """Say that nothing is sent any more."""
        if self._ended is None:
            self._ended = time.monotonic()
            self._idle_since = self._ended + COOLING_SECONDS

    def since(self, begin: float) -> PowerWindow | None:
        """Power since a moment on the monotonic clock, while packets fly."""
        return self._window((begin, time.monotonic()))

    def trial(self) -> PowerTrial:
        """Power of the trial; its windows."""
        self.end()
        assert self._ended is not None
        if not self._is_measured(self._ended - self._began):
            return PowerTrial(about=self.about, missing=self._too_short())
        after = self._idle()
        first = self._before[0] if self._before else self._began
        last = after[1] if after else self._ended
        load = self._window((self._began, self._ended))
        failures = self._sampler.failures
        failed = failures.count - self._failed_before
        return PowerTrial(
            about=self.about,
            idle_before=self._window(self._before),
            load=load,
            idle_after=self._window(after),
            missing="" if load is not None else self._why_missing(),
            failed=failed,
            failure=failures.reason if failed else "",
            samples=self._samples(first, last),
        )

    def _is_measured(self, load_seconds: float) -> bool:
        """Whether a load is long enough."""
        return load_seconds >= self._least_seconds

    @property
    def _least_seconds(self) -> float:
        return max(LOAD_SECONDS_MIN, min(INTERVALS_MIN * self.about.interval_seconds, 5.0))

    def _too_short(self) -> str:
        return (
            f"{self.about.source}: a load of less than {self._least_seconds:g} s: it is read each "
            f"{self.about.interval_seconds:g} s; give --duration more"
        )

    def _idle(self) -> tuple[float, float] | None:
        """Wait until the box was idle for long enough; returns that time."""
        if not self._idle_seconds:
            return None
        seconds = max(self._idle_seconds, IDLE_READINGS * self.about.interval_seconds)
        # A meter that does not answer is not waited for any longer than one that does.
        while (left := self._idle_since + seconds - time.monotonic()) > 0:
            time.sleep(min(left, POLL_SECONDS))
        now = time.monotonic()
        return max(self._idle_since, now - 2 * seconds), now

    def _window(self, between: tuple[float, float] | None) -> PowerWindow | None:
        if between is None:
            return None
        return window(self._sampler.readings(*between), *between, self.about)

    def _samples(self, first: float, last: float) -> tuple[PowerSample, ...]:
        found = [one for one in self._sampler.readings(first, last) if first <= one.seconds <= last]
        return tuple(
            PowerSample(
                at_us=round((one.seconds - self._began) * 1e6),
                watts=one.watts,
                joules=one.joules,
            )
            for one in found[:: 1 + len(found) // SAMPLES_MAX]
        )

    def _why_missing(self) -> str:
        assert self._ended is not None
        failures = self._sampler.failures
        if failures.count > self._failed_before or (failures.count and failures.reason):
            return failures.reason
        asked_at = failures.asked_at
        if asked_at is not None and time.monotonic() - asked_at > self.about.interval_seconds:
            return f"{self.about.source}: no answer for {time.monotonic() - asked_at:.0f} s"
        return (
            f"{self.about.source}: no reading in {self._ended - self._began:.1f} s of load: it is "
            f"read each {self.about.interval_seconds:g} s; give --duration more"
        )


class Metered(PassedOn):
    """A tester that says when its load begins and ends."""

    def __init__(self, tester: Tester, watch: Watch) -> None:
        super().__init__(tester)
        self._watch = watch

    def start(self, duration_us: int, scale_ppm: int, clean_us: int = 0) -> None:
        """Start."""
        self._watch.begin()
        self._tester.start(duration_us, scale_ppm, clean_us)

    def stop(self) -> None:
        """Stop."""
        self._tester.stop()
        self._watch.end()

    def progress(self) -> Progress:
        """Progress of the trial; the load is over when it drains."""
        progress = self._tester.progress()
        if progress.state in ("draining", "done"):
            self._watch.end()
        return progress

    def rest(self, load_seconds: float) -> None:
        """Wait for the idle time before a load."""
        self._watch.rest(load_seconds)

    def power_since(self, begin: float) -> PowerWindow | None:
        """Power since a moment, while packets fly."""
        return self._watch.since(begin)

    def power(self) -> PowerTrial:
        """Power in the last trial."""
        return self._watch.trial()


@contextmanager
def watching(dut: Dut) -> Iterator[Watch | None]:
    """Read a device's meter for a while; a meter that can't be opened is one that fails."""
    if dut.power is None:
        yield None
        return
    with meter_of(dut.power, dut.at) as meter:
        sampler = Sampler(meter)
        sampler.start()
        try:
            yield Watch(sampler, dut.power.idle_seconds)
        finally:
            sampler.stop()


@contextmanager
def meter_of(spec: Spec, at: str | None) -> Iterator[Meter]:
    """A meter, with the way to the box where it is read there."""
    with contextlib.ExitStack() as stack:
        try:
            box = None
            if at is not None and getattr(spec, "on", "here") == "box":
                box = AtBox(_line_at(stack.enter_context(opened(at))))
            meter = open_meter(spec, box)
        except (MeterError, BoxError) as error:
            meter = Unopened(spec, str(error))
        yield meter


def _line_at(access: Access) -> RunLine:
    """Whatever runs one line of shell at a box."""

    def run(command: str, timeout_s: float) -> str:
        try:
            ran = access.run(command, timeout_s)
        except BoxError as error:
            raise HostError(str(error)) from error
        if ran.status:
            raise HostError(f"{access.where}: {last_line(ran.error.encode(), ran.text.encode())}")
        return ran.text

    return run


@contextmanager
def host_of(dut: Dut) -> Iterator[PowerHost | None]:
    """The machine that forwards: the box, this one, or none that can be asked."""
    if dut.at is None:
        yield None if dut.kind == "external" else HERE
        return
    try:
        with opened(dut.at) as access:
            yield AtBox(_line_at(access))
    except BoxError:
        yield None


class Unopened:
    """A meter that could not be opened, and why."""

    def __init__(self, spec: Spec, reason: str) -> None:
        source: str = spec.source  # type: ignore[attr-defined]
        self.about = MeterAbout(
            source=source,
            covers=spec.covers,
            interval_seconds=spec.interval_seconds or 1.0,
            resolution_watts=spec.resolution_watts or 0.0,
            accuracy_percent=spec.accuracy_percent,
        )
        self._reason = reason

    def read(self) -> PowerReading:
        """No figure."""
        raise MeterError(self._reason)

    def close(self) -> None:
        """Nothing is held open."""
