"""One short trial of one engine at a time.

Each trial starts an engine of its own: where its memory lies is a part of the noise, and trials of
one start would share it. The tester's ceiling and load are found once: all engines are offered the
same.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from linerate.base.errors import UserError
from linerate.experiments.bench import Bench, Known, Observer
from linerate.experiments.plan import Plan
from linerate.model.bisection import Trial
from linerate.model.ledger import cycles_by_node
from linerate.model.measurement import Progress
from linerate.results.store import Absent, Result, Run, RunFolder

_ENGINE = "LINERATE_ENGINE"


class NoTrialError(UserError):
    """A trial without a valid result."""


class Maker(Protocol):
    """Makes what measures a plan."""

    def __call__(self, plan: Plan, folder: RunFolder, observer: Observer, known: Known) -> Bench:
        """Make it."""


class Measurer:
    """Measures a plan of one step, by the engine that is given."""

    def __init__(self, plan: Plan, make: Maker, make_checked: Maker | None = None) -> None:
        """`make_checked` is for the first trial of an engine: it checks more than others."""
        self._plan = plan
        self._make = make
        self._make_first = make_checked or make
        self._known = Known()
        self._measured: set[Path] = set()

    def trial(self, engine: Path, work: Path) -> Trial:
        """Measure one trial; `work` is a folder of its own, which goes with it.

        Raises NoTrialError; Interrupted, with nothing left behind.
        """
        make = self._make if engine in self._measured else self._make_first
        with _chosen(engine), _emptied(work):
            folder = RunFolder.create(work, "trial")
            run = make(self._plan, folder, _Silent(), self._known).measure()
        found = _trial_of(run)
        self._measured.add(engine)
        return found


@contextmanager
def _emptied(work: Path) -> Iterator[None]:
    """Remove a folder afterwards, and before: a trial that was killed has left its own."""
    shutil.rmtree(work, ignore_errors=True)
    try:
        yield
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _chosen(engine: Path) -> Iterator[None]:
    """Let this process start that engine, and no other."""
    before = os.environ.get(_ENGINE)
    os.environ[_ENGINE] = str(engine)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ENGINE]
        else:
            os.environ[_ENGINE] = before


def _trial_of(run: Run) -> Trial:
    results = run.reported()
    if run.status != "complete" or not results:
        absent = run.absent[0].reason if run.absent else "no trial"
        raise NoTrialError(run.problem or absent)
    result = results[0]
    if not result.valid:
        raise NoTrialError(result.invalid[0])
    if not result.received_pps:
        raise NoTrialError("nothing was received of what was sent")
    return Trial(nodes=cycles_by_node(result.time_at_load), packet_ns=1e9 / result.received_pps)


class _Silent:
    """Progress of a trial is none of a bisection."""

    def step(self, text: str, seconds: float) -> None:
        """Say nothing."""

    def progress(self, progress: Progress) -> None:
        """Say nothing."""

    def waiting(self, text: str) -> None:
        """Say nothing."""

    def measured(self, result: Result) -> None:
        """Say nothing."""

    def absent(self, absent: Absent) -> None:
        """Say nothing."""
