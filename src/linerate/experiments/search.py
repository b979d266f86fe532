"""A search: the highest loads at which a device loses no more than it may.

MLRsearch (FD.io's library) says which load to try next, for how long, and when all goals
are found. Here each of its trials is measured, kept and judged as any other.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from linerate.base.line_rate import format_pps
from linerate.engine.telemetry import NoAnswerError
from linerate.experiments.asked_load import FULL_SCALE_PPM
from linerate.experiments.bench import Observer
from linerate.experiments.plan import Plan, Step
from linerate.experiments.retry import Attempts, AttemptsBench, lost_of, within_tester
from linerate.lab.rig import Trials
from linerate.lab.trial import TrialError
from linerate.model.run_records import Goal, Search
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed
from linerate.results.goals import NDR, PDR, goals_text
from linerate.results.store import RunFolder

if TYPE_CHECKING:
    from MLRsearch import MeasurementResult, SearchGoal

#: Largest difference of the two loads of a goal that is found.
WIDTH = 0.005
#: First trials at a load are shorter; not so short that nothing is read at load.
INITIAL_SECONDS = 0.3
#: Lowest load of a search, as a share of the line: a millionth must be little of it.
MIN_OF_LINE = 2e-4
#: A trial of fewer packets is not exact to a thousandth.
PACKETS_MIN = 5_000
#: A deciding trial of fewer is longer: what a ring takes at its end, some hundred packets, is no
#: loss, and would hide one.
DECIDING_PACKETS = 150_000
#: But not longer than this; who asks for more has asked for enough.
LONGER_SECONDS = 4.0
#: Before trials, so that addresses are known and tables filled.
WARM_UP_SECONDS = 0.3
WARM_UP_OF_MAX = 0.1
#: Expected loads of a search per goal, each short once and at full length once.
LOADS_A_GOAL = 4
#: Most trials of full length: a search that needs more has no stable result.
TRIALS_MAX = 200


@dataclass(frozen=True, slots=True)
class How:
    """Settings of a search; loss ratios rise."""

    loss_ratios: tuple[float, ...] = (NDR, PDR)
    width: float = WIDTH
    duration_seconds: float = 1.0

    @property
    def initial_seconds(self) -> float:
        """Duration of first trials at a load."""
        return min(INITIAL_SECONDS, self.duration_seconds)

    def seconds_at(self, pps: float, intended_seconds: float) -> float:
        """Duration of a trial at a load: a deciding one of few packets is longer."""
        if intended_seconds < self.duration_seconds:
            return intended_seconds
        return max(intended_seconds, min(DECIDING_PACKETS / pps, LONGER_SECONDS))


def search_plan(
    testbed: Testbed, loadtests: tuple[Loadtest, ...], how: How, command: tuple[str, ...]
) -> Plan:
    """Plan a search for each loadtest."""
    steps = tuple(Step(testbed, loadtest) for loadtest in loadtests)
    goals = len(how.loss_ratios)
    expected = LOADS_A_GOAL * goals * (how.duration_seconds + how.initial_seconds)
    return Plan(testbed, "search", steps, how.duration_seconds, command, step_seconds=expected)


@dataclass(frozen=True, slots=True)
class Point:
    """Result at one load, as far as it is the device's."""

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


