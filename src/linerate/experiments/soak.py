"""A soak: one load held for hours, read every minute while it flies, its ledger exact at the end.

While packets fly the ledger can't balance: some are on their way. What is exact at any moment are
sequence numbers: each says within a few frames what the stream before it lost, and every loss that
they show must already be in the ledger. What is not is unexplained. Of frames that have none only
the ledger says what was lost.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime

from linerate.analysis.validity import doubts
from linerate.base.errors import SetupError
from linerate.base.line_rate import format_pps
from linerate.base.published import published
from linerate.experiments.asked_load import FULL_SCALE_PPM
from linerate.experiments.bench import Bench, Observer
from linerate.experiments.plan import Plan, Step
from linerate.lab.metered import Metered, host_of
from linerate.lab.power._hosts import PowerHost
from linerate.lab.tester import Tester
from linerate.lab.thermal import ThermalReader
from linerate.lab.trial import hold
from linerate.model.measurement import Measurement
from linerate.model.run_records import SoakState, StopAt
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed
from linerate.results.soak_minutes import MINUTES
from linerate.results.store import Result, RunFolder

#: A packet that has not been received after this time is no longer in flight …
ON_THEIR_WAY_SECONDS = 0.1
#: … but for those that wait in rings.
ON_THEIR_WAY_PACKETS = 65_536
#: Further readings that must confirm a loss.
CONFIRMATIONS = 4
CONFIRM_SECONDS = 0.05
WARM_UP_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class How:
    """Load, duration and stop condition."""

    #: Packets a second of all directions; up to 1 a share of the line's, or of a profile's.
    load: float
    seconds: float
    every_seconds: float = 60.0
    stop_at: StopAt = "unexplained"

    def pps(self, full_pps: float) -> float:
        """Packets a second for a number of packets."""
        return self.load * full_pps if self.load <= 1 else self.load


@published("minutes", "A line of minutes.jsonl, in the folder of a soak", form="kept")
@dataclass(frozen=True, slots=True)
class Minute:
    """Result of one interval; counters since the start have `total` in their name."""

    at: str
    seconds: float
    pps: float
    sent_total: int
    received_total: int
    #: By sequence numbers or by the ledger, whichever has more.
    lost: int
    lost_total: int
    losses: dict[str, int]
    unexplained: int
    on_their_way: int
    #: Milliseconds descheduled, by worker.
    away_ms: dict[str, float]
    involuntary_switches: dict[str, int]
    doubts: tuple[str, ...] = field(default=())
    #: CPUs of the machine that forwards, and power since the interval before, where known.
    mhz_least: float | None = None
    mhz_mean: float | None = None
    celsius_most: float | None = None
    watts: float | None = None

    def written(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


def sequence_lost(measurement: Measurement) -> int:
    """Frames that did not come though later ones of their stream did."""
    return sum(counters.get("lost", 0) for counters in measurement.streams.values())


def lost_so_far(measurement: Measurement) -> int:
    """Packets that are lost for certain, by sequence numbers or by the ledger, while packets fly.

    Frames without a signature show no gaps, and no frame shows one when none comes through.
    """
    packets, load = measurement.packets, measurement.load
    by_sequence = sequence_lost(measurement)
    if measurement.foreign and load.signed:
        # Its counters have its own packets too.
        return by_sequence
    consumed = packets.consumed if load.counted == "received" else 0
    return max(by_sequence, packets.total("loss") + consumed)


def unexplained(measurement: Measurement) -> int:
    """Packets that are lost for certain, and that no counter has, while packets fly."""
    packets = measurement.packets
    known = packets.total("loss") + packets.consumed + packets.held
    if measurement.load.signed:
        # They lost their signature; without one by intent they are not missing.
        known += packets.other
    by_sequence = max(0, sequence_lost(measurement) - known)
    may_fly = ON_THEIR_WAY_SECONDS * measurement.load.asked_pps + ON_THEIR_WAY_PACKETS
    # When a device forwards nothing any more, no later frame shows the loss.
    vanished = packets.unexplained if packets.unexplained > may_fly else 0
    return max(by_sequence, vanished)


def confirmed(
    figure: Callable[[Measurement], int],
    measurement: Measurement,
    again: Callable[[], Measurement],
    before: int = 0,
) -> int:
    """Increase that several readings confirm: the least of them.

    Frames that overtake each other look lost for a moment.
    """
    least = figure(measurement)
    for _ in range(CONFIRMATIONS):
        if least <= before:
            break
        time.sleep(CONFIRM_SECONDS)
        least = min(least, figure(again()))
    return least


def soak_plan(testbed: Testbed, loadtest: Loadtest, how: How, command: tuple[str, ...]) -> Plan:
    """Plan one long trial."""
    return Plan(testbed, "soak", (Step(testbed, loadtest),), how.seconds, command)


class _Around:
    """State of the machine that forwards, beside its packets."""

    def __init__(self, tester: Tester | None, host: PowerHost | None) -> None:
        self._tester = tester
        self._thermal = None if host is None else ThermalReader(host)
        self._at = time.monotonic()

    def now(self) -> dict[str, float | None]:
        """Fields of a minute, as far as they are known."""
        since, self._at = self._at, time.monotonic()
        thermal = None if self._thermal is None else self._thermal.read()
        found = {} if thermal is None else thermal.model_dump()
        power = self._tester.power_since(since) if isinstance(self._tester, Metered) else None
        return found | {"watts": None if power is None else round(power.watts.value, 3)}


class SoakBench(Bench):
    """Holds one load; `on_minute` receives each interval."""

    steps_stand_alone = False

    def __init__(
        self,
        plan: Plan,
        folder: RunFolder,
        observer: Observer,
        how: How,
        on_minute: Callable[[Minute], None],
    ) -> None:
        super().__init__(plan, folder, observer)
        self._how = how
        self._on_minute = on_minute
        self._around = _Around(None, None)

    def _measure_loadtest(self, step: Step) -> None:
        """Hold the load until its time is over, a loss stops it, or somebody does."""
        first = self._first_load(step)
        full_pps = step.loadtest.full_pps(step.testbed.line_bps)
        pps = self._how.pps(full_pps)
        scale = max(1, round(FULL_SCALE_PPM * pps / full_pps))
        if scale > first.scale_ppm:
            most = first.scale_ppm / FULL_SCALE_PPM * full_pps
            raise SetupError(
                f"--load: {format_pps(pps, '.4g')}, the tester can offer {format_pps(most, '.4g')}"
            )
        state = SoakState(
            loadtest=step.loadtest.name,
            pps=pps,
            asked_seconds=self._how.seconds,
            every_seconds=self._how.every_seconds,
            stop_at=self._how.stop_at,
        )
        self._update(soak=state)
        card = step.testbed.card if step.testbed.wire == "card" else None
        name = step.loadtest.name
        with (
            self._rigs[step.testbed].under_test(step.loadtest, name) as trials,
            host_of(step.testbed.dut) as host,
        ):
            self._around = _Around(trials.tester, host)
            self._note_engine(trials.info)
            seconds = step.loadtest.warmup_seconds or WARM_UP_SECONDS
            warm = replace(step, loadtest=replace(step.loadtest, warmup_seconds=seconds))
            self._folder.save_measurement(f"{name}-warm-up", self._warm_up(trials, warm, scale))
            load = self._load(step.testbed, step.loadtest, scale, self._how.seconds)
            self._observer.step(step.text, self._how.seconds)
            every = self._how.every_seconds
            measurement, interrupted = hold(
                trials.tester, load, every, self._interval, card, first.ceiling_pps
            )
            trials.check()
        result = self._keep(step, 1, measurement)
        self._end(result, measurement)
        if interrupted is not None:
            raise interrupted

    def _interval(
        self, so_far: Measurement, since: Measurement, again: Callable[[], Measurement]
    ) -> bool:
        """Keep what is known by now; returns whether to stop."""
        assert self.run.soak is not None
        state = self.run.soak
        lost_total = confirmed(lost_so_far, so_far, again, state.lost)
        lost = max(0, lost_total - state.lost)
        state = state.model_copy(
            update={
                "seconds": so_far.seconds,
                "intervals": state.intervals + 1,
                "sent": so_far.packets.sent,
                "received": so_far.came_through,
                "lost": lost_total,
                "unexplained": confirmed(unexplained, so_far, again),
                "lossy_intervals": state.lossy_intervals + bool(lost),
            }
        )
        self._folder.save_measurement(state.loadtest, so_far)
        self._update(soak=state)
        minute = Minute(
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(so_far.seconds, 3),
            pps=since.received.packets_per_second,
            sent_total=so_far.packets.sent,
            received_total=so_far.came_through,
            lost=lost,
            lost_total=state.lost,
            losses=since.packets.losses,
            unexplained=state.unexplained,
            on_their_way=max(0, so_far.packets.unexplained),
            away_ms={
                ledger.worker: round(1e3 * ledger.away_clocks / ledger.tsc_hz, 3)
                for ledger in since.time
            },
            involuntary_switches=since.stamp.involuntary_switches,
            doubts=doubts(since),
            **self._around.now(),
        )
        self._append(minute)
        self._on_minute(minute)
        stops = {"unexplained": state.unexplained, "any": state.lost or state.unexplained}
        return bool(stops.get(self._how.stop_at, 0))

    def _append(self, minute: Minute) -> None:
        """A line is on the disk before the next interval begins."""
        with (self._folder.path / MINUTES).open("a", encoding="utf-8") as file:
            file.write(minute.written() + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _end(self, result: Result, measurement: Measurement) -> None:
        """All is drained: now the ledger is exact."""
        assert self.run.soak is not None
        state = self.run.soak.model_copy(
            update={
                "seconds": measurement.seconds,
                "sent": measurement.packets.sent,
                "received": measurement.came_through,
                "lost": measurement.lost,
                "unexplained": abs(measurement.packets.unexplained),
            }
        )
        self._update(soak=state.model_copy(update={"verdict": verdict(state, result)}))


def verdict(state: SoakState, result: Result) -> str:
    """The verdict of a soak, in one sentence."""
    held = f"{format_pps(state.pps, '.4g')} for {state.seconds:,.0f} s, {state.sent:,} packets"
    if state.unexplained:
        return f"{held}: {state.unexplained:,} lost that no counter explains."
    if not result.valid:
        return f"{held}: invalid, {result.invalid[0]}."
    if not state.lost:
        return f"{held}: none lost."
    where = ", ".join(f"{packets:,} at {place}" for place, packets in result.packets.losses.items())
    host = f"; {result.left_out:,} of them left out as the host's" if result.left_out else ""
    return f"{held}: {state.lost:,} lost, all explained ({where or 'by the device'}){host}."


def passed(state: SoakState) -> bool:
    """Whether nothing was lost that the soak was to stop at, for as long as was asked."""
    lost = state.lost if state.stop_at == "any" else 0
    return not state.unexplained and not lost and state.seconds >= 0.999 * state.asked_seconds
