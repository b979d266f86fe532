"""RFC 2544 by frame size: throughput, latency there, frame-loss curve, back-to-back bursts.

Throughput is a search with one goal, no loss. The others follow while engine and device are up.
Bursts are searched as RFC 9004 has it: the longest one at the highest rate that loses nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, sqrt

from linerate.base.line_rate import format_pps
from linerate.experiments.bench import Observer
from linerate.experiments.plan import Plan
from linerate.experiments.retry import Attempts, TesterLimitError, Tried, within_tester
from linerate.experiments.search import How, SearchBench
from linerate.lab.trial import TrialError
from linerate.model.measurement.latency import LatencyThere, times
from linerate.model.run_records import FrameSize, LossPoint
from linerate.model.suites import Traffic
from linerate.results.goals import NDR
from linerate.results.store import RunFolder

#: RFC 2544, 9.1, FCS counted.
SIZES = (64, 128, 256, 512, 1024, 1280, 1518)
#: RFC 2544, 26.3: steps of 10 % of the highest rate, until two in a row lose nothing.
STEP_PERCENT = 10
LOSSLESS_IN_A_ROW = 2
#: RFC 2544, 26.4: a burst of at least two seconds.
BURST_SECONDS = 2.0
#: The longest burst is found when the shortest that loses some is no longer than by this share.
BURST_WIDTH = 0.01
#: Later searches of the same begin at this multiple of the first result.
BURST_MARGIN = 4
#: Expected trials of a search for a burst, each of which is short, and read before and after.
BURST_TRIALS = 10
BURST_TRIAL_SECONDS = 0.5
#: RFC 2544 asks for 50 repeats of bursts; that takes an hour.
BURST_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Rfc2544How:
    """Settings of the measurement."""

    width: float
    duration_seconds: float
    burst_repeats: int = BURST_REPEATS


def rfc2544_plan(search: Plan, how: Rfc2544How) -> Plan:
    """The plan of a search with what follows it; some of the frames are timed."""
    curve = 100 / STEP_PERCENT * how.duration_seconds
    bursts = how.burst_repeats * BURST_TRIALS * BURST_TRIAL_SECONDS + BURST_SECONDS
    seconds = (search.step_seconds or 0.0) + curve + bursts
    steps = tuple(
        replace(step, loadtest=replace(step.loadtest, traffic=_timed(step.loadtest.traffic)))
        for step in search.steps
    )
    return replace(search, steps=steps, step_seconds=seconds)


def _timed(traffic: Traffic) -> Traffic:
    """The same with a tenth of its frames timed; a profile's streams stay as they are."""
    return traffic if traffic.offered is not None else replace(traffic, latency=True)


def latency_there(tried: Tried) -> LatencyThere | None:
    """Sum up what was timed in a trial; None where nothing was."""
    reported = times(tried.measurement.latency)
    return LatencyThere(**dict(reported), trial=tried.trial) if reported.count else None


def default_sizes(largest: int) -> tuple[int, ...]:
    """The RFC's sizes that fit."""
    return tuple(size for size in SIZES if size <= largest)


def curve_loads(max_pps: float, line_pps: float) -> Iterator[float]:
    """The highest load, then each whole step of the line's rate below it, down to the last.

    A step that is less than 1 % of the line below the highest load says what that does.
    """
    yield max_pps
    for percent in range(100 - STEP_PERCENT, 0, -STEP_PERCENT):
        if (pps := line_pps * percent / 100) <= max_pps - line_pps / 100:
            yield pps


def loss_trial(pps: float, line_pps: float) -> str:
    """Name the trial of a curve's load."""
    return f"loss-{100 * pps / line_pps:.0f}"


def curve_ends(points: list[LossPoint]) -> bool:
    """Whether enough loads in a row lost nothing."""
    last = points[-LOSSLESS_IN_A_ROW:]
    return len(last) == LOSSLESS_IN_A_ROW and not any(point.loss_ratio for point in last)


def longest_burst(lossless: Callable[[int], bool], most: int, width: float) -> int:
    """Find the longest burst, in frames, that loses nothing; 0 if even one frame is lost.

    Halves on a logarithmic scale: buffers hold hundreds of frames, and seconds hold millions.
    """
    if lossless(most):
        return most
    low, high = 0, most
    while high - low > max(1, round(width * high)):
        middle = min(max(low + 1, round(sqrt(max(low, 1) * high))), high - 1)
        if lossless(middle):
            low = middle
        else:
            high = middle
    return low


