"""Measurement of one trial, by any tester."""

from typing import Literal

from pydantic import PositiveInt

from linerate.base.frozen_model import FrozenModel
from linerate.base.line_rate import FrameRate, line_rate
from linerate.base.published import published
from linerate.model.cpu_disturbance import CpuDisturbance
from linerate.model.ledger import Counted, NodeTime, PacketLedger, TimeLedger, node_times_minus
from linerate.model.measurement.counters import TrialCounters
from linerate.model.measurement.slices import CLEAN_US, Slices
from linerate.model.nic_presets import Card
from linerate.model.power import PowerTrial
from linerate.model.suites.offered import Offered
from linerate.model.tester_workers import TesterWorkers

#: The tester's pacing error, as a share of the load.
OFFERED_WITHIN = 0.001


class Asked(FrozenModel):
    """Intended load of a tester, whoever reports it."""

    #: FCS counted; of several sizes the mean.
    frame_bytes: int | float
    directions: PositiveInt
    link_bps: PositiveInt
    flows: Literal["many", "one", "skewed", "unknown"] = "unknown"
    protocol: Literal["ipv4", "mpls", "unknown"] = "unknown"
    #: The wire does not take what does not fit: what was sent is the load, and may be less.
    pushes_back: bool = False
    #: Those of our own tester, where it has several or too few.
    tester_workers: TesterWorkers | None = None

    @property
    def line(self) -> FrameRate:
        """The line's rate, over all directions."""
        one = line_rate(self.link_bps, self.frame_bytes)
        return FrameRate(self.frame_bytes, one.packets_per_second * self.directions)


class Load(Asked):
    """Load of a trial; validity and the verdict compare with it."""

    #: Over all directions, millionths of the line's rate.
    scale_ppm: int
    duration_us: PositiveInt
    counted: Counted = "received"
    #: Workers of the device share one CPU by intent, and each is off it while another is on.
    takes_turns: bool = False
    #: A burst of frames at the requested rate, whose duration does not matter.
    burst: bool = False
    #: Largest share of it by which the tester may fall short in a valid trial. All of it where the
    #: load is itself what the tester can offer, as far as that is known: then less is its limit.
    offered_within: float = OFFERED_WITHIN
    #: Packets a second that the tester managed in attempts before, undisturbed and asked for more.
    fell_short_pps: tuple[float, ...] = ()
    #: Full scale of a traffic profile.
    offered: Offered | None = None

    @property
    def asked_pps(self) -> float:
        """Packets a second that the trial asks of the tester."""
        return self.full_pps * self.scale_ppm / 1e6

    @property
    def full_pps(self) -> float:
        """Packets a second at full scale: the line's rate, or what a profile asks for."""
        return self.line.packets_per_second if self.offered is None else self.offered.full_pps

    @property
    def clean_us(self) -> int:
        """Undisturbed time that the trial goes on for; 0: it ends on time, and has no slices.

        What has a length or times of its own can't go on; what pushes back has no rate of its own.
        """
        offered = self.offered
        if offered is not None and (offered.uneven or offered.connections_per_second):
            return 0
        if self.burst or self.takes_turns or self.pushes_back:
            return 0
        if self.counted != "received" or not self.signed:
            return 0
        return min(self.duration_us, CLEAN_US)

    @property
    def signed(self) -> bool:
        """Whether every frame says whose it is; others are received as `other`."""
        return self.offered is None or self.offered.signed


class Progress(FrozenModel):
    """Progress of a trial, on the tester's clock."""

    trial: int
    state: Literal["idle", "running", "draining", "done"]
    elapsed_us: int
    paused_us: int = 0
    asked_packets: int = 0
    sent_packets: int = 0
    received_packets: int = 0
    drained: bool = False
    start_tsc: int = 0
    end_tsc: int = 0
    link_waits: int = 0
    #: Ports whose link was down, and when after the trial's start it went down.
    link_down_port: tuple[str, ...] = ()
    link_down_us: tuple[int, ...] = ()


