"""Costs of moving packets, separate from those of the link: cycles, system calls, copied bytes.

Receiving and sending are separate, and only the device's own ports count. Unknown costs are None.
"""

from collections.abc import Iterable

from linerate.base.frozen_model import FrozenModel
from linerate.model.ledger import NodeTime, TimeLedger, forwarder_ledgers
from linerate.model.measurement import Measurement
from linerate.model.measurement.flows import Counters
from linerate.model.suites import TESTER_PORTS

#: Nodes that receive and send (docs/telemetry.md); what makes packets may send them itself.
RECEIVE = ("port-rx-",)
SEND = ("port-tx-", "txonly-")


class Cost(FrozenModel):
    """Cost of one packet."""

    clocks: float | None = None
    syscalls: float | None = None
    copied_bytes: float | None = None


class WorkerCost(FrozenModel):
    """Clocks of a worker's nodes for each packet that came through the device, all in all."""

    clocks: float
    #: Packets that this worker sent, of those that came through.
    sent_share: float
    tsc_hz: float


class Costs(FrozenModel):
    """Cost of a packet received, of a packet sent, and of a packet in total."""

    rx: Cost = Cost()
    tx: Cost = Cost()
    #: Cycles of all nodes of the device's workers, over the packets that came through.
    all_clocks: float | None = None
    #: Share of the device's time that its threads spent in the kernel.
    kernel_percent: float | None = None
    workers: tuple[WorkerCost, ...] = ()

    def tx_above(self, hop_clocks: float | None) -> float | None:
        """Clocks of sending a packet beside those of the wire itself."""
        if hop_clocks is None or self.tx.clocks is None:
            return None
        return self.tx.clocks - hop_clocks

    def free_wire_pps(self, hop_clocks: float | None) -> float | None:
        """Rate if the hop cost nothing, from the cycles of the busiest worker.

        None where the hop is not the device's to pay, as of a card, or nothing but it is seen.
        """
        if hop_clocks is None or not self.workers or self.tx.clocks is None:
            return None
        left = [one.clocks - hop_clocks * one.sent_share for one in self.workers]
        return self.workers[0].tsc_hz / max(left) if max(left) > 0 else None


def costs_of(measurement: Measurement) -> Costs:
    """Read them off the counters of a trial."""
    ledgers = forwarder_ledgers(measurement.time_at_load)
    nodes = [item for ledger in ledgers for item in ledger.nodes.items()]
    ports = [
        counters
        for name, counters in measurement.ports.items()
        if not name.startswith(TESTER_PORTS[0][0])
    ]
    kernel = [
        measurement.stamp.kernel_percent[ledger.worker]
        for ledger in ledgers
        if ledger.worker in measurement.stamp.kernel_percent
    ]
    workers = _workers(measurement)
    return Costs(
        rx=_cost(nodes, RECEIVE, ports, "rx"),
        tx=_cost(nodes, SEND, ports, "tx"),
        all_clocks=sum(one.clocks for one in workers) or None,
        workers=workers,
        kernel_percent=sum(kernel) / len(kernel) if kernel else None,
    )


def _cost(
    nodes: Iterable[tuple[str, NodeTime]],
    prefixes: tuple[str, ...],
    ports: Iterable[Counters],
    way: str,
) -> Cost:
    groups = [[node for name, node in nodes if name.startswith(prefix)] for prefix in prefixes]
    mine = next((group for group in groups if any(node.vectors for node in group)), [])
    vectors = sum(node.vectors for node in mine)
    clocks = sum(node.clocks for node in mine)
    return Cost(
        clocks=clocks / vectors if vectors else None,
        syscalls=_a_packet(ports, way, "syscalls"),
        copied_bytes=_a_packet(ports, way, "copied_bytes"),
    )


def _a_packet(ports: Iterable[Counters], way: str, counter: str) -> float | None:
    """Mean over the ports whose driver counts it; None when none does."""
    counting = [counters for counters in ports if f"{way}_{counter}" in counters]
    packets = sum(counters.get(f"{way}_packets", 0) for counters in counting)
    if not packets:
        return None
    return sum(counters[f"{way}_{counter}"] for counters in counting) / packets


def _workers(measurement: Measurement) -> tuple[WorkerCost, ...]:
    """Clocks at load and packets over the whole trial are over different times: by seconds."""
    pps = measurement.received.packets_per_second
    if not pps:
        return ()
    return tuple(
        WorkerCost(
            clocks=ledger.node_clocks / seconds / pps,
            sent_share=_sent(ledger) / seconds / pps,
            tsc_hz=ledger.tsc_hz,
        )
        for ledger in forwarder_ledgers(measurement.time_at_load)
        if (seconds := ledger.elapsed_clocks / ledger.tsc_hz)
    )


def _sent(ledger: TimeLedger) -> int:
    sending = [
        sum(node.vectors for name, node in ledger.nodes.items() if name.startswith(prefix))
        for prefix in SEND
    ]
    return next((packets for packets in sending if packets), 0)
