"""Lines of several sources about one PCIe link, combined.

The usable rate is computed as the kernel does (drivers/pci/pci.h, PCIE_SPEED2MBS_ENC): Mb/s of
one lane after its encoding, rounded down, times the lanes. So `lspci` and `dmesg` agree.
"""

import math
import re
from dataclasses import dataclass, field, fields
from typing import Any

from linerate.model.evidence import PcieLink, Quote

#: A PCI address with its domain: `0000:05:00.0`.
ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]"

_LANES_MAX = 32
#: `5.0 GT/s`, `5GT/s`, `8 GT/s`.
SPEED = r"(?P<{0}>\d{{1,3}}(?:\.\d+)?)\s*GT/s"


def speed(name: str) -> str:
    """Return a pattern of a link's speed, as the group of that name."""
    return SPEED.format(name)


def lane_mbps(gigatransfers: float) -> int:
    """Mb/s of one lane: 8b/10b up to 5 GT/s, 128b/130b up to 32 GT/s, none (PAM4) above."""
    megatransfers = round(gigatransfers * 1000)
    if megatransfers <= 5000:
        return megatransfers * 8 // 10
    return megatransfers * 128 // 130 if megatransfers <= 32000 else megatransfers


def rate_bps(gigatransfers: float | None, lanes: int | None) -> float | None:
    """Bit/s after the encoding; None when half of it is unknown."""
    if gigatransfers is None or lanes is None:
        return None
    return lane_mbps(gigatransfers) * lanes * 1e6


def with_domain(address: str) -> str:
    """Say an address as the kernel does; `lspci` leaves out a domain of 0."""
    return address if address.count(":") > 1 else f"0000:{address}"


def positive(figure: str) -> float | None:
    """Read a speed; None for 0, which the kernel prints for `Unknown`."""
    value = float(figure)
    return value if math.isfinite(value) and value > 0 else None


def lanes_of(figure: str) -> int | None:
    """Read a width; None for 0 (no link) and what no link has."""
    lanes = int(figure) if re.fullmatch(r"\d{1,3}", figure, re.ASCII) else 0
    return lanes if 0 < lanes <= _LANES_MAX else None


@dataclass(slots=True)
class LinkNotes:
    """Notes on one device so far; the first value counts."""

    device: str
    driver: str = ""
    gigatransfers: float | None = None
    lanes: int | None = None
    capable_gigatransfers: float | None = None
    capable_lanes: int | None = None
    data_bps: float | None = None
    capable_bps: float | None = None
    max_payload_bytes: int | None = None
    limited_at: str = ""
    quotes: list[Quote] = field(default_factory=list)

    def link(self) -> PcieLink:
        """Return it, with rates that follow from speed and lanes where none was printed."""
        noted: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        rates = {
            "data_bps": self.data_bps or rate_bps(self.gigatransfers, self.lanes),
            "capable_bps": self.capable_bps
            or rate_bps(self.capable_gigatransfers, self.capable_lanes),
        }
        return PcieLink(**noted | rates)
