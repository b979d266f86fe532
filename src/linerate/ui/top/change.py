"""Activity of an engine between two snapshots."""

from collections.abc import Mapping
from dataclasses import dataclass

from linerate.engine.snapshot import Snapshot
from linerate.model.ledger import NodeTime, TimeLedger
from linerate.model.measurement.flows import Counters


@dataclass(frozen=True, slots=True)
class Change:
    """Rates are of the time between `before` and `now`, counts of that since `base`."""

    now: Snapshot
    before: Snapshot
    #: When counters were cleared; None counts from the engine's start.
    base: Snapshot | None = None

    @property
    def seconds(self) -> float:
        """Interval of rates."""
        return self.now.at - self.before.at

    def rate(self, later: int, earlier: int) -> float:
        """Growth of a counter per second."""
        return max(later - earlier, 0) / self.seconds if self.seconds > 0 else 0.0

    def ledgers(self) -> list[TimeLedger]:
        """Use of each worker's cycles."""
        before = {worker.name: worker for worker in self.before.workers}
        return [
            worker.since(before[worker.name])
            for worker in self.now.workers
            if worker.name in before
        ]

    def total(self, worker: str, node: str) -> NodeTime:
        """Counts of a node since counters were cleared."""
        now = _node(self.now, worker, node)
        return now.minus(_node(self.base, worker, node)) if self.base else now


def _node(snapshot: Snapshot, worker: str, node: str) -> NodeTime:
    for one in snapshot.workers:
        if one.name == worker:
            return one.nodes.get(node, NodeTime())
    return NodeTime()


def counter(of: Mapping[str, Counters], name: str, key: str) -> int:
    """A counter of something that may not have been there yet."""
    return of.get(name, {}).get(key, 0)


def same_engine(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are of one process: another of the same name counts from 0."""
    return one.info.get("pid") == other.info.get("pid")
