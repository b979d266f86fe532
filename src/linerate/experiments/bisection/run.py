"""The loop of a bisection: build what is wanted, measure a round of it, write it down."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from linerate.base.errors import UserError
from linerate.experiments.bisection.measuring import NoTrialError
from linerate.experiments.bisection.record import RecordFolder
from linerate.experiments.campaign.builds import BuildError
from linerate.model.bisection import LeftOut, Round, Trial
from linerate.results.bisection.search import Bisection, Wanted

#: Attempts at a trial, each of which repeats an invalid one by itself.
TRIES = 3


class Measures(Protocol):
    """Measures a trial of an engine."""

    def trial(self, engine: Path, work: Path) -> Trial:
        """Measure one, in a folder that goes with it. Raises NoTrialError."""


class Watches(Protocol):
    """Receives the progress of a bisection."""

    def building(self, bisection: Bisection, commit: str) -> None:
        """Say that a commit is built."""

    def measuring(self, bisection: Bisection, seconds_a_round: float) -> None:
        """Say that a round begins; how long one takes, 0 where that is not known."""

    def left_out(self, one: LeftOut) -> None:
        """Say that a commit can't be measured."""


class Runner:
    """Measures until a bisection is over, from wherever its record stands."""

    def __init__(
        self,
        bisection: Bisection,
        folder: RecordFolder,
        build: Callable[[str], Path],
        measurer: Measures,
        watcher: Watches,
    ) -> None:
        """`build` makes the engine of a commit, or finds the one that was made; BuildError."""
        self._bisection = bisection
        self._folder = folder
        self._build = build
        self._measurer = measurer
        self._watcher = watcher
        self._engines: dict[str, Path] = {}

    def run(self) -> None:
        """Run to the end. Raises UserError where an end can't be measured; Interrupted."""
        for event in self._folder.record.events:
            self._bisection.take(event)
        while (wanted := self._bisection.wanted) is not None:
            began_s = time.monotonic()
            event = self._event(wanted)
            self._folder.add(event, time.monotonic() - began_s)
            self._bisection.take(event)

    def _event(self, wanted: Wanted) -> Round | LeftOut:
        good, bad = self._bisection.commits[0], self._bisection.commits[-1]
        for name, commit in (("good", good), ("bad", bad)):
            try:
                self._engine(commit)
            except BuildError as error:
                raise UserError(f"--{name}: {error}; give another commit") from error
        if wanted.commit:
            try:
                self._engine(wanted.commit)
            except BuildError as error:
                return self._without(wanted.commit, str(error))
        self._watcher.measuring(self._bisection, self._seconds_a_round())
        return self._round(wanted, [commit for commit in (good, wanted.commit, bad) if commit])

    def _round(self, wanted: Wanted, order: list[str]) -> Round | LeftOut:
        """Trials in turn, there and back: a machine that gets slower does so for each of them."""
        found: dict[str, Trial] = {}
        for commit in reversed(order) if wanted.done % 2 else order:
            try:
                found[commit] = self._trial(commit)
            except NoTrialError as error:
                if commit == wanted.commit:
                    return self._without(commit, str(error))
                raise UserError(
                    f"{commit[:10]}: {TRIES} trials in a row have no result, the last one: {error}"
                ) from error
        return Round(
            commit=wanted.commit,
            good=found[self._bisection.commits[0]],
            middle=found.get(wanted.commit),
            bad=found[self._bisection.commits[-1]],
        )

    def _trial(self, commit: str) -> Trial:
        engine, work = self._engine(commit), self._folder.path / "trial"
        for _ in range(TRIES - 1):
            try:
                return self._measurer.trial(engine, work)
            except NoTrialError:
                continue
        return self._measurer.trial(engine, work)

    def _engine(self, commit: str) -> Path:
        """The engine of a commit; one that was built before is only found."""
        if commit not in self._engines:
            self._watcher.building(self._bisection, commit)
            self._folder.add_built(commit)
            self._engines[commit] = self._build(commit)
        return self._engines[commit]

    def _without(self, commit: str, reason: str) -> LeftOut:
        one = LeftOut(commit=commit, reason=reason)
        self._watcher.left_out(one)
        return one

    def _seconds_a_round(self) -> float:
        """Time of a round so far, with builds."""
        rounds = sum(isinstance(one, Round) for one in self._folder.record.events)
        return self._folder.record.seconds / rounds if rounds else 0.0
