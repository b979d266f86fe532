"""Runs one trial: one offered load for one duration, with everything counted.

It asks seldom while packets fly (the lab shares the tester's CPU), and takes the
two readings that the ledgers need when none do.
"""

import contextlib
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from linerate.analysis.box_drops import named
from linerate.analysis.box_time import time_ledgers
from linerate.analysis.validity import STRETCH_LIMIT
from linerate.engine.telemetry import NoAnswerError
from linerate.lab.cpu_usage import AtLoad, HostReading, Use, ledgers_since
from linerate.lab.metered import power_of, rest_before
from linerate.lab.tester import Tester
from linerate.model.box_path import along
from linerate.model.ledger import PacketLedger
from linerate.model.measurement import (
    Load,
    Measurement,
    Progress,
    Reading,
    Sample,
    Slices,
    Stamp,
    WorkerReading,
)
from linerate.model.measurement.slices import limit_us
from linerate.model.measurement.trial import RoundTrip
from linerate.model.nic_presets import Card
from linerate.parsers.boxes import box_evidence

POLL_SECONDS = 0.25
#: A sample reads more of the engine than its progress: once per this number of polls.
SAMPLE_POLLS = 2
#: The cycles under load are read this long after the start and before the end.
MARGIN_SECONDS = 0.05
#: Shorter trials have no window at load: readings would take a good part of it.
WINDOW_SECONDS_MIN = 0.25
#: Sending is over: now it costs nothing to ask often.
DRAIN_POLL_SECONDS = 0.02
#: The same of a trial that goes on until enough of it is undisturbed: asking disturbs, too.
GOING_ON_POLL_SECONDS = 0.1
DRAIN_TIMEOUT_SECONDS = 5.0
#: A tester whose CPU others have takes long to end what it was stopped in.
IDLE_TIMEOUT_SECONDS = 60.0
#: While packets are unexplained, counters are read again at this interval, until they are stable
#: for this time …
SETTLE_POLL_SECONDS = 0.05
SETTLE_QUIET_SECONDS = 0.5
#: … or for so long: what lies in a kernel's queue waits for a device that has no CPU.
SETTLE_SECONDS = 2.0
#: Attempts to read the final figures of a held load.
ENDING_ASKS = 10
#: Polling interval for the end of a held load.
HOLD_POLL_SECONDS = 1.0
#: The tester's clock stops while it is descheduled. A trial that exceeds its duration by twice the
#: invalid share is stopped: it would else continue for as long as its CPU is taken.
OVERTIME = 2 * STRETCH_LIMIT
#: A tester that can't send what it was asked for is stopped after this many durations.
GIVE_UP_FACTOR = 3.0
GIVE_UP_SECONDS = 2.0

OnProgress = Callable[[Progress], None]


class TrialError(Exception):
    """Tester did not reach the requested state."""


def run_trial(
    tester: Tester,
    load: Load,
    on_progress: OnProgress,
    card: Card | None = None,
    ceiling_pps: float | None = None,
) -> Measurement:
    """Run it and return what was measured; nothing is judged here."""
    tester.await_links()
    _await_idle(tester)
    rest_before(tester, load)
    before_host = HostReading(tester, tester.roundtrips())
    before, left = tester.readings(), tester.ledger()
    tester.start(load.duration_us, load.scale_ppm, load.clean_us)
    try:
        sampler = _Sampler(tester, before.workers)
        at_load = _send(tester, load, on_progress, sampler)
        progress = _drain(tester, on_progress)
    except BaseException:
        _stop(tester)
        raise
    _settle(tester, left)
    after, slices = tester.readings(), tester.slices() if load.clean_us else None
    stamp = before_host.stamp(tester, progress, at_load)
    measured = _measured(
        _Moments(before, after, at_load, stamp, progress, tuple(sampler.samples), slices),
        load,
        card,
        ceiling_pps,
    )
    return measured.model_copy(update={"power": power_of(tester)})


