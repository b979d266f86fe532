"""A search: the highest loads at which a device loses no more than it may.

MLRsearch (FD.io's library) says which load to try next, for how long, and when all goals
are found. Here each of its trials is measured, kept and judged as any other.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from MLRsearch import Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal

from linerate.bench import (
    FULL_SCALE_PPM,
    Bench,
    Observer,
    Plan,
    Step,
    next_ceiling,
    next_scale_ppm,
)
from linerate.goals import NDR, PDR, goals_text
from linerate.measurement import Measurement
from linerate.rig import Trials
from linerate.store import Goal, Result, RunFolder, Search, trial_name
from linerate.suite import Loadtest
from linerate.testbed import Testbed
from linerate.trial import TrialError, run_trial
from linerate.validity import (
    OFFERED_WITHIN,
    caused_by_host,
    caused_by_tester,
    lost_by_absence,
    may_be_by_absence,
    refused_by_burst,
)

#: The two loads of a goal that is found are no further apart than this.
WIDTH = 0.005
#: A trial whose loss may be the host's is measured so often; as long as none is valid, up to
#: the second figure, with a wait between them that doubles: what else runs may end.
ATTEMPTS = 5
ATTEMPTS_MAX = 10
WAIT_SECONDS = 0.05
WAIT_MAX_SECONDS = 2.0
#: So often the highest load is lowered to what the tester can offer.
LOWER_LOADS = 4
#: First trials at a load are shorter; not so short that nothing is read at load.
INITIAL_SECONDS = 0.3
#: What the search begins at the other end with, of the line: a millionth must be little of it.
MIN_OF_LINE = 2e-4
#: A trial of fewer packets is not exact to a thousandth.
PACKETS_MIN = 5_000
#: What was written of the last trial is on its way to the disk, which takes CPUs too.
SETTLE_SECONDS = 0.15
#: Before trials, so that addresses are known and tables filled.
WARM_UP_SECONDS = 0.3
WARM_UP_OF_MAX = 0.1
#: Of trials of full length: a search that needs more has found nothing that holds still.
TRIALS_MAX = 200


@dataclass(frozen=True, slots=True)
class How:
    """How a search measures; loss ratios rise."""

    loss_ratios: tuple[float, ...] = (NDR, PDR)
    width: float = WIDTH
    duration_seconds: float = 1.0

    @property
    def initial_seconds(self) -> float:
        """How long first trials at a load send."""
        return min(INITIAL_SECONDS, self.duration_seconds)


def search_plan(
    testbed: Testbed, loadtests: tuple[Loadtest, ...], how: How, command: tuple[str, ...]
) -> Plan:
    """Plan a search for each loadtest."""
    steps = tuple(Step(testbed, loadtest) for loadtest in loadtests)
    return Plan(testbed, "search", steps, how.duration_seconds, command)


@dataclass(frozen=True, slots=True)
class Point:
    """What one load came to, as far as it is the device's."""

    pps: float
    seconds: float
    loss_ratio: float
    forwarded_pps: float
    trial: str


def interval(points: Iterable[Point], loss_ratio: float) -> Goal:
    """The lowest load that lost more than it may, and the highest below it that did not."""
    known = tuple(points)
    failed = [point for point in known if point.loss_ratio > loss_ratio]
    upper = min(failed, key=lambda point: point.pps, default=None)
    held = [
        point
        for point in known
        if point.loss_ratio <= loss_ratio and (upper is None or point.pps < upper.pps)
    ]
    return _goal(loss_ratio, max(held, key=lambda point: point.pps, default=None), upper)


def _goal(loss_ratio: float, lower: Point | None, upper: Point | None) -> Goal:
    return Goal(
        loss_ratio=loss_ratio,
        lower_pps=lower.pps if lower else None,
        upper_pps=upper.pps if upper else None,
        forwarded_pps=lower.forwarded_pps if lower else None,
        lower_trial=lower.trial if lower else "",
        upper_trial=upper.trial if upper else "",
    )


def lost_of(measurement: Measurement) -> tuple[int, int]:
    """Packets that did not come through, and those offered.

    A wire that pushes back loses nothing: what it did not take counts there.
    """
    sent, lost = measurement.packets.sent, max(0, measurement.lost)
    asked = round(measurement.load.asked_pps * measurement.load.duration_us / 1e6)
    if measurement.load.pushes_back and sent < asked * (1 - OFFERED_WITHIN):
        return lost + asked - sent, asked
    return lost, sent


def host_decides(measurement: Measurement, loss_ratios: Iterable[float]) -> bool:
    """Whether a goal is missed, or not, by packets that the host's absences may have cost."""
    lost, offered = lost_of(measurement)
    least = lost - may_be_by_absence(measurement) - refused_by_burst(measurement)
    return any(lost > ratio * offered >= least for ratio in loss_ratios)


