"""The rate of a profile: `100%` of the line, `1x` its own rates, `5mpps`, `2gbps`."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from linerate.base.line_rate import l1_bits
from linerate.traffic.profile import Stream, TrafficError

Unit = Literal["percent", "times", "pps", "bps", "bpsl2"]

_RATE = re.compile(r"(\d+(?:\.\d+)?)(%|x|[kmg]?(?:pps|bpsl2|bpsl1|bps))", re.IGNORECASE)
_UNIT_FORGOTTEN = re.compile(r"\d+(?:\.\d+)?[kmg]", re.IGNORECASE)
_FACTORS = {"k": 10**3, "m": 10**6, "g": 10**9}


@dataclass(frozen=True, slots=True)
class Rate:
    """Intended rate of the busier direction."""

    amount: Fraction
    unit: Unit
    #: As it was given.
    text: str


def parse_rate(text: str) -> Rate:
    """Read `40%`, `1x`, `5mpps`, `2gbps` (on the wire), `2gbpsl2` (frames, FCS counted).

    Raises TrafficError.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None and _UNIT_FORGOTTEN.fullmatch(text.strip()):
        raise TrafficError(f"rate: expected a unit, {text}pps or {text}bps; not '{text}'")
    if match is None or not Fraction(match[1]):
        raise TrafficError(f"rate: expected 100%, 1x, 5mpps or 2gbps; not '{text}'")
    amount, unit = Fraction(match[1]), match[2].lower()
    if unit == "%":
        if amount > 100:
            raise TrafficError(f"rate: expected at most 100%, not '{text}'")
        return Rate(amount, "percent", text.strip())
    if unit == "x":
        return Rate(amount, "times", text.strip())
    if unit[0] in _FACTORS:
        amount *= _FACTORS[unit[0]]
        unit = unit[1:]
    units: dict[str, Unit] = {"pps": "pps", "bps": "bps", "bpsl1": "bps", "bpsl2": "bpsl2"}
    return Rate(amount, units[unit], text.strip())


def own_pps(stream: Stream, frame_bytes: int | Fraction, link_bps: int) -> Fraction | None:
    """The rate that a stream asks for itself; None where it has only a weight."""
    rate = stream.get("rate")
    if rate is None:
        return None
    if "pps" in rate:
        return Fraction(rate["pps"])
    if "l1_bps" in rate:
        return Fraction(rate["l1_bps"]) / l1_bits(frame_bytes)
    if "l2_bps" in rate:
        return Fraction(rate["l2_bps"]) / (frame_bytes * 8)
    if "percent" in rate:
        return Fraction(rate["percent"]) * link_bps / 100 / l1_bits(frame_bytes)
    raise TrafficError(
        f"stream {stream.get('name', '')}: rate: expected one of pps, l1_bps, l2_bps, percent"
    )


@dataclass(frozen=True, slots=True)
class Share:
    """Share of a stream: frames a second, or in a round; the two are not mixed."""

    side: int
    #: FCS counted; of several sizes the mean.
    frame_bytes: int | Fraction
    frames: Fraction


def scale(shares: tuple[Share, ...], rate: Rate, link_bps: int, has_rates: bool) -> Fraction:
    """By what to multiply each share for frames a second; raises TrafficError above the line.

    What the busier direction is asked for decides; the other one keeps its relation to it.
    """
    sides = {share.side for share in shares}
    frames = _busiest(shares, sides, lambda share: share.frames)
    l1 = _busiest(shares, sides, lambda share: share.frames * l1_bits(share.frame_bytes))
    l2 = _busiest(shares, sides, lambda share: share.frames * share.frame_bytes * 8)
    if not frames:
        raise TrafficError("traffic: no stream has a rate above 0")
    line = Fraction(link_bps) / l1
    if rate.unit == "times" and not has_rates:
        raise TrafficError(f"rate: {rate.text}: the streams have no rates of their own; try 100%")
    wanted = {
        "percent": line * rate.amount / 100,
        "times": rate.amount,
        "pps": rate.amount / frames,
        "bps": rate.amount / l1,
        "bpsl2": rate.amount / l2,
    }[rate.unit]
    if wanted > line:
        raise TrafficError(
            f"rate: {rate.text} is {float(100 * wanted / line):.4g} % of the line; "
            "expected at most 100%"
        )
    return wanted


def _busiest(
    shares: tuple[Share, ...], sides: set[int], what: Callable[[Share], Fraction]
) -> Fraction:
    return max(sum((what(one) for one in shares if one.side == side), Fraction()) for side in sides)


def as_float(pps: Fraction) -> float:
    """The nearest float that is not above: sums of such never exceed the line."""
    nearest = float(pps)
    return nearest if Fraction(nearest) <= pps else math.nextafter(nearest, 0.0)
