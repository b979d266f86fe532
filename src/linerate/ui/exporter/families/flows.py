"""The flow table, and the rules by which ports look flows up themselves."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from linerate.model.measurement.flows import NOT_RECORDED, FlowCounts
from linerate.ui.exporter.families import counter, families, gauge
from linerate.ui.exporter.scene import Scene

ENDED = "ended_"
LEVELS = {
    "flows": ("flows", "Flows that the table holds."),
    "capacity": ("capacity_flows", "Flows that the table can hold."),
}
COUNTERS = {
    "packets": ("packets", "Packets that came through the table, recorded or not."),
    "created": ("created_flows", "Flows that were begun."),
    "marked": ("marked_packets", "Packets that a port had looked up already."),
    "bad_marks": ("bad_marks", "Packets with the mark of a flow that was gone."),
    "lost_exports": ("lost_exports", "Flow records that could not be exported."),
    "lost_samples": ("lost_samples", "Samples for offload that found no room."),
}
RULE_LEVELS = {
    "rules": ("rules", "Flow rules that stand on the port."),
    "limit": ("rules_limit", "Flow rules that the port may have."),
    "threshold_pps": ("threshold_packets_per_second", "Rate that a flow needs for a rule."),
    "on": ("enabled", "Whether the port looks flows up itself."),
}
RULE_COUNTERS = {
    "promoted": "Flows that got a rule.",
    "demoted": "Flows that lost their rule to a faster one.",
    "ended": "Rules that ended with their flow.",
    "refused": "Rules that the port refused.",
    "full": "Rules that found the port's table full.",
    "silent": "Rules that never matched a packet.",
    "lost": "Rules that were gone without notice.",
}


@families
def flow_table(scene: Scene) -> Iterator[Metric]:
    """Say what the flow table counted, from /linerate/flows."""
    tables = [(engine, flows.table) for engine, flows in _flows(scene)]
    for key, (metric, text) in LEVELS.items():
        yield gauge(
            f"linerate_flow_table_{metric}",
            f"{text} From /linerate/flows.",
            ("engine",),
            [((engine,), float(table.get(key, 0))) for engine, table in tables],
        )
    for key, (metric, text) in COUNTERS.items():
        yield counter(
            f"linerate_flow_table_{metric}",
            f"{text} From /linerate/flows.",
            ("engine",),
            [((engine,), float(table.get(key, 0))) for engine, table in tables],
        )
    for start, metric, text in (
        (ENDED, "ended_flows", "Flows that ended, by reason."),
        (NOT_RECORDED, "not_recorded_packets", "Packets forwarded without a record, by reason."),
    ):
        yield counter(
            f"linerate_flow_table_{metric}",
            f"{text} From /linerate/flows.",
            ("engine", "reason"),
            [
                ((engine, key.removeprefix(start)), float(value))
                for engine, table in tables
                for key, value in table.items()
                if key.startswith(start)
            ],
        )


@families
def offload(scene: Scene) -> Iterator[Metric]:
    """Say what became of rules on each port, from /linerate/offload."""
    each = [
        (engine, port, counters)
        for engine, flows in _flows(scene)
        for port, counters in flows.ports.items()
    ]
    labels = ("engine", "port")
    for key, (metric, text) in RULE_LEVELS.items():
        yield gauge(
            f"linerate_offload_{metric}",
            f"{text} From /linerate/offload.",
            labels,
            [((engine, port), float(one.get(key, 0))) for engine, port, one in each],
        )
    for key, text in RULE_COUNTERS.items():
        yield counter(
            f"linerate_offload_{key}",
            f"{text} From /linerate/offload.",
            labels,
            [((engine, port), float(one.get(key, 0))) for engine, port, one in each],
        )


def _flows(scene: Scene) -> list[tuple[str, FlowCounts]]:
    found = scene.look.snapshots.items()
    return [(engine, one.flows) for engine, one in found if one.flows is not None]
