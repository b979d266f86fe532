"""One load, measured until its trial is valid and what was lost is the device's, not the host's.

On a shared machine workers are descheduled now and then, the rings before them overflow, and one
such event would end a search far too low (docs/search.md, "Disturbances by the host").
"""

import copy
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from linerate.analysis.host_losses import (
    lost_while_descheduled,
    may_be_by_stall,
    may_be_lost_while_descheduled,
    refused_by_burst,
)
from linerate.analysis.validity import caused_by_host
from linerate.base.line_rate import format_pps
from linerate.experiments.asked_load import FULL_SCALE_PPM, AskedLoad
from linerate.experiments.bench import Bench
from linerate.experiments.plan import Step
from linerate.lab.rig import Trials
from linerate.lab.trial import TrialError, try_trial
from linerate.model.measurement import Measurement
from linerate.model.measurement.trial import OFFERED_WITHIN
from linerate.results.store import Result, trial_name

#: Attempts at a trial whose loss may be the host's; as long as none is valid, up to the second
#: figure, with a wait between them that doubles: competing programs may end.
ATTEMPTS = 5
ATTEMPTS_MAX = 10
WAIT_SECONDS = 0.05
WAIT_MAX_SECONDS = 2.0
#: The last trial's files are being written to the disk, which takes CPUs too.
SETTLE_SECONDS = 0.15
#: Times that the highest load is lowered to what the tester can offer.
LOWER_LOADS = 4


def lost_of(measurement: Measurement) -> tuple[int, int]:
    """Packets that did not come through, and those offered.

    A wire that pushes back loses nothing: what it did not take counts there.
    """
    sent, lost = measurement.judged_sent, max(0, measurement.judged_lost)
    asked = round(measurement.asked_pps * measurement.load.duration_us / 1e6)
    if measurement.load.pushes_back and sent < asked * (1 - OFFERED_WITHIN):
        return lost + asked - sent, asked
    return lost, sent


def host_decides(measurement: Measurement, loss_ratios: Iterable[float]) -> bool:
    """Whether packets lost while workers were descheduled decide if a goal is missed."""
    lost, offered = lost_of(measurement)
    at_rings = max(may_be_lost_while_descheduled(measurement), may_be_by_stall(measurement))
    least = lost - at_rings - refused_by_burst(measurement)
    return any(lost > ratio * offered >= least for ratio in loss_ratios)


class TesterLimitError(Exception):
    """The tester can't offer a load; a lower one it may."""

    def __init__(self, most_pps: float) -> None:
        super().__init__(most_pps)
        self.most_pps = most_pps


Found = TypeVar("Found")


def within_tester(measure: Callable[[], Found], lower: Callable[[float], object]) -> Found:
    """Result of `measure`, again after `lower` was called because the tester may offer less.

    Raises TrialError when it offers less each time.
    """
    for _ in range(LOWER_LOADS):
        try:
            return measure()
        except TesterLimitError as limit:
            lower(limit.most_pps)
    raise TrialError("the tester offers less each time it is asked for less")


#: Where the machine took the CPU from who needed it.
WHAT_HELPS = "; linerate doctor says what else runs"


@dataclass(frozen=True, slots=True)
class Tried:
    """The measurement of a load that counts."""

    measurement: Measurement
    trial: str
    #: Packets, as far as the device lost them.
    lost: int

    @property
    def loss_ratio(self) -> float:
        """Lost ones of those offered."""
        offered = lost_of(self.measurement)[1]
        return self.lost / offered if offered else 0.0


class AttemptsBench(Bench):
    """A bench whose trials follow from those before."""

    def begin(self, test: str, text: str, seconds: float) -> None:
        """A new load is about to be tried; the run's tests are those, as they come."""
        self._update(tests=(*self.run.tests, test))
        self._observer.step(text, seconds)

    def attempt(
        self,
        step: Step,
        trials: Trials,
        number: int,
        load: tuple[int, float],
        ceiling: float | None,
        changes: Mapping[str, object],
    ) -> tuple[Measurement, Result]:
        """Measure a load of `ppm` millionths for `seconds`, and keep it."""
        asked = self._load(step.testbed, step.loadtest, *load).model_copy(update=dict(changes))
        card = step.testbed.card if step.testbed.wire == "card" else None
        time.sleep(SETTLE_SECONDS)
        measurement = try_trial(trials.tester, asked, self._observer.progress, card, ceiling)
        trials.check()
        return measurement, self._keep(step, number, measurement)


