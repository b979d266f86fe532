"""Work of a `run` while it is connected to a scheduler."""

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker

from linerate.experiments.campaign.abilities import ability
from linerate.experiments.campaign.cluster import ClusterError, resource
from linerate.experiments.campaign.job import Outcome
from linerate.experiments.campaign.measuring import measure
from linerate.experiments.campaign.plan import Abilities
from linerate.experiments.campaign.prepared import Prepared
from linerate.experiments.campaign.record import Record
from linerate.experiments.campaign.work_queue import WorkQueue
from linerate.model.campaign import Unit
from linerate.results.dataset.dataset import Dataset

#: Longest wait for results before testbeds, and a wish to stop, are looked at.
LOOK_SECONDS = 1.0


class Session:
    """Gives units to workers, one at a time to each testbed, and writes what they measured."""

    def __init__(
        self,
        prepared: Prepared,
        queue: WorkQueue,
        abilities: Abilities,
        record: Record,
        dataset: Dataset,
        stopping: Callable[[], bool],
    ) -> None:
        self.campaign = prepared.campaign
        self._prepared = prepared
        self._queue = queue
        self._abilities = abilities
        self._record = record
        self._dataset = dataset
        self._stopping = stopping
        #: By testbed, what it measures.
        self._busy: dict[str, tuple[Unit, Future[Any]]] = {}
        #: By testbed, the question what it can do.
        self._asked: dict[str, Future[Any]] = {}
        now_s = time.monotonic()
        self._seen_s = {one.name: now_s for one in self.campaign.testbeds}
        self._worked = False
        self._over = False

    def over(self) -> bool:
        """Whether nothing is left to do."""
        return self._over

    def worked(self) -> bool:
        """Whether there was a connection since this was last asked."""
        worked, self._worked = self._worked, False
        return worked

    def work(self, client: Client) -> None:
        """Work until nothing is left that can be measured, or a stop. Raises ClusterError."""
        self._worked = True
        try:
            while not self._over:
                self._look(client)
                stopping = self._stopping()
                if stopping:
                    self._record.stopping()
                else:
                    self._give(client)
                self._record.benches(
                    self._queue.benches, {name: unit for name, (unit, _) in self._busy.items()}
                )
                if not self._busy and (stopping or not self._queue.waiting()):
                    self._over = True
                else:
                    self._collect(client)
        except (OSError, TimeoutError, CancelledError, RuntimeError) as error:
            # RuntimeError: of a client that was closed since its scheduler is gone.
            raise ClusterError(f"the scheduler is gone: {error}") from error
        finally:
            for unit, _ in self._busy.values():
                self._queue.returned(unit)
            self._busy.clear()
            self._asked.clear()

    def _look(self, client: Client) -> None:
        """See which testbeds have a worker; the others' work may go elsewhere."""
        if client.status != "running":
            raise ClusterError("the scheduler is gone")
        workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
        names = {one["name"] for one in workers.values()}
        now_s = time.monotonic()
        for name, bench in self._queue.benches.items():
            if name in names:
                self._seen_s[name] = now_s
            bench.owned = name in names
            bench.there = bench.owned and self._abilities.known(name)
            bench.gone = now_s - self._seen_s[name] > self.campaign.patience
            if bench.gone and name in self._busy:
                unit, future = self._busy.pop(name)
                future.cancel()
                self._queue.returned(unit)

    def _give(self, client: Client) -> None:
        """Give each free testbed its next unit."""
        for name in self._queue.benches:
            if not self._abilities.known(name) and name not in self._asked:
                self._asked[name] = client.submit(
                    ability,
                    self.campaign.testbed(name),
                    self._prepared.asked(),
                    key=f"ability-{name}-{time.time_ns()}",
                    resources={resource(name): 1},
                    pure=False,
                )
            if name not in self._busy and (unit := self._queue.next_for(name)):
                self._busy[name] = (unit, self._submitted(client, unit, name))

    def _submitted(self, client: Client, unit: Unit, testbed: str) -> "Future[Any]":
        """One attempt, under a key that no other has: what another `run` left is not taken up."""
        key = f"{unit.key}-{testbed}-{time.time_ns()}"
        return client.submit(
            measure,
            self._prepared.job(unit, testbed),
            key,
            key=key,
            resources={resource(testbed): 1},
            pure=False,
        )

    def _collect(self, client: Client) -> None:
        """Wait for answers, and take those that are there."""
        futures = [*(future for _, future in self._busy.values()), *self._asked.values()]
        if futures:
            try:
                with client.as_current():
                    wait(futures, timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")
            except TimeoutError:
                return
        else:
            time.sleep(LOOK_SECONDS)
        for name, future in list(self._asked.items()):
            if future.done():
                del self._asked[name]
                self._abilities.learn(future.result())
                self._queue.learn()
                future.release()
        for name, (unit, future) in list(self._busy.items()):
            if future.done():
                self._take(name, unit, future)
                del self._busy[name]
                # Else it is measured again when the worker that keeps the answer dies.
                future.release()

    def _take(self, testbed: str, unit: Unit, future: "Future[Any]") -> None:
        """Write down what an attempt gave."""
        if future.status == "error":
            self._nothing(testbed, unit, _why(future.exception()))
            return
        outcome: Outcome = future.result()
        if outcome.kind == "measured":
            self._dataset.write(unit.key, list(outcome.rows))
            self._queue.measured(testbed, unit)
            self._record.measured(outcome)
        elif outcome.kind == "ended":
            self._queue.returned(unit)
        elif outcome.kind == "unbuilt":
            self._queue.hopeless(unit, outcome.reason)
            self._record.nothing(unit, testbed, outcome.reason)
        else:
            self._nothing(testbed, unit, outcome.reason, outcome.run)

    def _nothing(self, testbed: str, unit: Unit, reason: str, run: str = "") -> None:
        self._queue.nothing(testbed, unit, reason)
        self._record.nothing(unit, testbed, reason, run)


def _why(error: BaseException | None) -> str:
    """Reason of an attempt whose worker could not answer."""
    if isinstance(error, KilledWorker):
        return f"its worker died {error.allowed_failures + 1} times"
    text = str(error).splitlines()
    return f"its worker: {type(error).__name__}{': ' + text[0] if text else ''}"
