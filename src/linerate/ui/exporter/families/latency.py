"""Latency of the tester's latency streams, as native classic histograms."""

from collections.abc import Iterator

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from linerate.engine.snapshot import Histogram
from linerate.ui.exporter.families import counter, families
from linerate.ui.exporter.scene import Scene

#: Upper ends of buckets, in seconds: two or three a power of ten.
EDGES = tuple(
    mantissa * 10.0**power for power in range(-6, 0) for mantissa in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
)


def buckets_of(histogram: Histogram) -> list[tuple[str, float]]:
    """Frames that took no longer than each edge: a bucket that an edge is in counts above it."""
    found = []
    for edge in EDGES:
        below = sum(frames for top, frames in histogram.buckets if top <= edge * 1e9)
        found.append((f"{edge:.2g}", float(below)))
    return [*found, ("+Inf", float(histogram.count))]


@families
def latency(scene: Scene) -> Iterator[Metric]:
    """Say how long frames took from the tester and back, from /linerate/latency."""
    each = [
        (engine, one)
        for engine, snapshot in scene.look.snapshots.items()
        for one in snapshot.latency
    ]
    metric = HistogramMetricFamily(
        "linerate_stream_latency_seconds",
        "How long the stream's frames took, since its trial began; those disturbed by the host "
        "left out. From /linerate/latency.",
        labels=("engine", "stream"),
    )
    for engine, one in each:
        metric.add_metric((engine, one.stream), buckets_of(one), one.sum_ns / 1e9)
    yield metric
    for name, text, value in (
        ("disturbed", "Frames that are in no bucket: a worker was descheduled.", 0),
        ("damaged", "Frames whose time stamp could not be read.", 1),
    ):
        yield counter(
            f"linerate_stream_latency_{name}_frames",
            f"{text} From /linerate/latency.",
            ("engine", "stream"),
            [
                ((engine, one.stream), float((one.disturbed, one.damaged)[value]))
                for engine, one in each
            ],
        )
