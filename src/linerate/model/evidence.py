"""The normalised evidence: what is known of one trial, whoever measured it.

Every figure may be unknown (None): a pasted file tells what it tells. Each thing
carries the line that says it, so that a verdict can show where it comes from.
"""

from typing import Any, Literal

from linerate.base.frozen_model import FrozenModel
from linerate.model.measurement.trial import Asked
from linerate.model.nic_presets import Card

#: Packets that a call of a node handles at most, in VPP and in our engine.
FULL_VECTOR = 256
#: Calls so full count as full: the last one of a batch is not.
FULL_SHARE = 0.9
#: A worker with less of its time to spare has none.
SPARE_PERCENT_MIN = 5.0
#: A worker with full vectors that uses so much of its clock has no empty polls; the rest is its
#: loop. Measured over VPP: 98 % saturated, 41 to 56 % at full and at a tenth of its rate.
USED_PERCENT_MIN = 90.0
#: A worker with less than this of its counted cycles in its graph has empty polls.
BOOKED_PERCENT_SPARE = 75.0


class Quote(FrozenModel):
    """A line of a source, as it stands there."""

    #: A file's name; of our own runs its path within the run's folder.
    source: str
    #: From 1.
    line: int
    text: str


class Node(FrozenModel):
    """Counters of one worker in one node of a packet graph."""

    name: str
    #: As printed, without quotes: `polling`, `active`, `any wait`.
    state: str = ""
    calls: int
    vectors: int
    suspends: int = 0
    #: None when the source does not say; with a polling node's empty polls in it or not
    #: (see `Worker.idle_in_clocks`).
    clocks_per_packet: float | None = None
    #: As printed, or vectors over calls.
    vectors_per_call: float = 0.0
    quote: Quote

    @property
    def polling(self) -> bool:
        """Whether it asks a card, a socket or a generator for packets."""
        return self.state == "polling"