class Attempts:
    """Measures loads of one loadtest, engine and device being up."""

    def __init__(
        self,
        bench: AttemptsBench,
        step: Step,
        trials: Trials,
        ceiling: float | None,
        loss_ratios: tuple[float, ...],
    ) -> None:
        """`loss_ratios` are those that matter."""
        self.lost_by_host: dict[str, int] = {}
        self._bench = bench
        self._step = step
        self._trials = trials
        self._ceiling = ceiling
        self._loss_ratios = loss_ratios
        #: Fields of each trial's load.
        self._changes: dict[str, object] = {}
        #: The highest load that the tester offered in a valid trial.
        self._offered_pps = 0.0

    def anew(self, offered_pps: float) -> "Attempts":
        """The same that knows only of so much that the tester offers it.

        What it offered in short trials it need not offer for long.
        """
        other = copy.copy(self)
        other.lost_by_host, other._offered_pps = {}, offered_pps
        return other

    def of_bursts(self) -> "Attempts":
        """The same of bursts; what the tester offers is known."""
        other = self.anew(self._offered_pps)
        other._changes = {"burst": True}
        return other

    def tried(self, name: str, pps: float, seconds: float) -> Tried:
        """The measurement that counts, its trial, and what the device lost in it.

        Raises TesterLimitError, TrialError.
        """
        step = replace(self._step, loadtest=replace(self._step.loadtest, name=name))
        full_pps = step.loadtest.full_pps(step.testbed.line_bps)
        scale = max(1, round(FULL_SCALE_PPM * pps / full_pps))
        best: tuple[int, Measurement, str] | None = None
        asked = AskedLoad(scale, self._ceiling)
        for number in range(1, ATTEMPTS_MAX + 1):
            if best is not None and number > ATTEMPTS:
                break
            measurement, result = self._bench.attempt(
                step, self._trials, number, (scale, seconds), self._ceiling, self._changes
            )
            if not result.valid:
                asked = self._asked_after(asked, measurement)
                if caused_by_host(measurement):
                    time.sleep(min(WAIT_MAX_SECONDS, WAIT_SECONDS * 2**number))
                continue
            self._offered_pps = max(self._offered_pps, measurement.asked_pps)
            lost = lost_of(measurement)[0]
            if measurement.left_out:
                self.lost_by_host[result.trial] = measurement.left_out
            if not host_decides(measurement, self._loss_ratios):
                return Tried(measurement, result.trial, lost)
            own = lost - lost_while_descheduled(measurement) - refused_by_burst(measurement)
            if best is None or own < best[0]:
                best = (own, measurement, result.trial)
        if best is None:
            last = f"{trial_name(name, attempt=ATTEMPTS_MAX)} and all before it are invalid"
            why = f"{last} ({result.invalid[0]}){WHAT_HELPS * caused_by_host(measurement)}"
            raise TrialError(f"no valid trial at {format_pps(pps, '.4g')}: {why}")
        own, measurement, trial = best
        if by_host := lost_of(measurement)[0] - own + measurement.left_out:
            self.lost_by_host[trial] = by_host
        return Tried(measurement, trial, own)

    def _asked_after(self, asked: AskedLoad, measurement: Measurement) -> AskedLoad:
        """Knowledge of a load after an invalid trial.

        Raises TesterLimitError where the tester can't offer it; what it offered once, it can.
        """
        if measurement.asked_pps <= self._offered_pps:
            return asked
        known = asked.after(measurement)
        if known.scale_ppm < asked.scale_ppm:
            self._ceiling = known.ceiling_pps
            full_pps = self._step.loadtest.full_pps(self._step.testbed.line_bps)
            raise TesterLimitError(full_pps * known.scale_ppm / FULL_SCALE_PPM)
        return known
