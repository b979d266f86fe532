"""Line-rate arithmetic: what fits on an Ethernet link and through a PCIe slot.

Pure functions and value objects; units are in the names. A frame's size counts
its FCS, as in RFC 2544 and IEEE 802.3; `l2_bps_no_fcs` is what TRex calls L2.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

FCS_BYTES = 4
PREAMBLE_BYTES = 7
START_DELIMITER_BYTES = 1
GAP_BYTES = 12
#: L1 overhead of each frame (IEEE 802.3, clause 3 and 4A.4.2).
WIRE_OVERHEAD_BYTES = PREAMBLE_BYTES + START_DELIMITER_BYTES + GAP_BYTES

FRAME_BYTES_MIN = 64
#: The engine's (engine/core/frame.h): what an X710 takes.
FRAME_BYTES_MAX = 9728


@overload
def l1_bits(frame_bytes: int) -> int: ...
@overload
def l1_bits(frame_bytes: Fraction) -> Fraction: ...
@overload
def l1_bits(frame_bytes: float) -> float: ...
def l1_bits(frame_bytes: float | Fraction) -> float | Fraction:
    """Bits that a frame takes on the wire, FCS, preamble and gap counted; exact if its size is."""
    return (frame_bytes + WIRE_OVERHEAD_BYTES) * 8


@dataclass(frozen=True, slots=True)
class FrameRate:
    """Frames of one size at one rate, in every unit that people quote."""

    #: FCS counted; of several sizes the mean.
    frame_bytes: float
    packets_per_second: float

    @property
    def l1_bps(self) -> float:
        """Bits on the wire: packets/s × (frame + 20) × 8."""
        return self.packets_per_second * l1_bits(self.frame_bytes)

    @property
    def l2_bps(self) -> float:
        """Bits of frames, FCS counted: packets/s × frame × 8."""
        return self.packets_per_second * self.frame_bytes * 8

    @property
    def l2_bps_no_fcs(self) -> float:
        """Bits of frames without FCS, as TRex reports: packets/s × (frame - 4) × 8."""
        return self.packets_per_second * (self.frame_bytes - FCS_BYTES) * 8

    def percent_of(self, link_bps: float, directions: int = 1) -> float:
        """L1 rate over the link's, summed over the directions that carry traffic."""
        return 100.0 * self.l1_bps / (link_bps * directions)


def line_rate(link_bps: float, frame_bytes: float) -> FrameRate:
    """Say how many frames a second fill a link: link / ((frame + 20) × 8)."""
    return FrameRate(frame_bytes, link_bps / l1_bits(frame_bytes))


def clocks_per_packet(clock_hz: float, packets_per_second: float) -> float:
    """Cycles that one core has for each packet at that rate."""
    return clock_hz / packets_per_second


# Overhead of a transaction-layer packet beside its payload: header 12, sequence number 2, LCRC 4,
# framing 2, and its share of acknowledgements and credits 4 (PCI Express Base Specification 3.1,
# 2.2 and 3.5; R. Neugebauer et al., "Understanding PCIe performance for end host networking",
# SIGCOMM 2018, counts 24 too).
TLP_OVERHEAD_BYTES = 24
#: A 10 GbE card's descriptor (82599 datasheet, 7.1.5).
DESCRIPTOR_BYTES = 16
#: Descriptors travel four to a TLP: a cache line of them.
DESCRIPTORS_PER_TLP = 4

GIGATRANSFERS = (2.5, 5.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True, slots=True)
class PcieLink:
    """A PCIe link; every rate is for one direction (it is full duplex)."""

    gigatransfers: float
    lanes: int
    max_payload_bytes: int = 256

    @property
    def encoding(self) -> float:
        """Data bits for each bit sent: 8b/10b up to 5 GT/s, 128b/130b from 8 GT/s."""
        return 8 / 10 if self.gigatransfers <= 5.0 else 128 / 130

    @property
    def data_bps(self) -> float:
        """Bits a second after encoding: GT/s × lanes × encoding, as the kernel prints."""
        return self.gigatransfers * 1e9 * self.lanes * self.encoding

    def frame_bytes_on_link(self, frame_bytes: float) -> float:
        """Bytes that a frame takes in one direction, with its descriptor.

        The frame without FCS, cut into TLPs of at most the maximum payload. A
        received frame goes towards the host and a sent one towards the card, so a
        forwarded frame takes this once in each direction.
        """
        data = frame_bytes - FCS_BYTES
        tlps = math.ceil(data / self.max_payload_bytes)
        descriptor = DESCRIPTOR_BYTES + TLP_OVERHEAD_BYTES / DESCRIPTORS_PER_TLP
        return data + tlps * TLP_OVERHEAD_BYTES + descriptor

    def usable(self, frame_bytes: float) -> FrameRate:
        """Frames of this size that fit through each second, in each direction."""
        bits = self.frame_bytes_on_link(frame_bytes) * 8
        return FrameRate(frame_bytes, self.data_bps / bits)

    def derivation(self, frame_bytes: float) -> str:
        """Spell out the arithmetic of `usable`."""
        encoding = "8b/10b" if self.gigatransfers <= 5.0 else "128b/130b"
        return (
            f"{self.gigatransfers:g} GT/s × {self.lanes} × {encoding} = "
            f"{self.data_bps / 1e9:.2f} Gb/s ÷ ({self.frame_bytes_on_link(frame_bytes):.0f} B × 8: "
            f"{frame_bytes - FCS_BYTES:g} B of frame, TLPs of at most {self.max_payload_bytes} B, "
            "descriptor)"
        )


def format_pps(pps: float, figures: str = ".2f") -> str:
    """Write a packet rate so that small ones can be read: `4.37 Mpps`, `12.50 kpps`, `300 pps`.

    `figures` is Python's format of the number.
    """
    if abs(pps) >= 1e5:
        return f"{pps / 1e6:{figures}} Mpps"
    # Values that would be rounded up to 1,000 pps use the next unit.
    return f"{pps / 1e3:{figures}} kpps" if abs(pps) >= 999.5 else f"{pps:.0f} pps"


def in_mpps(pps: float, decimals: int) -> str:
    """Write a packet rate in a column of Mpps: a small one that it can't show has its unit."""
    return format_pps(pps) if 0 < abs(pps) < 999.5 else f"{pps / 1e6:.{decimals}f}"


_SCALE = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BPS = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGT]?)(bps|b/s|bit/s|bE)?")


#: Links are not slower, in bits a second: `10` is 10G without its unit.
UNIT_FORGOTTEN_BPS = 1000


def parse_bps(text: str) -> int:
    """Read a bit rate: `10G`, `2.5G`, `100M`, `10000000000`. Raises ValueError."""
    match = _BPS.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"expected a bit rate as 10G, 2.5G or 100M, not {text!r}")
    bps = round(float(match[1]) * _SCALE[match[2]])
    if bps <= 0:
        raise ValueError(f"expected a bit rate above 0, not {text!r}")
    if bps < UNIT_FORGOTTEN_BPS and not (match[2] or match[3]):
        raise ValueError(f"expected a bit rate with its unit, as {match[1]}G, not {text!r}")
    return bps


def format_bps(bps: float) -> str:
    """Write a bit rate, as `10 Gb/s`; `parse_bps` reads it."""
    for unit in ("T", "G", "M", "k"):
        if bps >= _SCALE[unit]:
            return f"{bps / _SCALE[unit]:.12g} {unit}b/s"
    return f"{bps:.12g} b/s"
