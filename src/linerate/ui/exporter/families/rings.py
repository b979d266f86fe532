"""Rings: of cards, and between workers."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from linerate.ui.exporter.families import counter, families, gauge
from linerate.ui.exporter.scene import Scene


@families
def rings(scene: Scene) -> Iterator[Metric]:
    """Say how full rings are; of those between workers, what went through them.

    A card's ring counts modulo 2^32, which no counter of Prometheus may: its port's do instead.
    """
    each = [(engine, row) for engine, one in scene.look.snapshots.items() for row in one.rings]
    levels = (
        ("size", "slots", "Slots of the ring, from /linerate/rings."),
        ("used", "used_slots", "Slots of the ring that hold a packet now, from /linerate/rings."),
    )
    for key, metric, text in levels:
        yield gauge(
            f"linerate_ring_{metric}",
            text,
            ("engine", "ring"),
            [((engine, str(row["name"])), float(row[key])) for engine, row in each],
        )
    counted = (
        ("enqueued", "Packets that one worker put into the ring for another."),
        ("dropped", "Packets that found the ring between two workers full."),
        ("dequeued", "Packets that the other worker took out of the ring."),
    )
    for key, text in counted:
        yield counter(
            f"linerate_handoff_{key}_packets",
            f"{text} From /linerate/rings.",
            ("engine", "from", "to", "priority"),
            [
                ((engine, str(row["from"]), str(row["to"]), str(row["priority"])), float(row[key]))
                for engine, row in each
                if row.get("from")
            ],
        )
