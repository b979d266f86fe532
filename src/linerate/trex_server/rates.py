"""Rates that clients ask for, as a scale of a profile's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from linerate.base.frozen_model import StrictModel
from linerate.base.line_rate import WIRE_OVERHEAD_BYTES
from linerate.trex_server.errors import FailedError

Unit = Literal["raw", "pps", "bps", "bpsl1", "percentage"]


class Multiplier(StrictModel):
    """The `mul` of start, update: a value in a unit, absolute or added to the rate."""

    type: Unit
    value: float
    op: Literal["abs", "add", "sub"] = "abs"
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Rates:
    """Frames and bits a second; L2 with FCS."""

    pps: float = 0.0
    l2_bps: float = 0.0
    l1_bps: float = 0.0

    def __add__(self, other: "Rates") -> "Rates":
        return Rates(self.pps + other.pps, self.l2_bps + other.l2_bps, self.l1_bps + other.l1_bps)

    def __mul__(self, scale: float) -> "Rates":
        return Rates(self.pps * scale, self.l2_bps * scale, self.l1_bps * scale)

    def as_unit(self, unit: Unit, link_bps: int) -> float:
        """The number of a unit."""
        return {
            "raw": 1.0,
            "pps": self.pps,
            "bps": self.l2_bps,
            "bpsl1": self.l1_bps,
            "percentage": 100 * self.l1_bps / link_bps if link_bps else 0.0,
        }[unit]


def rates_of(kind: str, value: float, frame_bytes: int, link_bps: int) -> Rates:
    """Rates of a stream, whose frame has FCS."""
    wire_bits = 8 * (frame_bytes + WIRE_OVERHEAD_BYTES)
    pps = {
        "pps": value,
        "l2_bps": value / (8 * frame_bytes),
        "l1_bps": value / wire_bits,
        "percent": value / 100 * link_bps / wire_bits,
    }[kind]
    return Rates(pps, pps * 8 * frame_bytes, pps * wire_bits)


def total(rates: Iterable[Rates]) -> Rates:
    """Their sum."""
    return sum(rates, Rates())


def scale_for(
    mul: Multiplier, scaled: Rates, fixed: Rates, link_bps: int, current: float = 0.0
) -> float:
    """Scale at which `scaled` and `fixed` streams have the rate asked for.

    Latency streams are the fixed ones. `current` is the scale now, for added values. Raises
    FailedError.
    """
    own = scaled.as_unit(mul.type, link_bps)
    besides = 0.0 if mul.type == "raw" else fixed.as_unit(mul.type, link_bps)
    wanted = mul.value
    if mul.op != "abs":
        step = mul.value if mul.op == "add" else -mul.value
        wanted = current * own + besides + step
    if wanted <= 0:
        raise FailedError(f"multiplier: {wanted:g} {mul.type}: expected more than 0")
    if not own:
        if mul.type == "raw" or fixed.pps:
            return 1.0
        raise FailedError("multiplier: the profile's streams have no rate")
    if wanted <= besides:
        raise FailedError(
            f"multiplier: {wanted:g} {mul.type}: latency streams, which are not scaled, have "
            f"{besides:g} already"
        )
    return (wanted - besides) / own
