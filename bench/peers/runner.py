"""Runs benchmarks: ours, the peer, ours, the peer, so that both meet the same machine."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from bench.peers.model import (
    Kind,
    NotMeasuredError,
    Pair,
    Place,
    Result,
    Sample,
    Side,
    Stamp,
    result_of,
)
from linerate.base.errors import SetupError
from linerate.engine.engine_process import EngineError
from linerate.engine.telemetry import TelemetryError
from linerate.lab.trial import TrialError

#: Pairs tried for each that is wanted, while the stamp does not hold.
ATTEMPTS = 2
#: Errors that end one benchmark, with a line.
FAILURES = (NotMeasuredError, EngineError, SetupError, TelemetryError, TrialError)


class Observer(Protocol):
    """Receives the progress."""

    def step(self, text: str) -> None:
        """Say what is measured from now on."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Measures benchmarks, with a number of repeats of a given length."""

    place: Place
    repeats: int
    seconds: float
    observer: Observer
    take_stamp: Callable[[Place], Stamp]

    def run(self, kind: Kind) -> Result:
        """Measure one; a failure is reported, not raised."""
        if kind.cores > len(self.place.cpus):
            return Result(kind.name, problem=f"needs {kind.cores} CPUs")
        pairs: list[Pair] = []
        problem = None
        try:
            if kind.peer is None and kind.cores == 1:
                self._alone(kind, pairs)
            else:
                problem = self._against(kind, pairs)
        except FAILURES as error:
            problem = str(error)
        return result_of(kind, pairs, problem)

    def _alone(self, kind: Kind, pairs: list[Pair]) -> None:
        """Nothing to alternate with: one start, which may be a costly one."""
        self.observer.step(f"{kind.name}: starting")
        with kind.ours(self.place) as session:
            for repeat in range(1, self.repeats + 1):
                self.observer.step(f"{kind.name} {repeat}/{self.repeats}")
                pairs.append(Pair(session.sample(self.seconds)))

    def _against(self, kind: Kind, pairs: list[Pair]) -> str | None:
        """Alternate; a peer that is missing does not take our own figure away."""
        problem = None
        peer = kind.peer
        for attempt in range(1, ATTEMPTS * self.repeats + 1):
            if len(pairs) == self.repeats:
                break
            self.observer.step(f"{kind.name} {len(pairs) + 1}/{self.repeats}")
            stamps = [self._stamp()] if kind.cores > 1 else []
            ours = self._once(kind.ours)
            theirs = None
            if peer is not None:
                try:
                    self.observer.step(f"{kind.name} {len(pairs) + 1}/{self.repeats}, peer")
                    theirs = self._once(peer)
                except FAILURES as error:
                    problem, peer = str(error), None
                    pairs[:] = [Pair(pair.ours, None, pair.stamps) for pair in pairs]
            stamps += [self._stamp()] if kind.cores > 1 else []
            pair = Pair(ours, theirs, tuple(stamps))
            if pair.holds:
                pairs.append(pair)
            elif attempt == ATTEMPTS * self.repeats and not pairs:
                problem = "the CPUs moved, or were busy, during each pair"
        return problem

    def _once(self, side: Side) -> Sample:
        with ExitStack() as stack:
            return stack.enter_context(side(self.place)).sample(self.seconds)

    def _stamp(self) -> Stamp:
        return self.take_stamp(self.place)
