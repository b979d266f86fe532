"""The time ledger of a box's workers, from what its answers say of each."""

from linerate.model.evidence import Evidence, Node, Worker
from linerate.model.ledger import NodeTime, TimeLedger


def time_ledgers(evidence: Evidence) -> tuple[TimeLedger, ...]:
    """Use of the cycles of each worker whose clock rate and time are known.

    Where idle polls are counted as cycles of the polling node (VPP), they stand there.
    """
    return tuple(
        _ledger(worker, worker.seconds, worker.tsc_hz)
        for worker in evidence.workers
        if worker.role == "worker" and worker.seconds and worker.tsc_hz
    )


def _ledger(worker: Worker, seconds: float, tsc_hz: float) -> TimeLedger:
    elapsed = round(seconds * tsc_hz)
    nodes = {node.name: _time(node) for node in worker.nodes}
    spent = sum(node.clocks for node in nodes.values())
    away = round(elapsed * (worker.away_percent or 0.0) / 100)
    if worker.idle_in_clocks:
        # Its nodes' cycles are time that passed, whoever had the CPU; three digits are printed.
        elapsed = max(elapsed, spent)
        away = min(away, elapsed - spent)
    spare = round(elapsed * (worker.spare_percent or 0.0) / 100)
    return TimeLedger(
        worker=worker.name,
        role="forwarder",
        tsc_hz=round(tsc_hz),
        elapsed_clocks=elapsed,
        # Shares and cycles a packet are rounded as printed: no use is negative for that.
        overhead_clocks=max(0, elapsed - spent - away - spare),
        away_clocks=away,
        sleep_clocks=spare,
        loops=round((worker.loops_per_second or 0.0) * seconds),
        nodes=nodes,
    )


def _time(node: Node) -> NodeTime:
    return NodeTime(
        calls=node.calls,
        vectors=node.vectors,
        clocks=round((node.clocks_per_packet or 0.0) * node.vectors),
    )
