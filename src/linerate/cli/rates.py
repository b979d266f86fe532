"""Packets a second, as the command line has them."""

import re

_PPS = re.compile(r"(\d+(?:\.\d+)?(?:e\+?\d+)?)([kmg]?)(?:pps)?", re.IGNORECASE)
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
#: Nothing that is measured comes near it.
PPS_MAX = 1e12


def parse_pps(text: str) -> float:
    """Read `2M`, `2mpps`, `1500k`, `2000000`: packets a second; raises ValueError."""
    match = _PPS.fullmatch(text.strip())
    pps = float(match[1]) * _FACTORS[match[2].lower()] if match else 0.0
    if not 0 < pps < PPS_MAX:
        raise ValueError(f"expected packets a second, as 2M, 2mpps or 2000000; not '{text}'")
    return pps