class _TesterLimitError(Exception):
    """The tester can't offer a load; a lower one it may."""

    def __init__(self, scale_ppm: int) -> None:
        super().__init__(scale_ppm)
        self.scale_ppm = scale_ppm


class SearchBench(Bench):
    """Measures a search for each of the plan's steps."""

    def __init__(self, plan: Plan, folder: RunFolder, observer: Observer, how: How) -> None:
        super().__init__(plan, folder, observer)
        self._how = how
        self._update_tests()

    def _measure_loadtest(self, step: Step) -> None:
        """Search with one loadtest; engine and device stay up from the first trial to the last."""
        scale_ppm, ceiling = self._first_load(step)
        with self._rigs[step.testbed].under_test(step.loadtest, step.loadtest.name) as trials:
            self._note_engine(trials.info)
            line_pps = step.loadtest.line_pps(step.testbed.line_bps)
            about = Search(
                loadtest=step.loadtest.name,
                text=step.loadtest.text,
                frame_bytes=step.loadtest.traffic.frame_bytes,
                width=self._how.width,
                duration_seconds=self._how.duration_seconds,
                min_pps=max(line_pps * MIN_OF_LINE, PACKETS_MIN / self._how.initial_seconds),
                max_pps=line_pps * scale_ppm / FULL_SCALE_PPM,
                line_pps=line_pps,
            )
            self._update(searches=(*self.run.searches, about))
            self._keep_warm_up(step, trials, scale_ppm)
            self._narrow(_Measurer(self, step, trials, ceiling))

    def _narrow(self, measurer: "_Measurer") -> None:
        """Let the library search, again with a lower highest load where the tester has less."""
        for _ in range(LOWER_LOADS):
            try:
                goals = _searched(measurer, self._how, self.run.searches[-1])
            except _TesterLimitError as limit:
                line_pps = self.run.searches[-1].line_pps
                self._note(max_pps=line_pps * limit.scale_ppm / FULL_SCALE_PPM)
                continue
            self._note(goals=goals, found=True)
            return
        raise TrialError("the tester offers less each time it is asked for less")

    def _keep_warm_up(self, step: Step, trials: Trials, scale_ppm: int) -> None:
        """Send a little of it, or as much as the loadtest asks: evidence, never a result."""
        loadtest = step.loadtest
        self._observer.step(f"{loadtest.name}: warm-up", WARM_UP_SECONDS)
        if not loadtest.warmup_seconds:
            scale_ppm = max(1, round(scale_ppm * WARM_UP_OF_MAX))
            step = replace(step, loadtest=replace(loadtest, warmup_seconds=WARM_UP_SECONDS))
        measurement = self._warm_up(trials, step, scale_ppm)
        self._folder.save_measurement(f"{loadtest.name}-warm-up", measurement)

    def _note(self, **changes: object) -> None:
        """Write down how far the search is."""
        *before, last = self.run.searches
        self._update(searches=(*before, last.model_copy(update=changes)))

    def _update_tests(self, *more: str) -> None:
        """Tests of the run are the trials that were asked for, as they come."""
        self._update(tests=(*self.run.tests, *more) if more else ())

    # What the measurer asks of the bench.

    @property
    def how(self) -> How:
        """How it measures."""
        return self._how

    def begin(self, test: str, goals: tuple[Goal, ...], seconds: float) -> None:
        """A new load is about to be tried."""
        self._update_tests(test)
        self._observer.step(f"{test}: {goals_text(goals)}", seconds)

    def attempt(
        self,
        step: Step,
        trials: Trials,
        number: int,
        load: tuple[int, float],
        ceiling: float | None,
    ) -> tuple[Measurement, Result]:
        """Measure a load of so many millionths for so many seconds, and keep it."""
        asked = self._load(step.testbed, step.loadtest, *load)
        card = step.testbed.card if step.testbed.wire == "card" else None
        time.sleep(SETTLE_SECONDS)
        measurement = run_trial(trials.tester, asked, self._observer.progress, card, ceiling)
        trials.check()
        return measurement, self._keep(step, number, measurement)

    def learnt(self, points: list[Point], lost_by_host: dict[str, int]) -> None:
        """A load's outcome is known."""
        goals = tuple(interval(points, ratio) for ratio in self._how.loss_ratios)
        self._note(goals=goals, lost_by_host=lost_by_host)