class Worker(FrozenModel):
    """One thread that walks a packet graph."""

    name: str
    #: `main` does no packets of its own in VPP; `tester` is the load's maker.
    role: Literal["worker", "main", "tester"] = "worker"
    cpu: int | None = None
    #: Over how long its nodes counted, as the source says.
    seconds: float | None = None
    tsc_hz: float | None = None
    loops_per_second: float | None = None
    in_pps: float | None = None
    out_pps: float | None = None
    drop_pps: float | None = None
    nodes: tuple[Node, ...] = ()
    #: VPP counts idle polls as Cycles of the polling node; our engine counts them separately.
    idle_in_clocks: bool = True
    #: Packets that one of its calls takes at most: a burst of testpmd's is full at 32.
    burst_packets: int = FULL_VECTOR
    #: Shares of the elapsed cycles, in per cent; None when the source lacks them.
    spare_percent: float | None = None
    #: Share of its time in calls that found packets, where its real clock is known and idle polls
    #: are in those of the polling node: that one's are left out unless its calls are full.
    used_percent: float | None = None
    away_percent: float | None = None
    #: Part of it in which the hypervisor had its CPU.
    stolen_percent: float | None = None
    #: Share of its time in which it was ready and had no CPU, or no quota left, by the scheduler.
    waited_percent: float | None = None
    kernel_percent: float | None = None
    lock_wait_percent: float | None = None
    syscalls_per_packet: float | None = None
    quote: Quote

    @property
    def sources(self) -> tuple[Node, ...]:
        """Polling nodes that found packets: a card's queue, a ring, a generator."""
        return tuple(node for node in self.nodes if node.polling and node.vectors)

    @property
    def packets(self) -> int:
        """Packets that it took in."""
        return sum(node.vectors for node in self.sources)

    @property
    def vectors_per_call(self) -> float:
        """Packets that a call which found some took in, at its fullest source."""
        return max((node.vectors_per_call for node in self.sources), default=0.0)

    @property
    def graph_vectors_per_call(self) -> float:
        """Packets a call of the fullest node behind its sources that sees most of them.

        Empty polls are calls of a source, in VPP: then only the nodes behind it show how many
        packets come at once.
        """
        return max(
            (
                node.vectors_per_call
                for node in self.nodes
                if not node.polling and 2 * node.vectors >= self.packets > 0
            ),
            default=0.0,
        )

    @property
    def clocks_per_packet(self) -> float | None:
        """Cycles of all its nodes on a packet that it took in; None if it took in none."""
        if not self.packets:
            return None
        spent = sum((node.clocks_per_packet or 0.0) * node.vectors for node in self.nodes)
        return spent / self.packets

    def percent_of_time(self, clocks: float) -> float:
        """Clocks as a share of the time over which its nodes counted; 0 when that is unknown."""
        whole = (self.seconds or 0.0) * (self.tsc_hz or 0.0)
        return 100.0 * clocks / whole if whole else 0.0

    @property
    def booked_percent(self) -> float | None:
        """Share of its counted cycles in calls that found packets.

        Those of a polling node that is not full are left out: empty polls are in them. None when
        idle polls are counted separately, or it took in no packets.
        """
        if not self.idle_in_clocks or not self.packets:
            return None
        full = FULL_SHARE * self.burst_packets
        clocks = {node: (node.clocks_per_packet or 0.0) * node.vectors for node in self.nodes}
        whole = sum(clocks.values())
        found = sum(
            spent
            for node, spent in clocks.items()
            if not node.polling or node.vectors_per_call >= full
        )
        return 100.0 * found / whole if whole else None

    @property
    def found_percent(self) -> float | None:
        """Share of its polls that found packets; None when the source does not tell.

        A call of the fullest node behind its sources follows each poll that did.
        """
        polls = sum(node.calls for node in self.sources)
        behind = [
            node.calls
            for node in self.nodes
            if not node.polling and 2 * node.vectors >= self.packets > 0
        ]
        if not self.idle_in_clocks or not polls or not behind:
            return None
        return min(100.0, 100.0 * max(behind) / polls)

    @property
    def idle_percent(self) -> float | None:
        """Share of its time without packets, as the source says or by what it used."""
        if self.spare_percent is not None:
            return self.spare_percent
        return None if self.used_percent is None else 100.0 - self.used_percent

    @property
    def saturated(self) -> bool | None:
        """Whether it has all the packets it can work on; None when the source can't tell.

        Where idle polls are counted separately, none are left; where they are not, a full vector in
        every call shows that packets wait for it (VPP: docs/what/vectors). Where its clock is known
        as well, full vectors must take all of it: clocks alone don't tell, as short vectors cost
        more a packet.
        """
        if not self.packets:
            return False
        if self.spare_percent is not None:
            return self.spare_percent < SPARE_PERCENT_MIN
        full = FULL_SHARE * self.burst_packets
        if self.used_percent is not None:
            fullest = max(self.vectors_per_call, self.graph_vectors_per_call)
            return fullest >= full and self.used_percent >= USED_PERCENT_MIN
        if self.vectors_per_call < full <= self.graph_vectors_per_call:
            # Empty polls between full ones: the clocks beside them tell how many.
            return self._saturated_by_clocks()
        if not self.vectors_per_call:
            # Neither idle time nor the size of a call is known.
            return None
        return self.vectors_per_call >= full

    def _saturated_by_clocks(self) -> bool | None:
        """Full vectors behind a source with empty polls: whether its graph takes all clocks."""
        booked = self.booked_percent
        if booked is None or BOOKED_PERCENT_SPARE <= booked < USED_PERCENT_MIN:
            return None
        return booked >= USED_PERCENT_MIN


#: Causes of loss, independent of a source's names.
Cause = Literal[
    "tx-ring",
    "rx-ring",
    "handoff-ring",
    "card-pps",
    "pcie",
    "buffers",
    "tester",
    "flow-table",
    "link",
    #: A cloud's allowance for a machine.
    "shaper",
    "configuration",
    "damaged",
    "other",
]


class Loss(FrozenModel):
    """Packets that ended at one place."""

    #: In the source's words: `xxv1-tx: no free tx slots`.
    place: str
    cause: Cause
    packets: int
    #: Packets that came to this place, lost ones included; None where the source counts none.
    offered: int | None = None
    #: Worker; empty when the source does not name it.
    worker: str = ""
    quote: Quote


