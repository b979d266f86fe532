"""VPP: nodes by thread, interfaces, errors, as its stats segment has them."""

from collections.abc import Callable, Iterator

from prometheus_client.metrics_core import Metric

from linerate.model.evidence import Node
from linerate.ui.exporter.families import Sample, counter, families
from linerate.ui.exporter.families.workers import kind_of
from linerate.ui.exporter.scene import Scene

#: VPP's names of what our nodes do.
KINDS = {"-input": "receive", "-output": "transmit", "-tx": "transmit"}
#: Nodes on a packet's way that are named as if they were a card's.
FORWARDING = ("ethernet-", "ip4-", "ip6-", "mpls-", "l2-", "vlan-")
PORTS = (
    ("receive_packets", "rx_packets", "Packets that the interface received."),
    ("receive_bytes", "rx_bytes", "Bytes that the interface received."),
    ("transmit_packets", "tx_packets", "Packets that the interface sent."),
    ("transmit_bytes", "tx_bytes", "Bytes that the interface sent."),
)
SOURCE = "From VPP's stats segment."


def clocks_of(node: Node) -> float:
    """All cycles of a node; the parser has them by packet, or by call."""
    by = node.vectors or node.calls or node.suspends
    return round((node.clocks_per_packet or 0.0) * by)


COUNTERS: tuple[tuple[str, str, Callable[[Node], float]], ...] = (
    ("calls", "Calls of the node.", lambda node: node.calls),
    ("vectors", "Packets that the node worked on.", lambda node: node.vectors),
    ("suspends", "How often the process that the node is was suspended.", lambda n: n.suspends),
    ("clocks", "Clocks spent in the node, those of empty polls too.", clocks_of),
)


def kind_of_vpp(node: str) -> str:
    """Purpose of a node of VPP."""
    if not node.startswith(FORWARDING):
        for end, kind in KINDS.items():
            if node.endswith(end):
                return kind
    return kind_of(node)


@families
def vpp(scene: Scene) -> Iterator[Metric]:
    """Say what VPP counted; nothing where there is none."""
    evidence = scene.vpp
    if evidence is None:
        return
    for name, text, value in COUNTERS:
        yield counter(
            f"linerate_vpp_node_{name}",
            f"{text} {SOURCE}",
            ("thread", "node", "kind"),
            [
                ((worker.name, node.name, kind_of_vpp(node.name)), float(value(node)))
                for worker in evidence.workers
                for node in worker.nodes
            ],
        )
    for name, attribute, text in PORTS:
        yield counter(
            f"linerate_vpp_interface_{name}",
            f"{text} {SOURCE}",
            ("interface",),
            [
                ((port.name,), float(value))
                for port in evidence.ports
                if (value := getattr(port, attribute)) is not None
            ],
        )
    lost: dict[tuple[str, ...], float] = {}
    for one in evidence.losses:
        place, _, reason = one.place.rpartition(": ")
        lost[place, reason] = lost.get((place, reason), 0.0) + one.packets
    samples: list[Sample] = list(lost.items())
    yield counter(
        "linerate_vpp_drops",
        f"Packets that VPP dropped, by node or interface, and reason. {SOURCE}",
        ("place", "reason"),
        samples,
    )
