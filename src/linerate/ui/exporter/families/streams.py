"""Streams of the tester: packets sent, and received."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from linerate.ui.exporter.families import counter, families, gauge
from linerate.ui.exporter.scene import Scene

COUNTERS = {
    "sent": ("sent_packets", "Packets that the tester sent of the stream."),
    "received": ("received_packets", "Packets of the stream received."),
    "duplicated": ("duplicated_packets", "Packets of the stream that came more than once."),
    "out_of_order": ("out_of_order_packets", "Packets that came after a later one."),
    "corrupted": ("corrupted_packets", "Packets of the stream received damaged."),
    "rx_bytes": ("received_bytes", "Bytes of the stream received, FCS counted."),
}


@families
def streams(scene: Scene) -> Iterator[Metric]:
    """Say what became of each stream, from /linerate/streams; of the first 64 of an engine."""
    found = scene.look.snapshots.items()
    each = [(engine, str(row["name"]), row) for engine, one in found for row in one.streams]
    for key, (metric, text) in COUNTERS.items():
        yield counter(
            f"linerate_stream_{metric}",
            f"{text} From /linerate/streams.",
            ("engine", "stream"),
            [((engine, name), float(row.get(key, 0))) for engine, name, row in each],
        )
    # One that comes late after all is no longer lost.
    yield gauge(
        "linerate_stream_lost_packets",
        "Packets of the stream that are missing now. From /linerate/streams.",
        ("engine", "stream"),
        [((engine, name), float(row.get("lost", 0))) for engine, name, row in each],
    )
    yield gauge(
        "linerate_streams",
        "Streams that the engine's tester has, whether they are exported or not.",
        ("engine",),
        [((engine,), float(one.nb_streams)) for engine, one in found],
    )
