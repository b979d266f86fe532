"""Runs one trial: one offered load for one duration, with everything counted.

It asks seldom while packets fly (the lab shares the tester's CPU), and takes the
two readings that the ledgers need when none do.
"""

import time
from collections.abc import Callable

from linerate.card import Card
from linerate.evidence import Evidence, Load, Progress, Stamp, WorkerReading
from linerate.evidence.engine import counters_since, errors_since, rings_since
from linerate.evidence.model import RoundTrip
from linerate.ledger import TimeLedger
from linerate.tester import Tester

POLL_SECONDS = 0.25
#: The clocks at load are read this long after the start and before the end.
MARGIN_SECONDS = 0.1
#: Shorter trials have no window at load: readings would take a good part of it.
WINDOW_SECONDS_MIN = 0.5
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
) -> Evidence:
    """Run it and return what was measured; nothing is judged here."""
    before_host = _HostReading(tester)
    before = tester.readings()
    tester.start(load.duration_us, load.scale_ppm)
    try:
        at_load = _send(tester, load, on_progress)
        progress = _drain(tester, on_progress)
    except BaseException:
        _stop(tester)
        raise
    after = tester.readings()
    return Evidence(
        load=load,
        progress=progress,
        packets=after.ledger.minus(before.ledger),
        time=_since(after.workers, before.workers),
        time_at_load=at_load or _since(after.workers, before.workers),
        errors=errors_since(after.errors, before.errors),
        ports=counters_since(after.ports, before.ports),
        cards=counters_since(after.cards, before.cards),
        rings=rings_since(after.rings, before.rings),
        streams=counters_since(after.streams, before.streams),
        stamp=before_host.stamp(tester, progress),
        card=card,
        ceiling_pps=ceiling_pps,
    )


def _since(
    after: tuple[WorkerReading, ...], before: tuple[WorkerReading, ...]
) -> tuple[TimeLedger, ...]:
    return tuple(later.since(earlier) for later, earlier in zip(after, before, strict=True))


def _send(tester: Tester, load: Load, on_progress: OnProgress) -> tuple[TimeLedger, ...]:
    """Wait until all is sent; returns the clocks of a window within the sending."""
    seconds = load.duration_us / 1e6
    give_up = time.monotonic() + GIVE_UP_FACTOR * seconds + GIVE_UP_SECONDS
    windowed = seconds >= WINDOW_SECONDS_MIN
    first: tuple[WorkerReading, ...] = ()
    last: tuple[WorkerReading, ...] = ()
    if windowed:
        time.sleep(MARGIN_SECONDS)
        first = tester.workers()
    while time.monotonic() < give_up:
        progress = tester.progress()
        on_progress(progress)
        if progress.state in ("draining", "done"):
            return _since(last, first) if first and last else ()
        left = max(seconds - progress.elapsed_us / 1e6, 0.0)
        if windowed and not last and left <= POLL_SECONDS + MARGIN_SECONDS:
            time.sleep(max(left - MARGIN_SECONDS, 0.0))
            last = tester.workers()
            time.sleep(MARGIN_SECONDS / 2)
        else:
            time.sleep(min(max(left, DRAIN_POLL_SECONDS), POLL_SECONDS))
    # What was measured until now is invalid, but it is evidence.
    tester.stop()
    return ()


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

    def stamp(self, tester: Tester, progress: Progress) -> Stamp:
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
        )
