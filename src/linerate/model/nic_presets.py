"""The virtual card's limits, and presets named after real cards.

A preset copies published figures; the source of each is noted beside it. "N6005" and "N305" are the
two boxes of the published loadtests (tests/data/loadtests.csv); "datasheet" is the maker's.
"""

from pydantic import Field, field_validator

from linerate.base.frozen_model import StrictModel
from linerate.base.line_rate import (
    FRAME_BYTES_MAX,
    FRAME_BYTES_MIN,
    GIGATRANSFERS,
    PcieLink,
    parse_bps,
)
from linerate.model.flow_table_config import FlowRules
from linerate.model.port_queues import CardRing, QueueCount


class Pcie(StrictModel):
    """The PCIe link that both ports of a card share."""

    gigatransfers: float
    lanes: int = Field(ge=1, le=32)
    max_payload_bytes: int = 256

    @field_validator("gigatransfers")
    @classmethod
    def _known_generation(cls, value: float) -> float:
        if value not in GIGATRANSFERS:
            raise ValueError("expected 2.5, 5, 8, 16 or 32 (GT/s per lane)")
        return value

    @field_validator("max_payload_bytes")
    @classmethod
    def _power_of_two(cls, value: int) -> int:
        if value not in (128, 256, 512, 1024, 2048, 4096):
            raise ValueError("expected 128, 256, 512, 1024, 2048 or 4096 (bytes)")
        return value

    @property
    def link(self) -> PcieLink:
        """The same, for arithmetic."""
        return PcieLink(self.gigatransfers, self.lanes, self.max_payload_bytes)


class Rss(StrictModel):
    """RSS settings of a card."""

    symmetric: bool = False
    mpls_inner: bool = True


class Card(StrictModel):
    """The limits of a virtual card, in the engine's words (docs/engine-configuration.md)."""

    link_bps: int = Field(default=10_000_000_000, gt=0)
    #: None: as many as there are workers.
    rx_queues: QueueCount | None = None
    rx_ring: CardRing = 1024
    tx_ring: CardRing = 1024
    rss: Rss = Rss()
    pps_ceiling: int = Field(default=0, ge=0)
    pcie: Pcie | None = None
    max_frame_bytes: int = Field(default=1522, ge=FRAME_BYTES_MIN, le=FRAME_BYTES_MAX)
    flow_table: FlowRules | None = None

    @field_validator("link_bps", mode="before")
    @classmethod
    def _bit_rate(cls, value: object) -> object:
        return parse_bps(value) if isinstance(value, str) else value


DEFAULT = Card()

#: Keys of limits in `--card`.
OPTIONS = {
    "pps": "pps_ceiling",
    "link": "link",
    "rx_queues": "rx_queues",
    "rx_ring": "rx_ring",
    "tx_ring": "tx_ring",
    "max_frame": "max_frame_bytes",
}
EXAMPLE = "as pps=2000000,link=10G"


def card_option(words: str) -> str | dict[str, object]:
    """Read `cx5-en`, `pps=2000000,link=10G` or `cx5-en,rx_queues=1`: a testbed file's `card`.

    Raises ValueError; whether values are good is the model's to say.
    """
    first, *rest = words.split(",")
    if not rest and "=" not in first:
        return first
    given = words.split(",") if "=" in first else rest
    document: dict[str, object] = {} if "=" in first else {"preset": first}
    for word in given:
        key, equals, value = word.partition("=")
        if key not in OPTIONS or not equals or OPTIONS[key] in document:
            expected = ", ".join(OPTIONS)
            raise ValueError(f"expected each of {expected} at most once, {EXAMPLE}; not '{word}'")
        document[OPTIONS[key]] = value if key == "link" else _count(key, value)
    return document


_TIMES = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}


def _count(key: str, value: str) -> int:
    """Read `2000000`, `200k` or `2M`."""
    times = _TIMES.get(value[-1:], 1)
    try:
        count = float(value if times == 1 else value[:-1]) * times
    except ValueError:
        count = -1.0
    if not 0 <= count < 1e15 or count != int(count):
        raise ValueError(f"{key}: expected a whole number, {EXAMPLE}; not '{value}'")
    return int(count)


PRESETS: dict[str, Card] = {
    # 2.5 GbE, PCIe 2 x1, one rx queue in use (card list of the published
    # loadtests). A port is a controller with a lane of its own, so what two ports
    # share is as much as two lanes. Ceiling: 5.07 Mpps in B2, B3 and B4 alike on
    # the N6005, whatever the forwarder had to do.
    "i226-v": Card(
        link_bps=2_500_000_000,
        rx_queues=1,
        pcie=Pcie(gigatransfers=5.0, lanes=2, max_payload_bytes=256),
        pps_ceiling=5_070_000,
    ),
    # 2 × 10 GbE, cannot hash MPLS (same list). PCIe 2: x8 on the card, x4 in the
    # N6005, where it was measured; 16.0 Gb/s by the kernel's own line on it.
    # No ceiling published: U2 went 13.4 Mpps.
    "82599es": Card(
        link_bps=10_000_000_000,
        rx_queues=2,
        rss=Rss(mpls_inner=False),
        pcie=Pcie(gigatransfers=5.0, lanes=4, max_payload_bytes=256),
    ),
    # 2–4 × 10 GbE (same list), PCIe 3 x8 (datasheet). No ceiling published.
    "x710": Card(
        link_bps=10_000_000_000,
        rx_queues=4,
        pcie=Pcie(gigatransfers=8.0, lanes=8, max_payload_bytes=256),
    ),
    # ConnectX-3, 2 × 10 GbE, PCIe 3 x8 on the card (datasheet), x4 in the N6005.
    # Ceiling: 2.27–2.30 Mpps in U2, U3, U4, B2, B3 and B4 alike.
    "mcx342a": Card(
        link_bps=10_000_000_000,
        rx_queues=1,
        pcie=Pcie(gigatransfers=8.0, lanes=4, max_payload_bytes=256),
        pps_ceiling=2_290_000,
    ),
    # ConnectX-4 Lx, 2 × 25 GbE, PCIe 3 x8 on the card, x4 in the N305: 31.5 Gb/s
    # by the kernel's line, payload 256. Hashes MPLS on the inner header. 3 rx
    # queues and 22.3 Mpps (B2 and B4 with the RDMA driver) are the N305's.
    "cx4-lx": Card(
        link_bps=25_000_000_000,
        rx_queues=3,
        pcie=Pcie(gigatransfers=8.0, lanes=4, max_payload_bytes=256),
        pps_ceiling=22_300_000,
    ),
    # ConnectX-5, 2 × 25 GbE, PCIe 3 as above. 21.7 Mpps in B2 and 21.6 in B4
    # (DPDK driver, 3 rx queues, N305).
    "cx5-en": Card(
        link_bps=25_000_000_000,
        rx_queues=3,
        pcie=Pcie(gigatransfers=8.0, lanes=4, max_payload_bytes=256),
        pps_ceiling=21_700_000,
    ),
}


def preset(name: str) -> Card:
    """Return the card preset of that name; raises ValueError."""
    if name == "default":
        return DEFAULT
    if name not in PRESETS:
        raise ValueError(f"expected one of {', '.join(PRESETS)}, default; not '{name}'")
    return PRESETS[name]
