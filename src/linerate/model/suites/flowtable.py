"""Suite `flowtable`: what a flow table meets, each with the card's lookup off and on.

The traffics of the published comparison (shared reference flowtable.csv): IMIX of 2 × 1,194
flows and TCP's SYN and SYN/ACK; and two that it has not: a million flows as unevenly used as on
the Internet, and a flood in which each packet is a new flow's.
"""

from dataclasses import dataclass
from typing import Any, NoReturn

from linerate.base.line_rate import WIRE_OVERHEAD_BYTES
from linerate.model.flow_table_config import FlowRules, FlowTable, Offload
from linerate.model.suites.loadtest import NETWORKS, Loadtest, Rate, Streams, Suite, Traffic, Way
from linerate.model.suites.loadtest import share_of_rate as share
from linerate.model.testbed import Testbed

#: Frames of each size, FCS counted, in twelve: IMIX as everybody has it.
IMIX = ((64, 7), (594, 4), (1518, 1))
#: Flows of a direction of IMIX, as published; a third of each size.
IMIX_FLOWS = 1194
#: The smallest frame that holds TCP's header and our signature.
TCP_BYTES = 66
SYN, SYN_ACK = 2, 18
ZIPF_FLOWS = 1_000_000
#: Most flows that a stream can have: minutes of a flood.
FLOOD_FLOWS = 2**31 - 1

#: Room for a million flows and for what a flood leaves behind.
TABLE_FLOWS = 1 << 22
#: A flood's flows expire soon: else the table is full before the trial begins.
FLOOD_IDLE_MS = 250
#: By then the table knows its flows, and a card that takes 22 us a rule its rules.
WARMUP_SECONDS = 1.0


def _ends(way: Way, mirrored: bool) -> dict[str, Any]:
    """Addresses of a direction; a mirror gets those of the other one."""
    src, dst = (way.there, way.here) if mirrored else (way.here, way.there)
    return {"ipv4": {"src": f"{NETWORKS[src]}.1", "dst": f"{NETWORKS[dst]}.1", "ttl": 64}}


@dataclass(frozen=True, slots=True)
class Imix(Traffic):
    """Three sizes of UDP, each direction with flows of its own."""

    @property
    def text(self) -> str:
        """In words."""
        return f"IMIX, {IMIX_FLOWS:,} UDP flows a direction"

    def streams(self, way: Way) -> Streams:
        """One of each size; flows of a size have a destination port of their own."""
        whole = sum(count * (size + WIRE_OVERHEAD_BYTES) for size, count in IMIX)
        return [
            way.stream(
                name=f"{way.name}-{size}",
                frame_bytes=size,
                rate=_share_of_wire(way.rate, count * (size + WIRE_OVERHEAD_BYTES) / whole),
                weight=count,
                layers=[way.ethernet, _ends(way, False), {"udp": {"src": 1025, "dst": 12 + size}}],
                flows={"count": IMIX_FLOWS // len(IMIX), "order": "uniform"},
            )
            for size, count in IMIX
        ]


def _share_of_wire(rate: Rate, part: float) -> Rate:
    """Share of a rate given on the link; without one, weights share it."""
    assert set(rate) <= {"percent", "l1_bps", "max"}, "a share of what is not the wire's"
    return share(rate, part)


@dataclass(frozen=True, slots=True)
class Handshakes(Traffic):
    """TCP connections that never come further than SYN and SYN/ACK."""

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.frame_bytes} B TCP SYN and SYN/ACK, {IMIX_FLOWS:,} flows"

    def timed(self) -> NoReturn:
        """Refuse: as short as they are there is no room; raises ValueError."""
        raise ValueError(
            f"latency: {self.text}: no room for a time stamp; expected others, by --only"
        )

    def streams(self, way: Way) -> Streams:
        """SYN one way, SYN/ACK the other, of the same flows."""
        back = way.here == 1
        flags = SYN_ACK if back else SYN
        return [
            way.stream(
                frame_bytes=self.frame_bytes,
                layers=[
                    way.ethernet,
                    _ends(way, back),
                    {"tcp": {"src": 1025, "dst": 80, "flags": flags}},
                ],
                flows={"count": IMIX_FLOWS, "order": "uniform", "mirror": back},
            )
        ]


@dataclass(frozen=True, slots=True)
class Zipf(Traffic):
    """A million flows, few of which carry most."""

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.frame_bytes} B UDP, {ZIPF_FLOWS // 10**6} M flows by Zipf's law"

    def streams(self, way: Way) -> Streams:
        """Both directions of the same flows."""
        back = way.here == 1
        return [
            way.stream(
                frame_bytes=self.frame_bytes,
                layers=[way.ethernet, _ends(way, back), {"udp": {"src": 1025, "dst": 12}}],
                flows={"count": ZIPF_FLOWS, "order": "zipf", "mirror": back},
            )
        ]


@dataclass(frozen=True, slots=True)
class Flood(Traffic):
    """Each packet is the first of a flow, and the last."""

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.frame_bytes} B UDP, each packet a new flow"

    def streams(self, way: Way) -> Streams:
        """Successive flows, enough that none repeats."""
        return [
            way.stream(
                frame_bytes=self.frame_bytes,
                layers=[way.ethernet, _ends(way, False), {"udp": {"src": 1025, "dst": 12}}],
                flows={"count": FLOOD_FLOWS},
            )
        ]


_TRAFFIC: tuple[tuple[str, Traffic, int, float], ...] = (
    (
        "imix",
        Imix(sum(size * count for size, count in IMIX) / sum(n for _, n in IMIX), "many"),
        2,
        WARMUP_SECONDS,
    ),
    ("syn", Handshakes(TCP_BYTES, "many"), 2, WARMUP_SECONDS),
    ("zipf", Zipf(64, "many"), 2, WARMUP_SECONDS),
    ("flood", Flood(64, "many"), 1, 0.0),
)


def _base(testbed: Testbed) -> Testbed:
    """Forward by the flow table, over a card that has one, unless the testbed says otherwise."""
    dut, card = testbed.dut, testbed.card
    if dut.built_in:
        table = dut.flowtable or FlowTable()
        changes = {"flows": table.flows or TABLE_FLOWS}
        table = table.model_copy(update=changes)
        dut = dut.model_copy(update={"mode": "flowtable", "flowtable": table})
    if card.flow_table is None:
        card = card.model_copy(update={"flow_table": FlowRules(preset="x710-patched")})
    return testbed.model_copy(update={"dut": dut, "card": card})


def _testbed(testbed: Testbed, loadtest: Loadtest) -> Testbed:
    """The base with the card's lookup off or on."""
    table = testbed.dut.flowtable
    if table is None or loadtest.offload is None:
        return testbed
    wanted = (table.offload or Offload()) if loadtest.offload else None
    changes: dict[str, Any] = {"offload": wanted}
    if isinstance(loadtest.traffic, Flood) and table.idle_ms is None:
        changes["idle_ms"] = FLOOD_IDLE_MS
    dut = testbed.dut.model_copy(update={"flowtable": table.model_copy(update=changes)})
    return testbed.model_copy(update={"dut": dut})


SUITE = Suite(
    "flowtable",
    tuple(
        Loadtest(
            f"{name}-{'on' if offload else 'off'}",
            traffic,
            directions,
            offload=offload,
            warmup_seconds=warmup,
        )
        for name, traffic, directions, warmup in _TRAFFIC
        for offload in (False, True)
    ),
    _base,
    _testbed,
)
