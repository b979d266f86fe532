"""The state of a `run` as it goes on: written when something happened, and now and then."""

import os
import platform
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from linerate.experiments.campaign.job import Outcome
from linerate.experiments.campaign.prepared import Prepared
from linerate.experiments.campaign.state import StateFolder
from linerate.experiments.campaign.work_queue import Bench
from linerate.model.campaign import CampaignState, Failure, Status, TestbedState, Unit
from linerate.model.campaign.state import TestbedStatus

#: Longest interval between two writes: who watches sees that this process lives.
WRITE_SECONDS = 5.0
#: Last attempts without a result that are kept.
FAILURES_MAX = 100

#: Hears of the state whenever it changed.
Watcher = Callable[[CampaignState], None]


class Record:
    """Keeps the state, and tells it to who watches."""

    def __init__(
        self, folder: StateFolder, prepared: Prepared, done: set[str], watcher: Watcher
    ) -> None:
        self._folder = folder
        self._watcher = watcher
        self._written_s = 0.0
        before = folder.read()
        seed = prepared.campaign.seed
        if seed is None:
            seed = before.seed if before else random.SystemRandom().randrange(1 << 32)
        now = datetime.now(UTC)
        self.state = CampaignState(
            name=prepared.campaign.name,
            seed=seed,
            host=platform.node(),
            pid=os.getpid(),
            started=now,
            updated=now,
            units=len(prepared.units),
            done=len(done),
            found_done=len(done),
            testbeds=tuple(TestbedState(name=one.name) for one in prepared.campaign.testbeds),
            failures=before.failures if before else (),
        )
        self._write()

    def measured(self, outcome: Outcome) -> None:
        """A unit has its result."""
        testbed = self._testbed(outcome.testbed)
        self._set(
            testbed,
            measured=testbed.measured + 1,
            seconds=testbed.seconds + outcome.seconds,
        )
        self._update(done=self.state.done + 1)
        self._write()

    def nothing(self, unit: Unit, testbed: str, reason: str, run: str = "") -> None:
        """An attempt gave no valid result."""
        failure = Failure(
            time=datetime.now(UTC),
            unit=unit.key,
            text=unit.text,
            testbed=testbed,
            reason=reason,
            run=run,
        )
        now = self._testbed(testbed)
        self._set(now, failed=now.failed + 1)
        self._update(failures=(*self.state.failures, failure)[-FAILURES_MAX:])
        self._write()

    def benches(self, benches: Mapping[str, Bench], busy: Mapping[str, Unit]) -> None:
        """Note what testbeds do now; written only if that is new, or for long nothing was."""
        before = self.state
        for name, bench in benches.items():
            unit = busy.get(name)
            self._set(
                self._testbed(name),
                status=_status(bench, unit),
                reason=bench.aside,
                now=unit.text if unit else "",
            )
        late = time.monotonic() - self._written_s > WRITE_SECONDS
        if late or self.state.testbeds != before.testbeds:
            self._write()

    def stopping(self) -> None:
        """No more is begun."""
        if self.state.status != "stopping":
            self._update(status="stopping")
            self._write()

    def end(self, status: Status, problem: str = "") -> CampaignState:
        """The `run` is over."""
        for one in self.state.testbeds:
            if one.status == "measuring":
                self._set(one, status="idle", now="")
        self._update(status=status, problem=problem)
        self._write()
        return self.state

    def _testbed(self, name: str) -> TestbedState:
        return next(one for one in self.state.testbeds if one.name == name)

    def _set(self, testbed: TestbedState, **changed: Any) -> None:  # noqa: ANN401 (its fields)
        new = testbed.model_copy(update=changed)
        every = (new if one.name == new.name else one for one in self.state.testbeds)
        self._update(testbeds=tuple(every))

    def _update(self, **changed: Any) -> None:  # noqa: ANN401 (fields of the state)
        self.state = self.state.model_copy(update=changed)

    def _write(self) -> None:
        self._update(updated=datetime.now(UTC))
        self._written_s = time.monotonic()
        self._folder.write(self.state)
        self._watcher(self.state)


def _status(bench: Bench, unit: Unit | None) -> TestbedStatus:
    if bench.aside:
        return "set aside"
    if unit is not None:
        return "measuring"
    return "idle" if bench.owned else "no worker"
