"""Runs one trial: one offered load for one duration, with everything counted.

It asks seldom while packets fly (the lab shares the tester's CPU), and takes the
two readings that the ledgers need when none do.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from linerate.card import Card
from linerate.ledger import TimeLedger
from linerate.measurement import (
    Load,
    Measurement,
    Progress,
    Reading,
    Sample,
    Stamp,
    WorkerReading,
)
from linerate.measurement.engine import counters_since, errors_since, rings_since
from linerate.measurement.model import RoundTrip
from linerate.tester import Tester

POLL_SECONDS = 0.25
#: A sample asks more of the engine than its progress: every so many polls.
SAMPLE_POLLS = 2
#: The clocks at load are read this long after the start and before the end.
MARGIN_SECONDS = 0.05
#: Shorter trials have no window at load: readings would take a good part of it.
WINDOW_SECONDS_MIN = 0.25
#: Sending is over: now it costs nothing to ask often.
DRAIN_POLL_SECONDS = 0.02
DRAIN_TIMEOUT_SECONDS = 5.0
#: A tester that can't send what it was asked for is stopped after this many durations.
GIVE_UP_FACTOR = 3.0
GIVE_UP_SECONDS = 2.0

OnProgress = Callable[[Progress], None]


class TrialError(Exception):
    """The tester does not do what it is told."""


def run_trial(
    tester: Tester,
    load: Load,
    on_progress: OnProgress,
    card: Card | None = None,
    ceiling_pps: float | None = None,
) -> Measurement:
    """Run it and return what was measured; nothing is judged here."""
    before_host = _HostReading(tester)
    before = tester.readings()
    tester.start(load.duration_us, load.scale_ppm)
    try:
        sampler = _Sampler(tester, before.workers)
        at_load = _send(tester, load, on_progress, sampler)
        progress = _drain(tester, on_progress)
    except BaseException:
        _stop(tester)
        raise
    after = tester.readings()
    stamp = before_host.stamp(tester, progress, at_load)
    return _measured(
        _Moments(before, after, at_load, stamp, progress, tuple(sampler.samples)),
        load,
        card,
        ceiling_pps,
    )


def watch(
    tester: Tester,
    load: Load,
    on_progress: OnProgress,
    card: Card | None = None,
    ceiling_pps: float | None = None,
) -> Measurement:
    """Count what a device sends by itself for a while; nothing is offered.

    It neither starts nor stops for us: counters are read while packets fly.
    """
    before_host = _HostReading(tester)
    before, began = tester.readings(), time.monotonic()
    used = _Use(tester)
    end = began + load.duration_us / 1e6
    while (left := end - time.monotonic()) > 0:
        elapsed_us = round((time.monotonic() - began) * 1e6)
        on_progress(Progress(trial=0, state="running", elapsed_us=elapsed_us))
        time.sleep(min(left, POLL_SECONDS))
    at_load = _Use(tester).since(used)
    after, ended = tester.readings(), time.monotonic()
    progress = Progress(
        trial=0, state="done", elapsed_us=round((ended - began) * 1e6), drained=True
    )
    stamp = before_host.stamp(tester, progress, at_load)
    return _measured(_Moments(before, after, at_load, stamp, progress), load, card, ceiling_pps)


@dataclass(frozen=True, slots=True)
class _Moments:
    """What was read in a trial."""

    before: Reading
    after: Reading
    at_load: "_AtLoad"
    stamp: Stamp
    progress: Progress
    samples: tuple[Sample, ...] = ()


def _measured(
    read: _Moments, load: Load, card: Card | None, ceiling_pps: float | None
) -> Measurement:
    """Take differences."""
    before, after = read.before, read.after
    time_ledgers = _since(after.workers, before.workers)
    return Measurement(
        load=load,
        progress=read.progress,
        packets=after.ledger.minus(before.ledger),
        time=time_ledgers,
        time_at_load=read.at_load.time or time_ledgers,
        errors=errors_since(after.errors, before.errors),
        ports=counters_since(after.ports, before.ports),
        cards=counters_since(after.cards, before.cards),
        rings=rings_since(after.rings, before.rings),
        streams=counters_since(after.streams, before.streams),
        flows=after.flows.since(before.flows) if after.flows and before.flows else None,
        stamp=read.stamp,
        samples=read.samples,
        card=card,
        foreign=after.foreign,
        ceiling_pps=ceiling_pps,
    )


def _since(
    after: tuple[WorkerReading, ...], before: tuple[WorkerReading, ...]
) -> tuple[TimeLedger, ...]:
    return tuple(later.since(earlier) for later, earlier in zip(after, before, strict=True))


@dataclass(frozen=True, slots=True)
class _AtLoad:
    """What workers did while packets flew."""

    time: tuple[TimeLedger, ...] = ()
    kernel_percent: dict[str, float] = field(default_factory=dict)
    lock_wait_percent: dict[str, float] = field(default_factory=dict)


class _Use:
    """What workers have used of their CPUs, at a moment."""

    def __init__(self, tester: Tester) -> None:
        self._at = time.monotonic()
        self._kernel = tester.kernel_seconds()
        self._locks = tester.lock_wait_seconds()
        self._workers = tester.workers()

    def since(self, before: "_Use") -> _AtLoad:
        """Say what was used between two moments."""
        took = self._at - before._at
        return _AtLoad(
            time=_since(self._workers, before._workers),
            kernel_percent=_percent(self._kernel, before._kernel, took),
            lock_wait_percent=_percent(self._locks, before._locks, took),
        )


class _Sampler:
    """Notes every now and then how far each node is."""

    def __init__(self, tester: Tester, before: tuple[WorkerReading, ...]) -> None:
        self.samples: list[Sample] = []
        self._tester = tester
        self._before = {worker.name: worker for worker in before}
        self._polls = 0

    def note(self, progress: Progress) -> None:
        """Take a sample, if it is time for one."""
        self._polls += 1
        if self._polls % SAMPLE_POLLS or progress.state != "running":
            return
        # The clock of a tester that is off its CPU is set back when it returns.
        if self.samples and progress.elapsed_us <= self.samples[-1].at_us:
            return
        vectors = {
            worker.name: {
                name: node.vectors - earlier.nodes[name].vectors if name in earlier.nodes else 0
                for name, node in worker.nodes.items()
            }
            for worker in self._tester.workers()
            if (earlier := self._before.get(worker.name)) is not None
        }
        self.samples.append(
            Sample(
                at_us=progress.elapsed_us,
                sent_packets=progress.sent_packets,
                received_packets=progress.received_packets,
                vectors=vectors,
            )
        )


def _send(tester: Tester, load: Load, on_progress: OnProgress, sampler: "_Sampler") -> "_AtLoad":
    """Wait until all is sent; returns what the workers did in a window within the sending."""
    seconds = load.duration_us / 1e6
    give_up = time.monotonic() + GIVE_UP_FACTOR * seconds + GIVE_UP_SECONDS
    windowed = seconds >= WINDOW_SECONDS_MIN
    first: _Use | None = None
    last: _Use | None = None
    if windowed:
        time.sleep(MARGIN_SECONDS)
        first = _Use(tester)
    while time.monotonic() < give_up:
        progress = tester.progress()
        on_progress(progress)
        sampler.note(progress)
        if progress.state in ("draining", "done"):
            return last.since(first) if first and last else _AtLoad()
        left = max(seconds - progress.elapsed_us / 1e6, 0.0)
        if load.pushes_back and not left:
            # What the wire did not take by now would go on being offered.
            tester.stop()
            return last.since(first) if first and last else _AtLoad()
        if windowed and not last and left <= POLL_SECONDS + MARGIN_SECONDS:
            time.sleep(max(left - MARGIN_SECONDS, 0.0))
            last = _Use(tester)
            time.sleep(MARGIN_SECONDS / 2)
        else:
            time.sleep(min(max(left, DRAIN_POLL_SECONDS), POLL_SECONDS))
    # What was measured until now is invalid, but it is evidence.
    tester.stop()
    return _AtLoad()


def _drain(tester: Tester, on_progress: OnProgress) -> Progress:
    """Wait until no packet is on its way, or the tester says that some never arrived."""
    deadline = time.monotonic() + DRAIN_TIMEOUT_SECONDS
    progress = tester.progress()
    while progress.state != "done" and time.monotonic() < deadline:
        time.sleep(DRAIN_POLL_SECONDS)
        progress = tester.progress()
    on_progress(progress)
    if progress.state != "done":
        raise TrialError(f"the tester is still {progress.state} though it was to be done")
    return progress


def _stop(tester: Tester) -> None:
    """Stop sending; an engine that is gone has stopped already."""
    try:
        tester.stop()
    except Exception:
        return


class _HostReading:
    """What the machine did to the workers, before and after a trial."""

    def __init__(self, tester: Tester) -> None:
        self._roundtrips: tuple[RoundTrip, ...] = tester.roundtrips()
        self._steal = tester.steal_seconds()
        self._switches = tester.involuntary_switches()

    def stamp(self, tester: Tester, progress: Progress, at_load: "_AtLoad") -> Stamp:
        steal = tester.steal_seconds()
        switches = tester.involuntary_switches()
        return Stamp(
            roundtrips_before=self._roundtrips,
            roundtrips_after=tester.roundtrips(),
            steal_seconds={
                name: round(steal[name] - seconds, 3) for name, seconds in self._steal.items()
            },
            involuntary_switches={
                name: switches[name] - count for name, count in self._switches.items()
            },
            paused_us=progress.paused_us,
            kernel_percent=at_load.kernel_percent,
            lock_wait_percent=at_load.lock_wait_percent,
        )


def _percent(
    after: dict[str, float], before: dict[str, float], took_seconds: float
) -> dict[str, float]:
    """Seconds between two readings, as a share of the time that passed."""
    return {
        name: round(100 * (after[name] - seconds) / took_seconds, 1)
        for name, seconds in before.items()
    }