class Ring(FrozenModel):
    """A ring between two threads, or between a thread and a card."""

    source: str
    destination: str
    #: As printed: `Hi`, `Med`, `Nor`; empty where there is one only.
    priority: str = ""
    used: int | None = None
    size: int | None = None
    enqueued: int
    dropped: int
    dequeued: int | None = None
    quote: Quote

    @property
    def loss_percent(self) -> float:
        """Share of the packets that found it full."""
        offered = self.enqueued + self.dropped
        return 100.0 * self.dropped / offered if offered else 0.0


class Port(FrozenModel):
    """A port, of the device under test or of the tester."""

    name: str
    side: Literal["dut", "tester"] = "dut"
    up: bool | None = None
    driver: str = ""
    #: A PCI address.
    device: str = ""
    link_bps: int | None = None
    rx_packets: int | None = None
    tx_packets: int | None = None
    rx_bytes: int | None = None
    tx_bytes: int | None = None
    #: L2 rates as the source says them, in packets/s.
    rx_pps: float | None = None
    tx_pps: float | None = None
    #: Use of its link in the fuller direction, in per cent, as the source says.
    line_percent: float | None = None
    rx_queues: int | None = None
    tx_queues: int | None = None
    rx_descriptors: int | None = None
    tx_descriptors: int | None = None
    #: Packets that each rx queue took in.
    queue_packets: dict[int, int] = {}
    #: All other counters, as named in the source.
    counters: dict[str, int] = {}
    quote: Quote


class PcieLink(FrozenModel):
    """One card's PCIe link."""

    #: A PCI address.
    device: str
    driver: str = ""
    gigatransfers: float | None = None
    lanes: int | None = None
    capable_gigatransfers: float | None = None
    capable_lanes: int | None = None
    #: As the kernel prints: GT/s × lanes × encoding.
    data_bps: float | None = None
    capable_bps: float | None = None
    max_payload_bytes: int | None = None
    #: The bridge where it narrows.
    limited_at: str = ""
    quotes: tuple[Quote, ...] = ()


class CpuCounters(FrozenModel):
    """Kernel counters of one CPU, or of one interrupt (name) on it."""

    cpu: int
    name: str
    counters: dict[str, int]
    quote: Quote


class CpuTime(FrozenModel):
    """Time of one CPU, or of one thread, over an interval, in per cent; None: not printed."""

    #: None for a thread whose CPU is unknown.
    cpu: int | None = None
    #: Thread or process; empty for the CPU itself.
    name: str = ""
    busy_percent: float
    softirq_percent: float | None = None
    #: Runnable while the hypervisor ran something else.
    steal_percent: float | None = None
    quote: Quote


class Symbol(FrozenModel):
    """Share of the sampled cycles in one function."""

    name: str
    percent: float
    #: Part of the kernel that it belongs to: `driver`, `conntrack`, `nft`, `fib`, `qdisc`, `copy`…;
    #: empty where it is not known.
    group: str = ""
    quote: Quote


class TracedDrop(FrozenModel):
    """Packets of a trace that ended at one place: a sample, no count."""

    #: In the words of the loss ledger: `ip4-local: unknown ip protocol`.
    place: str
    cause: Cause
    packets: int
    #: Packets in the trace.
    traced: int
    quote: Quote


class Remark(FrozenModel):
    """A line of a source that counts no lost packets, in words."""

    kind: Literal[
        #: A table of the kernel was full: packets were dropped, nothing says how many.
        "table-full",
        #: A card's tx queue hung, a link went down, no memory for a packet, a CPU was slowed.
        "tx-timeout",
        "link-down",
        "no-memory",
        "throttled",
        #: Counters that show no loss where there might be one.
        "clean",
        "other",
    ]
    #: In words that stand within a sentence.
    text: str
    quote: Quote


class Tester(FrozenModel):
    """Report of a traffic generator on itself."""

    name: str
    sent_packets: int | None = None
    received_packets: int | None = None
    tx_pps: float | None = None
    rx_pps: float | None = None
    #: Its own CPU, in per cent.
    cpu_percent: float | None = None
    #: Packets that its own queues refused.
    queue_full: int | None = None
    #: Packets that reached its card, and that it did not take in time: its own loss.
    missed_packets: int | None = None
    #: L1 bits/s of the busiest port that sends, in per cent of its link.
    line_percent: float | None = None
    quote: Quote