def try_trial(
    tester: Tester,
    load: Load,
    on_progress: OnProgress,
    card: Card | None = None,
    ceiling_pps: float | None = None,
) -> Measurement:
    """Run it and return what was measured: that nothing was, where the engine did not answer."""
    try:
        return run_trial(tester, load, on_progress, card, ceiling_pps)
    except NoAnswerError:
        # It may have been started all the same.
        _stop(tester)
        return Measurement(
            load=load,
            progress=Progress(trial=0, state="idle", elapsed_us=0),
            no_answer=True,
            packets=PacketLedger(),
            time=(),
            time_at_load=(),
            card=card,
            ceiling_pps=ceiling_pps,
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
    before_host = HostReading(tester, tester.roundtrips())
    before, began = tester.readings(), time.monotonic()
    used = Use(tester)
    end = began + load.duration_us / 1e6
    while (left := end - time.monotonic()) > 0:
        elapsed_us = round((time.monotonic() - began) * 1e6)
        on_progress(Progress(trial=0, state="running", elapsed_us=elapsed_us))
        time.sleep(min(left, POLL_SECONDS))
    at_load = Use(tester).since(used)
    after, ended = tester.readings(), time.monotonic()
    progress = Progress(
        trial=0, state="done", elapsed_us=round((ended - began) * 1e6), drained=True
    )
    stamp = before_host.stamp(tester, progress, at_load)
    return _measured(_Moments(before, after, at_load, stamp, progress), load, card, ceiling_pps)


#: Receives the measurement since the start and since the last call, and a function to measure since
#: the start again; returns whether to stop.
OnInterval = Callable[[Measurement, Measurement, Callable[[], Measurement]], bool]


def hold(
    tester: Tester,
    load: Load,
    every_seconds: float,
    on_interval: OnInterval,
    card: Card | None = None,
    ceiling_pps: float | None = None,
) -> tuple[Measurement, KeyboardInterrupt | None]:
    """Run one long trial and read it periodically under load; stop it as any other.

    Returns what was measured, all drained, and the signal that ended it, if one did. Nothing is
    gathered while it runs: a trial of days takes no more memory than one of minutes. A reading that
    the engine does not answer in time is left out, and the interval lasts until the next one.
    """
    tester.await_links()
    rest_before(tester, load)
    start = Held.read(tester, tester.roundtrips())
    tester.start(load.duration_us, load.scale_ppm)
    last, interrupted = start, None

    def so_far() -> Measurement:
        return Held.read(tester).since(start, load, card, ceiling_pps)

    try:
        began = time.monotonic()
        over = began + load.duration_us / 1e6 * (1 + OVERTIME) + HOLD_POLL_SECONDS
        for number in itertools.count(1):
            if _sent_by(tester, min(began + number * every_seconds, over)):
                break
            stop = False
            with contextlib.suppress(NoAnswerError):
                now = Held.read(tester)
                since = now.since(last, load, card, ceiling_pps)
                stop = on_interval(now.since(start, load, card, ceiling_pps), since, so_far)
                last = now
            if stop or time.monotonic() >= over:
                break
    except KeyboardInterrupt as signal:
        interrupted = signal
    except BaseException:
        _stop(tester)
        raise
    end = _answered(lambda: _ended(tester))
    measured = end.since(start, load, card, ceiling_pps)
    return measured.model_copy(update={"power": power_of(tester)}), interrupted


def _ended(tester: Tester) -> "Held":
    """Stop, and read what is drained."""
    tester.stop()
    _drain(tester, lambda _progress: None)
    return Held.read(tester, tester.roundtrips())


Answer = TypeVar("Answer")


def _answered(ask: Callable[[], Answer]) -> Answer:
    """The answer, requested again where the engine did not answer in time."""
    for _ in range(ENDING_ASKS - 1):
        with contextlib.suppress(NoAnswerError):
            return ask()
    return ask()


def _sent_by(tester: Tester, moment: float) -> bool:
    """Wait until then, or until all is sent; returns which of the two."""
    while (left := moment - time.monotonic()) > 0:
        time.sleep(min(left, HOLD_POLL_SECONDS))
        if _has_sent(tester):
            return True
    return _has_sent(tester)


def _has_sent(tester: Tester) -> bool:
    """Whether all is sent; an engine that does not answer in time is asked again later."""
    with contextlib.suppress(NoAnswerError):
        return tester.progress().state in ("draining", "done")
    return False


@dataclass(frozen=True, slots=True)
class Held:
    """All that is known at one moment of a long trial."""

    #: Seconds of wall-clock time: the tester's clock stops while it is descheduled.
    at: float
    progress: Progress
    reading: Reading
    host: HostReading

    @classmethod
    def read(cls, tester: Tester, roundtrips: tuple[RoundTrip, ...] = ()) -> "Held":
        """Sequence numbers are read before the ledger: what they miss, it must know."""
        host = HostReading(tester, roundtrips)
        return cls(time.monotonic(), tester.progress(), tester.readings(), host)

    def since(
        self, before: "Held", load: Load, card: Card | None, ceiling_pps: float | None
    ) -> Measurement:
        """Measurement between two readings."""
        elapsed_us = round((self.at - before.at) * 1e6)
        if self.progress.state == "done" and before.progress.trial != self.progress.trial:
            elapsed_us = self.progress.elapsed_us
        progress = self.progress.model_copy(update={"elapsed_us": elapsed_us})
        stamp = before.host.until(self.host, self.progress, AtLoad())
        moments = _Moments(before.reading, self.reading, AtLoad(), stamp, progress)
        # It may end before its time, and that is meant.
        shorter = load.model_copy(update={"duration_us": max(1, elapsed_us)})
        return _measured(moments, shorter, card, ceiling_pps)


@dataclass(frozen=True, slots=True)
class _Moments:
    """Readings of a trial."""

    before: Reading
    after: Reading
    at_load: AtLoad
    stamp: Stamp
    progress: Progress
    samples: tuple[Sample, ...] = ()
    slices: Slices | None = None


def _measured(
    read: _Moments, load: Load, card: Card | None, ceiling_pps: float | None
) -> Measurement:
    """Take differences."""
    before, after = read.before, read.after
    own_time = ledgers_since(after.workers, before.workers)
    grown, packets = after.grown(before), after.ledger.minus(before.ledger)
    box = grown["box"]
    of_box = () if box is None else time_ledgers(box_evidence(box))
    return Measurement(
        load=load,
        progress=read.progress,
        packets=packets
        if box is None
        else named(along(packets, grown["ports"]), box, read.progress.elapsed_us / 1e6),
        time=own_time,
        time_at_load=(*(read.at_load.time or own_time), *of_box),
        **grown,
        stamp=read.stamp,
        samples=read.samples,
        slices=read.slices,
        card=card,
        ceiling_pps=ceiling_pps,
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
        # The clock of a descheduled tester is set back when it resumes.
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


def _send(tester: Tester, load: Load, on_progress: OnProgress, sampler: "_Sampler") -> AtLoad:
    """Wait until all is sent; returns what the workers did in a window within the sending."""
    seconds = load.duration_us / 1e6
    most_seconds = limit_us(load.duration_us, load.clean_us) / 1e6
    longest = max(GIVE_UP_FACTOR * seconds, most_seconds)
    give_up = time.monotonic() + longest + GIVE_UP_SECONDS
    windowed = seconds >= WINDOW_SECONDS_MIN
    first: Use | None = None
    last: Use | None = None
    if windowed:
        time.sleep(MARGIN_SECONDS)
        first = Use(tester)
    while time.monotonic() < give_up:
        progress = tester.progress()
        on_progress(progress)
        sampler.note(progress)
        if progress.state in ("draining", "done"):
            return last.since(first) if first and last else AtLoad()
        left = max(seconds - progress.elapsed_us / 1e6, 0.0)
        if load.pushes_back and not left:
            # Packets that the link has not taken by now would still be offered.
            tester.stop()
            return last.since(first) if first and last else AtLoad()
        if windowed and not last and left <= POLL_SECONDS + MARGIN_SECONDS:
            time.sleep(max(left - MARGIN_SECONDS, 0.0))
            last = Use(tester)
            time.sleep(MARGIN_SECONDS / 2)
        else:
            soonest = GOING_ON_POLL_SECONDS if load.clean_us else DRAIN_POLL_SECONDS
            time.sleep(min(max(left, soonest), POLL_SECONDS))
    # The measurement until now is invalid, but it is evidence.
    tester.stop()
    return AtLoad()


def _drain(tester: Tester, on_progress: OnProgress) -> Progress:
    """Wait until no packet is on its way, or the tester says that some never arrived."""
    deadline = time.monotonic() + DRAIN_TIMEOUT_SECONDS
    progress = tester.progress()
    while progress.state != "done" and time.monotonic() < deadline:
        time.sleep(DRAIN_POLL_SECONDS)
        progress = tester.progress()
    on_progress(progress)
    return progress


def _settle(tester: Tester, before: PacketLedger) -> None:
    """Wait while some packet is unexplained and may still be on its way."""
    began = moved = time.monotonic()
    last = tester.ledger()
    while last.minus(before).unexplained:
        time.sleep(SETTLE_POLL_SECONDS)
        now = tester.ledger()
        if now != last:
            moved = time.monotonic()
        last = now
        if time.monotonic() > min(began + SETTLE_SECONDS, moved + SETTLE_QUIET_SECONDS):
            return


def _await_idle(tester: Tester) -> None:
    """Wait until the trial before has ended: a starved tester may end it late."""
    deadline = time.monotonic() + IDLE_TIMEOUT_SECONDS
    while (state := tester.progress().state) in ("running", "draining"):
        if time.monotonic() > deadline:
            raise TrialError(
                f"the tester is still {state}: it gets no CPU; stop what else runs on this machine"
            )
        time.sleep(DRAIN_POLL_SECONDS)


def _stop(tester: Tester) -> None:
    """Stop sending; an engine that is gone has stopped already."""
    try:
        tester.stop()
    except Exception:
        return
