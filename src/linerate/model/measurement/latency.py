"""Latency as timed by the tester: each stream's histogram, and the reported figures."""

from collections.abc import Iterable
from typing import Literal

from linerate.base import histogram
from linerate.base.frozen_model import FrozenModel

Counters = dict[str, int]
NS_PER_US = 1000.0


class StreamLatency(FrozenModel):
    """One stream in one trial. Disturbed frames have figures of their own.

    Those were in flight while a worker of the engine was descheduled.
    """

    stream: str
    #: Ports on which its frames are sent and received.
    port: str
    rx_port: str
    count: int
    min_ns: int
    max_ns: int
    sum_ns: int
    #: Sum of |D|, the difference of two successive latencies (RFC 3550, 6.4.1).
    jitter_sum_ns: int
    jitter_count: int
    #: Frames whose time stamp no longer added up.
    damaged: int = 0
    disturbed: int = 0
    disturbed_max_ns: int = 0
    #: HdrHistogram's V2 text, in ns; empty without frames.
    histogram: str = ""
    disturbed_histogram: str = ""

    @property
    def direction(self) -> str:
        """In words."""
        return f"{self.port} → {self.rx_port}" if self.rx_port else f"{self.port} → any"


def latency_since(
    after: Iterable[StreamLatency], before: Iterable[StreamLatency]
) -> tuple[StreamLatency, ...]:
    """Latency of frames that came between two readings of streams that count on.

    What a stream had before is taken from its histograms, whose least and highest values are exact
    to three digits.
    """
    earlier = {one.stream: one for one in before}
    return tuple(_since(one, earlier.get(one.stream)) for one in after)


def _since(after: StreamLatency, before: StreamLatency | None) -> StreamLatency:
    if before is None or before.count + before.disturbed == 0:
        return after
    if after.count < before.count or after.disturbed < before.disturbed:
        # It was loaded anew.
        return after
    changed = {
        name: getattr(after, name) - getattr(before, name)
        for name in ("count", "sum_ns", "jitter_sum_ns", "jitter_count", "damaged", "disturbed")
    }
    low, high, text = _grown(after.histogram, before.histogram)
    _, disturbed_high, disturbed_text = _grown(
        after.disturbed_histogram, before.disturbed_histogram
    )
    least = after.min_ns if after.min_ns < before.min_ns else low
    most = after.max_ns if after.max_ns > before.max_ns else high
    disturbed_most = after.disturbed_max_ns
    if disturbed_most == before.disturbed_max_ns:
        disturbed_most = disturbed_high
    return after.model_copy(
        update=changed
        | {
            "min_ns": least,
            "max_ns": most,
            "disturbed_max_ns": disturbed_most,
            "histogram": text,
            "disturbed_histogram": disturbed_text,
        }
    )


def _grown(after: str, before: str) -> tuple[int, int, str]:
    """Least and highest value between two histograms, and the histogram of what came between."""
    if not after:
        return 0, 0, ""
    made = histogram.grown(after, before) if before else histogram.from_text(after)
    if not made.total_count:
        return 0, 0, ""
    return made.get_min_value(), made.get_max_value(), histogram.to_text(made)


class Times(FrozenModel):
    """Latency of frames, in µs; None where there are too few."""

    count: int
    min_us: float | None
    mean_us: float | None
    p50_us: float | None
    p90_us: float | None
    p99_us: float | None
    p99_9_us: float | None
    p99_99_us: float | None
    p99_999_us: float | None
    max_us: float | None


class LatencyFigures(Times):
    """Reported latency of one stream in one trial."""

    stream: str
    direction: str
    #: The mean of |D|.
    jitter_us: float | None
    lost: int
    duplicated: int
    out_of_order: int
    #: Frames left out of the figures above: a worker was descheduled while they were in flight.
    disturbed: int = 0
    disturbed_max_us: float | None = None
    damaged: int = 0
    histogram: str = ""


class LatencyThere(Times):
    """All streams of one trial together."""

    trial: str


class LatencyPoint(FrozenModel):
    """One load of several at which latency was measured."""

    #: Share of the highest load.
    percent: float
    #: Asked for, all directions together.
    pps: float
    #: The last attempt.
    trial: str


class LatencyLoads(FrozenModel):
    """Latency of one loadtest over offered load."""

    loadtest: str
    text: str
    frame_bytes: int | float
    #: The highest load: the NDR that was found, the given one, the line rate.
    top: Literal["NDR", "given", "line"]
    top_pps: float
    line_pps: float
    points: tuple[LatencyPoint, ...] = ()


def figures(
    latency: tuple[StreamLatency, ...], streams: dict[str, Counters]
) -> tuple[LatencyFigures, ...]:
    """Reported figures; `streams` are their counters in the trial."""
    return tuple(_figures(one, streams.get(one.stream, {})) for one in latency)


def times(streams: Iterable[StreamLatency]) -> Times:
    """Latency of the frames of all these streams."""
    known = [one for one in streams if one.count]
    if not known:
        return Times(**dict.fromkeys(Times.model_fields) | {"count": 0})
    slowest = max(one.max_ns for one in known)
    reported = histogram.percentiles(histogram.merged(one.histogram for one in known))
    p50, p90, p99, p99_9, p99_99, p99_999 = (
        # A bucket's upper end may be above all that is in it.
        _us(None if ns is None else min(ns, slowest))
        for ns in reported.values()
    )
    count = sum(one.count for one in known)
    return Times(
        count=count,
        min_us=_us(min(one.min_ns for one in known)),
        mean_us=sum(one.sum_ns for one in known) / count / NS_PER_US,
        p50_us=p50,
        p90_us=p90,
        p99_us=p99,
        p99_9_us=p99_9,
        p99_99_us=p99_99,
        p99_999_us=p99_999,
        max_us=_us(slowest),
    )


def _figures(one: StreamLatency, counters: Counters) -> LatencyFigures:
    return LatencyFigures(
        **dict(times([one])),
        stream=one.stream,
        direction=one.direction,
        jitter_us=one.jitter_sum_ns / one.jitter_count / NS_PER_US if one.jitter_count else None,
        lost=counters.get("lost", 0),
        duplicated=counters.get("duplicated", 0),
        out_of_order=counters.get("out_of_order", 0),
        disturbed=one.disturbed,
        disturbed_max_us=_us(one.disturbed_max_ns if one.disturbed else None),
        damaged=one.damaged,
        histogram=one.histogram,
    )


def _us(ns: int | None) -> float | None:
    return None if ns is None else ns / NS_PER_US