class Rfc2544Bench(SearchBench):
    """Measures the benchmarks for each of the plan's frame sizes."""

    def __init__(self, plan: Plan, folder: RunFolder, observer: Observer, how: Rfc2544How) -> None:
        super().__init__(plan, folder, observer, How((NDR,), how.width, how.duration_seconds))
        self._rfc2544 = how

    def _then(self, attempts: Attempts) -> None:
        """Latency, loss curve and bursts, throughput being known."""
        search = self.run.searches[-1]
        throughput = search.goals[0]
        figures = FrameSize(
            loadtest=search.loadtest,
            frame_bytes=search.frame_bytes,
            line_pps=search.line_pps,
            max_pps=search.max_pps,
            throughput_pps=throughput.lower_pps,
            throughput_trial=throughput.lower_trial,
        )
        self._update(rfc2544=(*self.run.rfc2544, figures))
        try:
            self._measure_others(attempts)
        except TesterLimitError as limit:
            # Neither at throughput nor of bursts: less would be another benchmark.
            raise TrialError(
                f"{search.loadtest}: the tester offers {format_pps(limit.most_pps, '.4g')} at "
                "most, where it offered more before"
            ) from limit

    def _measure_others(self, attempts: Attempts) -> None:
        """Raises TesterLimitError."""
        curve = attempts.anew(self._measure_latency(attempts))
        within_tester(
            lambda: self._measure_curve(curve),
            lambda most_pps: self._figures(max_pps=most_pps),
        )
        self._measure_bursts(curve.of_bursts())

    def _figures(self, **changes: object) -> FrameSize:
        """Write down more of the frame size that is being measured."""
        *before, last = self.run.rfc2544
        last = last.model_copy(update=changes)
        self._update(rfc2544=(*before, last))
        return last

    def _measure_latency(self, attempts: Attempts) -> float:
        """At throughput, where there is one and frames are timed; packets a second of that."""
        figures = self.run.rfc2544[-1]
        if figures.throughput_pps is None:
            return 0.0
        name, seconds = f"{figures.loadtest}.latency", self._rfc2544.duration_seconds
        self.begin(name, f"{name}: latency at throughput", seconds)
        tried = attempts.tried(name, figures.throughput_pps, seconds)
        self._figures(latency=latency_there(tried))
        return tried.measurement.asked_pps

    def _measure_curve(self, attempts: Attempts) -> None:
        figures, points = self.run.rfc2544[-1], list[LossPoint]()
        for pps in curve_loads(figures.max_pps, figures.line_pps):
            percent = 100 * pps / figures.line_pps
            name = f"{figures.loadtest}.{loss_trial(pps, figures.line_pps)}"
            seconds = self._rfc2544.duration_seconds
            self.begin(name, f"{name}: loss at {percent:.0f} % of line", seconds)
            tried = attempts.tried(name, pps, seconds)
            points.append(
                LossPoint(
                    pps=pps,
                    line_percent=percent,
                    loss_ratio=tried.loss_ratio,
                    trial=tried.trial,
                )
            )
            self._note_lost_by_host(attempts)
            self._figures(loss_curve=tuple(points))
            if curve_ends(points):
                return

    def _measure_bursts(self, attempts: Attempts) -> None:
        figures = self.run.rfc2544[-1]
        most = int(figures.max_pps * BURST_SECONDS)
        for repeat in range(1, self._rfc2544.burst_repeats + 1):
            bursts = _Bursts(self, attempts, figures, repeat)
            found = figures.bursts
            first = min(most, BURST_MARGIN * found[0]) if found and found[0] else most
            frames = longest_burst(bursts.lossless, first, BURST_WIDTH)
            if frames == first < most:
                frames = longest_burst(bursts.lossless, most, BURST_WIDTH)
            self._note_lost_by_host(attempts)
            figures = self._figures(
                bursts=(*found, frames),
                burst_trials=(*figures.burst_trials, bursts.longest_trial),
                burst_most=most,
            )

    def _note_lost_by_host(self, attempts: Attempts) -> None:
        self._note(lost_by_host={**self.run.searches[-1].lost_by_host, **attempts.lost_by_host})


class _Bursts:
    """One search for the longest burst."""

    def __init__(
        self, bench: Rfc2544Bench, attempts: Attempts, figures: FrameSize, repeat: int
    ) -> None:
        self.longest_trial = ""
        self._bench = bench
        self._attempts = attempts
        self._figures = figures
        self._repeat = repeat
        self._count = 0
        self._longest = 0

    def lossless(self, frames: int) -> bool:
        """Send a burst at the highest rate, and report whether all frames were forwarded."""
        self._count += 1
        name = f"{self._figures.loadtest}.burst-{self._repeat}.{self._count}"
        # Rounded up to a microsecond: no burst is shorter than reported.
        seconds = ceil(1e6 * frames / self._figures.max_pps) / 1e6
        self._bench.begin(name, f"{name}: a burst of {frames:,} frames", seconds)
        tried: Tried = self._attempts.tried(name, self._figures.max_pps, seconds)
        if not tried.lost and frames > self._longest:
            self._longest, self.longest_trial = frames, tried.trial
        return not tried.lost
