"""Latency: of each loadtest beside its result, and of one loadtest over offered load.

The latency of tester and link is measured at the same load over the bare link, and reported beside
the device's.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from linerate.base.line_rate import format_pps
from linerate.experiments.asked_load import FULL_SCALE_PPM
from linerate.experiments.bench import Bench, Observer
from linerate.experiments.plan import Plan, Step
from linerate.experiments.retry import WAIT_MAX_SECONDS, WAIT_SECONDS
from linerate.experiments.search import How, SearchBench
from linerate.lab.rig import Trials, has_ceiling
from linerate.lab.trial import TrialError, try_trial
from linerate.model.measurement import Measurement
from linerate.model.measurement.latency import LatencyFigures, LatencyLoads, LatencyPoint, figures
from linerate.model.suites import Loadtest
from linerate.model.testbed import Testbed
from linerate.results.goals import NDR
from linerate.results.store import Result, RunFolder

#: Loads in percent of the highest.
PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
#: Over the bare link no trial needs longer.
OWN_SECONDS_MAX = 2.0
#: Attempts at an invalid trial.
ATTEMPTS = 5


def timed(loadtest: Loadtest) -> Loadtest:
    """The same with a tenth of its frames timed; raises ValueError where none can be."""
    return replace(loadtest, traffic=loadtest.traffic.timed())


class LatencyBench(Bench):
    """Measures a plan, and after each loadtest the same load over the bare link."""

    def _measure_loadtest(self, step: Step) -> None:
        before = len(self.run.results)
        super()._measure_loadtest(step)
        results = self.run.results[before:]
        if not results or not results[-1].valid or not has_ceiling(step.testbed):
            return
        result, label = results[-1], f"{results[-1].trial}-wire"
        seconds = min(self._plan.duration_seconds, OWN_SECONDS_MAX)
        # With bursts the load is less than the scale: equal scales are equal loads.
        scale_ppm = max(1, self._loads[step.loadtest.name].scale_ppm)
        with self._rigs[step.testbed].bare_at_rate(step.loadtest, label) as trials:
            own = _over_wire(self, trials, step, scale_ppm, seconds)
            self._folder.save_measurement(label, own)
        reported = result.model_copy(update={"own_latency": _figures(own)})
        self._update(results=(*self.run.results[:-1], reported))


def _over_wire(
    bench: Bench, trials: Trials, step: Step, scale_ppm: int, seconds: float
) -> Measurement:
    load = bench._load(step.testbed, step.loadtest, scale_ppm, seconds)
    message = f"{step.loadtest.name}: bare link, {format_pps(load.asked_pps, '.4g')}"
    bench._observer.step(message, seconds)
    load = load.model_copy(update={"counted": "received"})
    measurement = try_trial(trials.tester, load, bench._observer.progress)
    trials.check()
    return measurement


def _figures(measurement: Measurement) -> tuple[LatencyFigures, ...]:
    return figures(measurement.latency, measurement.streams)


def _scale(testbed: Testbed, loadtest: Loadtest, pps: float) -> int:
    return max(1, round(FULL_SCALE_PPM * pps / loadtest.full_pps(testbed.line_bps)))


@dataclass(frozen=True, slots=True)
class Loads:
    """Loads as shares of the highest, which is searched for unless it is known."""

    percents: tuple[int, ...] = PERCENTS
    top: Literal["NDR", "given", "line"] = "NDR"
    #: Where it is given: all directions together.
    top_pps: float = 0.0


def latency_plan(
    testbed: Testbed, loadtests: tuple[Loadtest, ...], seconds: float, command: tuple[str, ...]
) -> Plan:
    """Plan latency over offered load for each loadtest."""
    steps = tuple(Step(testbed, timed(loadtest)) for loadtest in loadtests)
    return Plan(testbed, "latency", steps, seconds, command)


class LatencyLoadsBench(SearchBench):
    """Finds the NDR of each of the plan's steps, then measures latency at shares of it."""

    def __init__(
        self, plan: Plan, folder: RunFolder, observer: Observer, how: How, loads: Loads
    ) -> None:
        super().__init__(plan, folder, observer, how)
        self._asked = loads

    def _measure_loadtest(self, step: Step) -> None:
        """Search if need be; then all loads through the device, and all over the bare link."""
        testbed, loadtest = step.testbed, step.loadtest
        line_pps = loadtest.full_pps(testbed.line_bps)
        about = LatencyLoads(
            loadtest=loadtest.name,
            text=loadtest.text,
            frame_bytes=loadtest.traffic.frame_bytes,
            top=self._asked.top,
            top_pps=self._top_pps(step, line_pps),
            line_pps=line_pps,
        )
        self._update(latencies=(*self.run.latencies, about))
        points = []
        with self._rigs[testbed].under_test(loadtest, f"{loadtest.name}-loads") as trials:
            self._note_engine(trials.info)
            self._keep_warm_up(step, trials, _scale(testbed, loadtest, about.top_pps))
            for percent, one, pps in self._each(step, about):
                result = self._measured(one, trials, pps)
                points.append(LatencyPoint(percent=percent, pps=pps, trial=result.trial))
                known = about.model_copy(update={"points": tuple(points)})
                self._update(latencies=(*self.run.latencies[:-1], known))
        if has_ceiling(testbed):
            self._measure_own(step, about)

    def _top_pps(self, step: Step, line_pps: float) -> float:
        if self._asked.top == "line":
            return line_pps
        if self._asked.top == "given":
            return self._asked.top_pps
        super()._measure_loadtest(step)
        goals = (one for one in self.run.searches[-1].goals if one.loss_ratio == NDR)
        found = next(goals).lower_pps
        if found is None:
            raise TrialError(
                f"{step.loadtest.name}: some packets are lost at any load, so there is no NDR: "
                "--ndr PPS says what to measure up to"
            )
        return found

    def _each(self, step: Step, about: LatencyLoads) -> Iterator[tuple[int, Step, float]]:
        """Shares of the highest load, from the lowest on."""
        for percent in self._asked.percents:
            name = f"{step.loadtest.name}-at-{percent}"
            one = replace(step, loadtest=replace(step.loadtest, name=name))
            yield percent, one, about.top_pps * percent / 100

    def _measured(self, step: Step, trials: Trials, pps: float) -> Result:
        """Measure one load, again while the trial is invalid."""
        seconds = self._plan.duration_seconds
        self.begin(step.loadtest.name, f"{step.loadtest.name}: {format_pps(pps, '.4g')}", seconds)
        scale = _scale(step.testbed, step.loadtest, pps)
        for number in range(1, ATTEMPTS + 1):
            _, result = self.attempt(step, trials, number, (scale, seconds), None, {})
            if result.valid:
                break
            # Competing programs may end.
            time.sleep(min(WAIT_MAX_SECONDS, WAIT_SECONDS * 2**number))
        return result

    def _measure_own(self, step: Step, about: LatencyLoads) -> None:
        """The same loads over the bare link; added to each result."""
        seconds = min(self._plan.duration_seconds, OWN_SECONDS_MAX)
        with self._rigs[step.testbed].bare_at_rate(step.loadtest, f"{about.loadtest}-wire") as on:
            for _, one, pps in self._each(step, about):
                scale = _scale(one.testbed, one.loadtest, pps)
                own = _over_wire(self, on, one, scale, seconds)
                self._folder.save_measurement(f"{one.loadtest.name}-wire", own)
                self._update(
                    results=tuple(
                        result.model_copy(update={"own_latency": _figures(own)})
                        if result.test == one.loadtest.name
                        else result
                        for result in self.run.results
                    )
                )
