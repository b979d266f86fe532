"""Records of runs beside trials: searches, RFC 2544's benchmarks, the state of a soak."""

from statistics import mean
from typing import Literal

from pydantic import AliasChoices, Field

from linerate.base.frozen_model import FrozenModel
from linerate.model.measurement.latency import LatencyThere

#: Stop condition of a soak: unexplained losses, any losses, or its end.
StopAt = Literal["unexplained", "any", "never"]


class Goal(FrozenModel):
    """The highest load at which no more than a share of the packets is lost: 0 is NDR."""

    loss_ratio: float
    #: The highest load that held it, and the lowest that did not; None where none was found.
    lower_pps: float | None = None
    upper_pps: float | None = None
    #: Forwarding rate at the lower one.
    forwarded_pps: float | None = None
    #: Trials at the two.
    lower_trial: str = ""
    upper_trial: str = ""


class Search(FrozenModel):
    """A search for the loads of several goals with one loadtest; loads are of all directions."""

    loadtest: str
    text: str
    frame_bytes: int | float
    #: Largest difference of a reached goal's loads, as a share of the upper one.
    width: float
    duration_seconds: float
    min_pps: float
    #: The line's rate, or nearly what the tester can offer.
    max_pps: float
    line_pps: float
    #: Every goal's two loads were measured for as long as asked, and are near each other.
    found: bool = False
    goals: tuple[Goal, ...] = ()
    #: By trial: packets lost while a worker was descheduled, in every attempt; not counted.
    lost_by_host: dict[str, int] = {}


class LossPoint(FrozenModel):
    """One load of a frame-loss curve (RFC 2544, 26.3)."""

    pps: float
    #: `percent_of_line` in runs of schema 2.
    line_percent: float = Field(validation_alias=AliasChoices("line_percent", "percent_of_line"))
    loss_ratio: float
    trial: str


class FrameSize(FrozenModel):
    """The four benchmarks of one frame size; rates are of all directions together."""

    loadtest: str
    frame_bytes: int | float
    line_pps: float
    #: First load of bursts and the loss curve: the line rate, or nearly the tester's.
    max_pps: float
    #: The highest load without loss (26.1); None: even the least that was tried lost some.
    throughput_pps: float | None = None
    throughput_trial: str = ""
    latency: LatencyThere | None = None
    loss_curve: tuple[LossPoint, ...] = ()
    #: The longest burst at `max_pps` without loss, frames, each time it was searched (26.4).
    bursts: tuple[int, ...] = ()
    burst_trials: tuple[str, ...] = ()
    #: Frames of the longest burst that is tried.
    burst_most: int = 0

    @property
    def mean_burst(self) -> float | None:
        """Average of the longest bursts, frames, as RFC 9004 has it."""
        return mean(self.bursts) if self.bursts else None

    @property
    def all_bursts_pass(self) -> bool:
        """Whether the longest burst that was tried lost nothing, each time."""
        return bool(self.bursts) and min(self.bursts) >= self.burst_most

    @property
    def buffer_seconds(self) -> float | None:
        """RFC 9004's corrected DUT buffer time: a burst, less the frames forwarded during it."""
        if self.mean_burst is None or self.throughput_pps is None or self.all_bursts_pass:
            return None
        implied = self.mean_burst / self.max_pps
        return implied * max(0.0, 1 - self.throughput_pps / self.max_pps)


class SoakState(FrozenModel):
    """Progress of a soak; its intervals are in its minutes.jsonl."""

    loadtest: str
    pps: float
    asked_seconds: float
    every_seconds: float
    stop_at: StopAt
    seconds: float = 0.0
    intervals: int = 0
    sent: int = 0
    received: int = 0
    lost: int = 0
    #: Lost, by sequence numbers or by the ledger, and counted nowhere.
    unexplained: int = 0
    #: Intervals in which packets were lost.
    lossy_intervals: int = 0
    #: Why it ended, and what that says; nothing while it runs.
    verdict: str = ""


class Hop(FrozenModel):
    """Cost of one hop over a veth for its sender, by the cheapest loop."""

    call: str
    clocks: float
    pps: float
    tsc_hz: float