class _Measurer:
    """What MLRsearch asks for trials."""

    def __init__(
        self, bench: SearchBench, step: Step, trials: Trials, ceiling: float | None
    ) -> None:
        self.points: list[Point] = []
        self._bench = bench
        self._step = step
        self._trials = trials
        self._ceiling = ceiling
        self._lost_by_host: dict[str, int] = {}
        self._count = 0
        #: The highest load that the tester offered in a valid trial.
        self._offered_pps = 0.0

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        """Measure a load (packets a second) for so long; what the library is told is kept."""
        self._count += 1
        name = f"{self._step.loadtest.name}.{self._count}"
        ratios = self._bench.how.loss_ratios
        goals = tuple(interval(self.points, ratio) for ratio in ratios)
        self._bench.begin(name, goals, intended_duration)
        measurement, trial, lost = self._tried(name, intended_load, intended_duration)
        offered = lost_of(measurement)[1]
        forwarded = intended_load * (1 - lost / offered) if offered else 0.0
        ratio = lost / offered if offered else 0.0
        self.points.append(Point(intended_load, intended_duration, ratio, forwarded, trial))
        self._bench.learnt(self.points, self._lost_by_host)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=offered,
            loss_count=lost,
        )

    def _tried(self, name: str, pps: float, seconds: float) -> tuple[Measurement, str, int]:
        """The measurement that counts, its trial, and what the device lost in it."""
        step = replace(self._step, loadtest=replace(self._step.loadtest, name=name))
        line_pps = step.loadtest.line_pps(step.testbed.line_bps)
        scale = max(1, round(FULL_SCALE_PPM * pps / line_pps))
        best: tuple[int, Measurement, str] | None = None
        short = 0
        for number in range(1, ATTEMPTS_MAX + 1):
            if best is not None and number > ATTEMPTS:
                break
            measurement, result = self._bench.attempt(
                step, self._trials, number, (scale, seconds), self._ceiling
            )
            if not result.valid:
                short += self._falls_short(measurement)
                self._check_tester(scale, short, measurement)
                if caused_by_host(measurement):
                    time.sleep(min(WAIT_MAX_SECONDS, WAIT_SECONDS * 2**number))
                continue
            self._offered_pps = max(self._offered_pps, measurement.load.asked_pps)
            lost = lost_of(measurement)[0]
            if not host_decides(measurement, self._bench.how.loss_ratios):
                return measurement, result.trial, lost
            own = lost - lost_by_absence(measurement) - refused_by_burst(measurement)
            if best is None or own < best[0]:
                best = (own, measurement, result.trial)
        if best is None:
            why = f"{trial_name(name, attempt=ATTEMPTS_MAX)} and all before it are invalid"
            raise TrialError(f"no valid trial at {pps / 1e6:.4g} Mpps: {why}")
        own, measurement, trial = best
        if by_host := lost_of(measurement)[0] - own:
            self._lost_by_host[trial] = by_host
        return measurement, trial, own

    def _falls_short(self, measurement: Measurement) -> bool:
        """Whether the tester can't offer a load, for which no moment's delay accounts."""
        known = measurement.load.asked_pps <= self._offered_pps
        return not known and caused_by_tester(measurement) and not caused_by_host(measurement)

    def _check_tester(self, scale: int, short: int, measurement: Measurement) -> None:
        """Raise _TesterLimitError when a load was too much for the tester so often."""
        if not short or not self._falls_short(measurement):
            return
        lower = next_scale_ppm(scale, short, measurement)
        if lower < scale:
            self._ceiling = next_ceiling(self._ceiling, measurement)
            raise _TesterLimitError(lower)


def _searched(measurer: _Measurer, how: How, about: Search) -> tuple[Goal, ...]:
    """Let the library search; raises TrialError when it does not come to an end."""
    goals = {ratio: _library_goal(ratio, how) for ratio in how.loss_ratios}
    config = Config(
        goals=list(goals.values()),
        min_load=min(about.min_pps, about.max_pps / 2),
        max_load=about.max_pps,
        search_duration_max=TRIALS_MAX * how.duration_seconds,
        warmup_duration=None,
    )
    try:
        found = MultipleLossRatioSearch(config=config).search(measurer, debug=_say_nothing)
    except RuntimeError as error:
        raise TrialError(f"the search came to no end: {error}") from error
    at = _last_at(measurer.points)
    return tuple(
        _goal(
            ratio,
            at(found[goal].relevant_lower_bound),
            at(found[goal].relevant_upper_bound),
        )
        for ratio, goal in goals.items()
    )


def _library_goal(loss_ratio: float, how: How) -> SearchGoal:
    """One trial of full length decides, as RFC 2544 has it; shorter ones only lead there."""
    return SearchGoal(
        loss_ratio=loss_ratio,
        exceed_ratio=0.0,
        relative_width=how.width,
        initial_trial_duration=how.initial_seconds,
        final_trial_duration=how.duration_seconds,
        duration_sum=how.duration_seconds,
        preceding_targets=2,
        expansion_coefficient=2,
        fail_fast=False,
    )


def _last_at(points: list[Point]) -> Callable[[object], Point | None]:
    """Find the longest trial at a load, the last of those."""

    def at(load: object) -> Point | None:
        if load is None:
            return None
        pps = float(load)  # type: ignore[arg-type]  # the library's load is a number
        there = [point for point in points if point.pps == pps]
        return max(reversed(there), key=lambda point: point.seconds, default=None)

    return at


def _say_nothing(_text: str) -> None:
    """Take what the library would log."""
