"""Workers and their nodes: where each clock of each worker went."""

from collections.abc import Callable, Iterator

from prometheus_client.metrics_core import Metric

from linerate.model.ledger import NodeTime
from linerate.model.measurement import WorkerReading
from linerate.model.suites import SECOND_TESTER_PORTS, TESTER_PORTS
from linerate.ui.exporter.families import Sample, counter, families, gauge
from linerate.ui.exporter.scene import Scene

#: Purpose of a node, by the prefix of its name; others forward packets.
KINDS = {
    "port-rx": "receive",
    "port-tx": "transmit",
    "handoff-rx": "handoff",
    "worker-handoff": "handoff",
    "generator": "tester",
    "analyser": "tester",
    "tester-": "tester",
    "flowtable": "flow table",
    "drop": "drop",
    "lose": "drop",
    "arp-": "control",
    "icmp": "control",
    "ip4-arp": "control",
    "ip4-local": "control",
    "ip6-local": "control",
    "ip6-nd": "control",
    "neighbor-": "control",
}
NODE_LABELS = ("engine", "worker", "node", "kind")

Spent = Callable[[WorkerReading], int]


def kind_of(node: str) -> str:
    """Say what a node is there for: `receive`, `forward` and so on."""
    return next((kind for start, kind in KINDS.items() if node.startswith(start)), "forward")


#: Where a worker in both roles receives packets for the tester.
_TESTER_RECEIVES = tuple(f"port-rx-{port}-" for port in (*TESTER_PORTS, *SECOND_TESTER_PORTS))


def kind_in(worker: WorkerReading, node: str) -> str:
    """The same of a worker's node: what a tester's worker does is no work of the device."""
    if worker.role == "tester" or node.startswith(_TESTER_RECEIVES):
        return "tester"
    return kind_of(node)


#: Each clock of a worker is in one of these.
SPENT: dict[str, Spent] = {
    "nodes": lambda worker: sum(node.clocks for node in worker.nodes.values()),
    "idle": lambda worker: sum(node.idle_clocks for node in worker.nodes.values()),
    "loop": lambda worker: worker.overhead_clocks,
    "away": lambda worker: worker.away_clocks,
    "sleep": lambda worker: worker.sleep_clocks,
}


@families
def workers(scene: Scene) -> Iterator[Metric]:
    """Use of each worker's cycles."""
    each = [
        (engine, worker, one.more.get(worker.name, {}))
        for engine, one in scene.look.snapshots.items()
        for worker in one.workers
    ]
    yield gauge(
        "linerate_worker_info",
        "A worker: its CPU, whether it tests or forwards, how it waits for packets; always 1.",
        ("engine", "worker", "cpu", "role", "rx_mode"),
        [
            ((engine, w.name, str(w.cpu), w.role, str(more.get("rx_mode", ""))), 1.0)
            for engine, w, more in each
        ],
    )
    yield counter(
        "linerate_worker_clocks",
        "Clocks of a worker by what they were spent on: in nodes that had packets, in idle polls, "
        "in loop overhead, descheduled (away), asleep. From /linerate/runtime.",
        ("engine", "worker", "spent"),
        [
            ((engine, worker.name, spent), float(clocks(worker)))
            for engine, worker, _ in each
            for spent, clocks in SPENT.items()
        ],
    )
    yield counter(
        "linerate_worker_elapsed_clocks",
        "Cycles that passed since the worker started; all that it spent is in them.",
        ("engine", "worker"),
        [
            ((engine, worker.name), float(worker.tsc - int(more.get("started_tsc", 0))))
            for engine, worker, more in each
        ],
    )
    yield counter(
        "linerate_worker_loops",
        "Walks of the worker through its graph.",
        ("engine", "worker"),
        [((engine, worker.name), float(worker.loops)) for engine, worker, _ in each],
    )
    yield counter(
        "linerate_worker_sleeps",
        "How often the worker went to sleep because no packets came; 0 in rx mode polling.",
        ("engine", "worker"),
        [((engine, w.name), float(more.get("sleeps", 0))) for engine, w, more in each],
    )


_NODE_COUNTERS: tuple[tuple[str, str, Callable[[NodeTime], int]], ...] = (
    ("calls", "Calls of the node that did something.", lambda node: node.calls),
    ("vectors", "Packets that the node worked on.", lambda node: node.vectors),
    ("clocks", "Clocks spent in calls that did something.", lambda node: node.clocks),
    ("idle_calls", "Polls of the node that found nothing.", lambda node: node.idle_calls),
    ("idle_clocks", "Clocks spent in polls that found nothing.", lambda node: node.idle_clocks),
)


@families
def nodes(scene: Scene) -> Iterator[Metric]:
    """Calls, packets and cycles of each node of each worker, as `show runtime` has them."""
    for name, text, value in _NODE_COUNTERS:
        yield counter(
            f"linerate_node_{name}",
            f"{text} From /linerate/runtime.",
            NODE_LABELS,
            _of_nodes(scene, value),
        )
    yield gauge(
        "linerate_node_polling",
        "Whether the node is called in every loop (1), or when it has packets (0).",
        NODE_LABELS,
        [
            ((engine, worker.name, name, kind_in(worker, name)), float(name in worker.polling))
            for engine, one in scene.look.snapshots.items()
            for worker in one.workers
            for name in worker.nodes
        ],
    )


def _of_nodes(scene: Scene, value: Callable[[NodeTime], int]) -> Iterator[Sample]:
    for engine, one in scene.look.snapshots.items():
        for worker in one.workers:
            for name, node in worker.nodes.items():
                yield (engine, worker.name, name, kind_in(worker, name)), float(value(node))