class WorkerReading(FrozenModel):
    """Cycles of one worker so far."""

    name: str
    cpu: int
    tid: int
    role: str
    tsc_hz: int
    tsc: int
    loops: int
    overhead_clocks: int
    away_clocks: int = 0
    sleep_clocks: int = 0
    nodes: dict[str, NodeTime]
    #: Nodes that are called in every loop.
    polling: tuple[str, ...] = ()

    def since(self, before: "WorkerReading") -> TimeLedger:
        """Use of the cycles between two readings."""
        return TimeLedger(
            worker=self.name,
            role=self.role,
            tsc_hz=self.tsc_hz,
            elapsed_clocks=self.tsc - before.tsc,
            overhead_clocks=self.overhead_clocks - before.overhead_clocks,
            away_clocks=self.away_clocks - before.away_clocks,
            sleep_clocks=self.sleep_clocks - before.sleep_clocks,
            loops=self.loops - before.loops,
            nodes=node_times_minus(self.nodes, before.nodes),
        )


class Reading(TrialCounters):
    """All counters at one moment; latency since the trial began."""

    ledger: PacketLedger
    workers: tuple[WorkerReading, ...]


class RoundTrip(FrozenModel):
    """A cache line between a forwarder's worker and the tester's, and back."""

    worker: str
    min_ns: float
    median_ns: float


#: Round trips of a cache line: CPUs that share a cache have 40 to 150 ns (docs/machine.md).
FAR_NS = 200.0


class Stamp(FrozenModel):
    """Disturbances of the workers during a trial."""

    roundtrips_before: tuple[RoundTrip, ...] = ()
    roundtrips_after: tuple[RoundTrip, ...] = ()
    #: By worker: how long the hypervisor kept its CPU, in seconds.
    steal_seconds: dict[str, float] = {}
    #: By worker: how often the kernel took its CPU away.
    involuntary_switches: dict[str, int] = {}
    #: By worker: how often its thread gave its CPU away.
    voluntary_switches: dict[str, int] = {}
    #: By worker: share of the time in which its thread could have run and did not.
    descheduled_percent: dict[str, float] = {}
    #: By worker: disturbances of its CPU that no scheduler sees.
    cpus: dict[str, CpuDisturbance] = {}
    paused_us: int = 0
    #: By worker: share of the trial that its thread spent in the kernel.
    kernel_percent: dict[str, float] = {}
    #: By worker: share of the trial that it waited for locks.
    lock_wait_percent: dict[str, float] = {}

    @property
    def round_trip_ns(self) -> float | None:
        """Round trip of a cache line between the tester and the worker furthest from it."""
        trips = (*self.roundtrips_before, *self.roundtrips_after)
        return max((trip.median_ns for trip in trips), default=None)

    @property
    def cpus_are_far(self) -> bool:
        """Whether each frame pays for caches that are not shared."""
        return (self.round_trip_ns or 0.0) > FAR_NS


class Sample(FrozenModel):
    """Counters at a moment of a trial, while packets fly."""

    #: Since the first packet, on the tester's clock.
    at_us: int
    sent_packets: int
    received_packets: int
    #: Since the trial began, by worker and node.
    vectors: dict[str, dict[str, int]]


class ToolCpu(FrozenModel):
    """CPU use of a load tool's processes, in % of one CPU; None where not reported."""

    name: str
    sender_percent: float | None = None
    receiver_percent: float | None = None


