"""Ports: packets, bytes, and what was dropped at them."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from linerate.engine.snapshot import RECEIVE_DROPS, TRANSMIT_DROPS, PortState
from linerate.ui.exporter.families import Sample, counter, families, gauge
from linerate.ui.exporter.scene import Scene

#: Counters that every driver has: metric, its text.
COMMON = {
    "rx_packets": ("receive_packets", "Packets that the port received."),
    "rx_bytes": ("receive_bytes", "Bytes that the port received, FCS counted."),
    "tx_packets": ("transmit_packets", "Packets that the port sent."),
    "tx_bytes": ("transmit_bytes", "Bytes that the port sent, FCS counted."),
}
#: Values that are no counters.
LEVELS = {
    "link_up": ("linerate_port_up", "Whether the port's link is up, where its driver says so."),
    "flow_rules": ("linerate_port_flow_rules", "Flow rules that stand on the port."),
}
_KNOWN = {*COMMON, *RECEIVE_DROPS, *TRANSMIT_DROPS, *LEVELS}


def _ports(scene: Scene) -> Iterator[tuple[str, str, PortState]]:
    for engine, one in scene.look.snapshots.items():
        for name, port in one.ports.items():
            yield engine, name, port


def _drops(scene: Scene, reasons: tuple[str, ...]) -> Iterator[Sample]:
    for engine, name, port in _ports(scene):
        for reason in reasons:
            if reason in port.counters:
                yield (engine, name, reason[3:]), float(port.counters[reason])


@families
def ports(scene: Scene) -> Iterator[Metric]:
    """Say what each port is and counted, from /linerate/ports and /linerate/port."""
    each = list(_ports(scene))
    labels = ("engine", "port")
    yield gauge(
        "linerate_port_info",
        "A port: its driver and MAC address; always 1.",
        (*labels, "driver", "mac"),
        [((engine, name, port.driver, port.mac), 1.0) for engine, name, port in each],
    )
    yield gauge(
        "linerate_port_speed_bytes",
        "Bytes a second that the port's link can carry, preamble and gap included.",
        labels,
        [((engine, name), port.link_bps / 8) for engine, name, port in each],
    )
    for key, (metric, text) in COMMON.items():
        yield counter(
            f"linerate_port_{metric}",
            f"{text} From /linerate/port.",
            labels,
            [((engine, name), float(port.counters.get(key, 0))) for engine, name, port in each],
        )
    yield counter(
        "linerate_port_receive_drops",
        "Packets that came to the port and were not received, by reason (missed: its ring was "
        "full). From /linerate/port.",
        (*labels, "reason"),
        _drops(scene, RECEIVE_DROPS),
    )
    yield counter(
        "linerate_port_transmit_drops",
        "Packets that the port was to send and did not, by reason (full: no slot in its ring). "
        "From /linerate/port.",
        (*labels, "reason"),
        _drops(scene, TRANSMIT_DROPS),
    )
    yield counter(
        "linerate_port_events",
        "What else the port's driver counts, by its name in /linerate/port.",
        (*labels, "event"),
        [
            ((engine, name, event), float(value))
            for engine, name, port in each
            for event, value in port.counters.items()
            if event not in _KNOWN
        ],
    )
    for key, (metric, text) in LEVELS.items():
        yield gauge(
            metric,
            text,
            labels,
            [
                ((engine, name), float(port.counters[key]))
                for engine, name, port in each
                if key in port.counters
            ],
        )