class SearchBench(AttemptsBench):
    """Measures a search for each of the plan's steps."""

    steps_stand_alone = False

    def __init__(self, plan: Plan, folder: RunFolder, observer: Observer, how: How) -> None:
        super().__init__(plan, folder, observer)
        self._how = how
        self._update(tests=())

    def _measure_loadtest(self, step: Step) -> None:
        """Search with one loadtest; engine and device stay up from the first trial to the last."""
        first = self._first_load(step)
        with self._rigs[step.testbed].under_test(step.loadtest, step.loadtest.name) as trials:
            self._note_engine(trials.info)
            line_pps = step.loadtest.line_pps(step.testbed.line_bps)
            full_pps = step.loadtest.full_pps(step.testbed.line_bps)
            about = Search(
                loadtest=step.loadtest.name,
                text=step.loadtest.text,
                frame_bytes=step.loadtest.traffic.frame_bytes,
                width=self._how.width,
                duration_seconds=self._how.duration_seconds,
                min_pps=max(full_pps * MIN_OF_LINE, PACKETS_MIN / self._how.initial_seconds),
                max_pps=full_pps * first.scale_ppm / FULL_SCALE_PPM,
                line_pps=line_pps,
            )
            self._update(searches=(*self.run.searches, about))
            self._keep_warm_up(step, trials, first.scale_ppm)
            attempts = Attempts(self, step, trials, first.ceiling_pps, self._how.loss_ratios)
            self._narrow(_Measurer(self, step, attempts))
            self._then(attempts)

    def _then(self, attempts: Attempts) -> None:
        """Measure what else is asked for while engine and device are up: nothing here."""

    def _narrow(self, measurer: "_Measurer") -> None:
        """Let the library search, again with a lower highest load where the tester has less."""
        goals = within_tester(
            lambda: _searched(measurer, self._how, self.run.searches[-1]),
            lambda most_pps: self._note(max_pps=most_pps),
        )
        self._note(goals=goals, found=True)

    def _keep_warm_up(self, step: Step, trials: Trials, scale_ppm: int) -> None:
        """Send a little of it, or as much as the loadtest asks: evidence, never a result."""
        loadtest = step.loadtest
        self._observer.step(f"{loadtest.name}: warm-up", WARM_UP_SECONDS)
        if not loadtest.warmup_seconds:
            scale_ppm = max(1, round(scale_ppm * WARM_UP_OF_MAX))
            step = replace(step, loadtest=replace(loadtest, warmup_seconds=WARM_UP_SECONDS))
        try:
            measurement = self._warm_up(trials, step, scale_ppm)
        except NoAnswerError:
            # The first trial shows how the host goes on.
            return
        self._folder.save_measurement(f"{loadtest.name}-warm-up", measurement)

    def _note(self, **changes: object) -> None:
        """Write down how far the search is."""
        *before, last = self.run.searches
        self._update(searches=(*before, last.model_copy(update=changes)))

    # Operations of the bench that the measurer needs.

    @property
    def how(self) -> How:
        """Settings of the measurement."""
        return self._how

    def learnt(self, points: list[Point], lost_by_host: dict[str, int]) -> None:
        """A load's outcome is known."""
        goals = tuple(interval(points, ratio) for ratio in self._how.loss_ratios)
        self._note(goals=goals, lost_by_host=lost_by_host)


class _Measurer:
    """Measures the trials that MLRsearch requests."""

    def __init__(self, bench: SearchBench, step: Step, attempts: Attempts) -> None:
        self.points: list[Point] = []
        self._bench = bench
        self._step = step
        self._attempts = attempts
        self._count = 0

    def measure(self, intended_duration: float, intended_load: float) -> "MeasurementResult":
        """Measure a load (packets a second) for a duration.

        The result given to the library is kept.
        """
        self._count += 1
        name = f"{self._step.loadtest.name}.{self._count}"
        ratios = self._bench.how.loss_ratios
        goals = tuple(interval(self.points, ratio) for ratio in ratios)
        message = f"{name}, {format_pps(intended_load, '.4g')}: {goals_text(goals)}"
        seconds = self._bench.how.seconds_at(intended_load, intended_duration)
        self._bench.begin(name, message, seconds)
        tried = self._attempts.tried(name, intended_load, seconds)
        forwarded = intended_load * (1 - tried.loss_ratio)
        self.points.append(Point(intended_load, seconds, tried.loss_ratio, forwarded, tried.trial))
        self._bench.learnt(self.points, self._attempts.lost_by_host)
        from MLRsearch import MeasurementResult  # noqa: PLC0415 (slow to load)

        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=lost_of(tried.measurement)[1],
            loss_count=tried.lost,
        )


def _searched(measurer: _Measurer, how: How, about: Search) -> tuple[Goal, ...]:
    """Let the library search; raises TrialError when it does not come to an end."""
    from MLRsearch import Config, MultipleLossRatioSearch  # noqa: PLC0415 (slow to load)

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


def _library_goal(loss_ratio: float, how: How) -> "SearchGoal":
    """One trial of full length decides, as RFC 2544 has it; shorter ones only lead there."""
    from MLRsearch import SearchGoal  # noqa: PLC0415 (slow to load)

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