class FlowOffload(FrozenModel):
    """Result of programming a card's flow table."""

    entries: int
    capacity: int | None = None
    refused: int = 0
    rules_per_second: float | None = None
    #: Rules that found no room, and those that never had an effect.
    full: int = 0
    silent: int = 0
    #: Not since it was found not to work.
    on: bool = True
    #: Share of all packets that the card looked up; of the time in which rules were programmed.
    marked_percent: float | None = None
    programming_percent: float | None = None
    quote: Quote


class Conditions(Asked):
    """Offered load and its result."""

    #: Workers of the device under test; None when unknown.
    workers: int | None = None
    asked_pps: float
    offered_pps: float
    received_pps: float
    sent_packets: int
    received_packets: int
    #: Lost because the host took a worker's CPU away: no property of the device's.
    descheduled_packets: int = 0
    #: Still on their way when counters were read.
    held_packets: int = 0
    #: Median for a cache line between tester and device; None: they share a CPU, or unknown.
    round_trip_ns: float | None = None
    quote: Quote

    @property
    def line_percent(self) -> float:
        """Received rate over the line rate."""
        return 100.0 * self.received_pps / self.line.packets_per_second


class Sibling(FrozenModel):
    """Another trial on the same testbed, or with another number of workers."""

    name: str
    conditions: Conditions
    #: For the busiest worker, all cycles that it spent on a packet.
    clocks_per_packet: float | None = None


class Evidence(FrozenModel):
    """All that is known of one trial."""

    #: U1…B4, or empty.
    trial: str = ""
    conditions: Conditions | None = None
    workers: tuple[Worker, ...] = ()
    losses: tuple[Loss, ...] = ()
    #: So few packets lost at exhausted resources, of all that were sent, that they limit nothing.
    noted: tuple[Loss, ...] = ()
    rings: tuple[Ring, ...] = ()
    ports: tuple[Port, ...] = ()
    pcie: tuple[PcieLink, ...] = ()
    cpus: tuple[CpuCounters, ...] = ()
    cpu_times: tuple[CpuTime, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    traced_drops: tuple[TracedDrop, ...] = ()
    remarks: tuple[Remark, ...] = ()
    testers: tuple[Tester, ...] = ()
    offload: tuple[FlowOffload, ...] = ()
    #: Limits of the virtual card that the packets crossed, if any.
    card: Card | None = None
    #: The tester's own ceiling over the bare link, if it was measured.
    tester_ceiling_pps: float | None = None
    siblings: tuple[Sibling, ...] = ()
    #: Why the trial has no result; none when it has.
    invalid: tuple[Quote, ...] = ()
    #: Why the trial is suspect.
    suspect: tuple[str, ...] = ()
    #: Settings of a device that drop packets and count none: a blackhole route, a rule of a filter.
    silent: tuple[Quote, ...] = ()
    #: Ports of a device without a link, which drop what is sent by them and count none.
    unplugged: tuple[Quote, ...] = ()
    #: Ports of a device whose MTU is less than the packets have bytes.
    short_mtus: tuple[Quote, ...] = ()
    #: Ports of a device that have another MAC address than frames are sent to.
    misaddressed: tuple[Quote, ...] = ()
    #: Figures that can't be, and what else a reader should know.
    doubts: tuple[Quote, ...] = ()
    #: Lines that no parser understood.
    unread: tuple[Quote, ...] = ()
    #: Files that no parser understood, and why.
    left_out: tuple[str, ...] = ()
    #: Names of the outputs that were read: `VPP show runtime`.
    outputs: tuple[str, ...] = ()

    def joined(self, other: "Evidence") -> "Evidence":
        """Put together what two sources say of the same trial; the first one's word counts."""
        merged: dict[str, Any] = {}
        for name in Evidence.model_fields:
            mine, theirs = getattr(self, name), getattr(other, name)
            merged[name] = (*mine, *theirs) if isinstance(mine, tuple) else mine or theirs
        return Evidence.model_construct(None, **merged)