@published("evidence", "evidence/TRIAL.json, in the folder of a run", form="kept")
class Measurement(TrialCounters):
    """Everything measured in one trial: the counters are what they grew by in it."""

    load: Load
    progress: Progress
    #: The engine did not answer in time: nothing else is known of the trial.
    no_answer: bool = False
    #: Over the whole trial, read before the first packet and after the last drained.
    packets: PacketLedger
    time: tuple[TimeLedger, ...]
    #: Within the sending, so that no worker is idle because no packets come.
    time_at_load: tuple[TimeLedger, ...]
    stamp: Stamp = Stamp()
    #: A few a second, in the order of time.
    samples: tuple[Sample, ...] = ()
    #: Slices of trials that continue until enough of them are clean.
    slices: Slices | None = None
    #: Limits of the virtual card that the packets crossed, if any.
    card: Card | None = None
    #: Where other people's load tool is the tester.
    tool: ToolCpu | None = None
    #: The tester's own ceiling over the bare link, if it was measured.
    ceiling_pps: float | None = None
    #: Power of the device, where a meter is read.
    power: PowerTrial | None = None

    @property
    def seconds(self) -> float:
        """Sending time, on the tester's clock."""
        return self.progress.elapsed_us / 1e6

    @property
    def duration_us(self) -> int:
        """Intended sending time: in the end the actual one."""
        asked = self.load.duration_us
        return asked if self.slices is None else max(asked, self.progress.elapsed_us)

    @property
    def clean(self) -> Slices | None:
        """The slices, where rate and loss are those of the clean ones."""
        found = self.slices
        return found if found is not None and found.clean_us > 0 < found.clean_sent else None

    @property
    def asked_pps(self) -> float:
        """Packets a second that the tester was asked for.

        Of bursts, what they come to; of connections, those that are whole in so short a time.
        """
        offered = self.load.offered
        whole = self.progress.asked_packets * 1e6 / self.load.duration_us
        if offered is not None and offered.uneven and whole:
            return whole
        if offered is not None and offered.connections_per_second:
            return min(self.load.asked_pps, whole)
        return self.load.asked_pps

    def rate(self, packets: int) -> FrameRate:
        """Packets of this trial as a rate."""
        per_second = packets / self.seconds if self.seconds else 0.0
        return FrameRate(self.load.frame_bytes, per_second)

    @property
    def offered(self) -> FrameRate:
        """Packets that the tester sent.

        In clean slices it makes up for what it was late with in others: in the long run it sends
        no more than it was asked for, unless that was as much as it can.
        """
        if self.clean is None:
            return self.rate(self.packets.sent)
        per_second = self.clean.clean_sent * 1e6 / self.clean.clean_us
        if self.progress.asked_packets:
            per_second = min(per_second, self.asked_pps)
        return FrameRate(self.load.frame_bytes, per_second)

    @property
    def received(self) -> FrameRate:
        """Packets that the tester received, or those that count instead.

        What was on its way when a disturbed slice ended is received in a clean one, which makes no
        more of what was offered.
        """
        if self.clean is None:
            return self.rate(self.came_through)
        per_second = self.clean.clean_received * 1e6 / self.clean.clean_us
        most = self.offered.packets_per_second
        return FrameRate(self.load.frame_bytes, min(per_second, most))

    @property
    def came_through(self) -> int:
        """Packets of the kind that the load says counts."""
        if self.load.counted == "received" and not self.load.signed:
            return self.packets.returned
        return self.packets.total(self.load.counted)

    @property
    def line_percent(self) -> float:
        """Received rate over the line rate."""
        return self.received.percent_of(self.load.link_bps, self.load.directions)

    @property
    def lost(self) -> int:
        """Packets sent that did not come through."""
        return self.packets.sent - self.came_through if self.packets.sent else 0

    @property
    def left_out(self) -> int:
        """Packets lost in disturbed slices."""
        return (
            0 if self.clean is None else self.clean.left_out(max(0, self.lost), self.packets.sent)
        )

    @property
    def judged_sent(self) -> int:
        """Packets that the loss is measured against: those sent in clean slices."""
        return self.packets.sent if self.clean is None else self.clean.clean_sent

    @property
    def judged_lost(self) -> int:
        """Packets lost, but for those of disturbed slices."""
        if self.clean is None:
            return self.lost
        return min(self.judged_sent, max(0, self.lost) - self.left_out)

    @property
    def loss_percent(self) -> float:
        """Lost ones of those sent."""
        return 100.0 * self.judged_lost / self.judged_sent if self.judged_sent else 0.0
