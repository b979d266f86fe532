"""Losses: packets dropped by node and reason, and the place of each packet in the ledger."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from linerate.ui.exporter.families import counter, families, gauge
from linerate.ui.exporter.scene import Scene

#: Gauges of the ledger.
HELD = "held"


@families
def losses(scene: Scene) -> Iterator[Metric]:
    """Say what was dropped, and where."""
    found = scene.look.snapshots.items()
    yield counter(
        "linerate_node_drops",
        "Packets that a node dropped, by reason; of severity info those meant for this machine. "
        "From /linerate/errors.",
        ("engine", "worker", "node", "reason", "severity"),
        [
            ((engine, drop.worker, drop.node, drop.reason, drop.severity), float(drop.packets))
            for engine, one in found
            for drop in one.errors
        ],
    )
    rows = [(engine, row) for engine, one in found for row in one.ledger]
    yield counter(
        "linerate_ledger_packets",
        "Packets by where they went, from /linerate/ledger: sent + originated = received + other "
        "+ consumed + loss + held.",
        ("engine", "place", "kind"),
        [
            ((engine, str(row["place"]), str(row["kind"])), float(row["packets"]))
            for engine, row in rows
            if row["kind"] != HELD
        ],
    )
    yield gauge(
        "linerate_ledger_held_packets",
        "Packets that are kept at a place for now, from /linerate/ledger.",
        ("engine", "place"),
        [
            ((engine, str(row["place"])), float(row["packets"]))
            for engine, row in rows
            if row["kind"] == HELD
        ],
    )
