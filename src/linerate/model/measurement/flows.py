"""Counters of a flow table, and of the ports' flow rules, in a trial."""

from collections.abc import Iterable

from linerate.base.frozen_model import FrozenModel

Counters = dict[str, int]

#: Values that are no counters: their level at the end counts.
LEVELS = frozenset(("flows", "capacity", "rules", "limit", "threshold_pps"))
#: Reasons not to record a packet, and to end a flow, by how their counters begin.
NOT_RECORDED = "not_recorded_"


class FlowCounts(FrozenModel):
    """Sum of all workers' tables, and the rules of each port. Counters as the engine's."""

    table: Counters = {}
    #: None are there when no port is asked to look flows up.
    ports: dict[str, Counters] = {}

    def since(self, before: "FlowCounts") -> "FlowCounts":
        """Counts between two readings; levels are the later ones."""
        return FlowCounts(
            table=_since(self.table, before.table),
            ports={
                name: _since(counters, before.ports.get(name, {}))
                for name, counters in self.ports.items()
            },
        )

    @property
    def packets(self) -> int:
        """Packets that came through the table, recorded or not."""
        return self.table.get("packets", 0)

    @property
    def marked(self) -> int:
        """Packets that came with the right mark, so that nothing was looked up for them."""
        return self.table.get("marked", 0)

    @property
    def not_recorded(self) -> int:
        """Packets that were forwarded without a record."""
        return sum(count for name, count in self.table.items() if name.startswith(NOT_RECORDED))

    @property
    def marked_percent(self) -> float:
        """Share of the packets that came through the table."""
        packets = self.packets
        return 100.0 * self.marked / packets if packets else 0.0

    @property
    def rules(self) -> int:
        """Rules that stand on all ports."""
        return self.total("rules")

    def total(self, name: str) -> int:
        """A counter over all ports."""
        return sum(counters.get(name, 0) for counters in self.ports.values())

    @property
    def programming_seconds(self) -> float:
        """Time of creating and destroying rules; one thread does that for all ports."""
        return (
            sum(
                counters.get("create_ns_mean", 0) * counters.get("promoted", 0)
                + counters.get("destroy_ns_mean", 0)
                * (counters.get("demoted", 0) + counters.get("ended", 0))
                for counters in self.ports.values()
            )
            / 1e9
        )


def flows_of(readings: Iterable[FlowCounts | None]) -> FlowCounts | None:
    """The first that there is: one engine alone forwards."""
    return next((one for one in readings if one is not None), None)


def _since(after: Counters, before: Counters) -> Counters:
    return {
        name: value if _is_level(name) else value - before.get(name, 0)
        for name, value in after.items()
    }


def _is_level(name: str) -> bool:
    return name in LEVELS or name == "on" or "_ns_" in name
