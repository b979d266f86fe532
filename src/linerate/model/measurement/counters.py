"""Counters of a trial beside its two ledgers: at one moment, or what they grew by."""

from typing import Any, Literal

from linerate.base.frozen_model import FrozenModel
from linerate.model.box import BoxAnswers
from linerate.model.measurement.flows import Counters, FlowCounts
from linerate.model.measurement.latency import StreamLatency

#: Levels of a ring, which are no counters.
RING_LEVELS = ("size", "used", "free")


class Link(FrozenModel):
    """A port's link, as its driver says."""

    state: Literal["up", "down"]
    #: 0: unknown.
    speed_bps: int = 0
    duplex: Literal["full", "half"] = "full"
    #: Number of times that it went down and came up since the port started.
    downs: int = 0
    ups: int = 0


class Queues(FrozenModel):
    """A port's queues, descriptors a queue, and RSS fields, as its device took them."""

    rx_queues: int
    tx_queues: int
    rx_ring: int
    tx_ring: int
    rss: str = ""


class DropCount(FrozenModel):
    """Packets that one worker dropped in one node for one reason."""

    worker: str
    node: str
    reason: str
    severity: str = "error"
    packets: int


class PortSetting(FrozenModel):
    """Requested and actual setting of a port's device: `none` where it has no such setting."""

    name: str
    asked: str
    actual: str


class TrialCounters(FrozenModel):
    """Counters and states of all that a trial uses; empty for what it does not."""

    errors: tuple[DropCount, ...] = ()
    ports: dict[str, Counters] = {}
    #: By port, of those on DPDK devices.
    settings: dict[str, tuple[PortSetting, ...]] = {}
    #: By port that has one.
    links: dict[str, Link] = {}
    queues: dict[str, Queues] = {}
    cards: dict[str, Counters] = {}
    rings: dict[str, Counters] = {}
    streams: dict[str, Counters] = {}
    #: Templates of connections: started, finished, not started and why.
    connections: dict[str, Counters] = {}
    latency: tuple[StreamLatency, ...] = ()
    #: Flow table of a forwarder that keeps one.
    flows: FlowCounts | None = None
    #: Answers of a box in this trial.
    box: BoxAnswers | None = None
    #: The device under test is not ours: it need not say where each packet went.
    foreign: bool = False

    def grown(self, before: "TrialCounters") -> dict[str, Any]:
        """All fields: what counters grew by since `before`, states as they are now."""
        changed = {
            "errors": _errors_since(self.errors, before.errors),
            "rings": _rings_since(self.rings, before.rings),
            "flows": self.flows.since(before.flows) if self.flows and before.flows else None,
            "box": before.box.followed_by(self.box) if self.box and before.box else self.box,
        } | {
            name: counters_since(getattr(self, name), getattr(before, name))
            for name in ("ports", "cards", "streams", "connections")
        }
        return {name: getattr(self, name) for name in TrialCounters.model_fields} | changed


def counters_since(after: dict[str, Counters], before: dict[str, Counters]) -> dict[str, Counters]:
    """Take differences, counter by counter."""
    return {
        name: {key: value - before.get(name, {}).get(key, 0) for key, value in counters.items()}
        for name, counters in after.items()
    }


def _rings_since(after: dict[str, Counters], before: dict[str, Counters]) -> dict[str, Counters]:
    """As `counters_since`; a ring counts modulo 2^32, its size and fill level are no counters."""
    return {
        name: {
            key: after[name][key] if key in RING_LEVELS else value % 2**32
            for key, value in counters.items()
        }
        for name, counters in counters_since(after, before).items()
    }


def _errors_since(
    after: tuple[DropCount, ...], before: tuple[DropCount, ...]
) -> tuple[DropCount, ...]:
    """Drops between two readings, those that did not grow left out."""
    earlier = {(drop.worker, drop.node, drop.reason): drop.packets for drop in before}
    grown = (
        drop.model_copy(
            update={"packets": drop.packets - earlier.get((drop.worker, drop.node, drop.reason), 0)}
        )
        for drop in after
    )
    return tuple(drop for drop in grown if drop.packets)
