"""Numbers as tools print them and people paste them: `2846586`, `2,846,586`, `1.28e2`."""

import math
import re

#: A count, with a thousands separator or without.
COUNT = r"\d{1,3}(?:[,'_]\d{3})+|\d{1,20}"
#: A number with a fraction or an exponent, or none; VPP prints `.78`.
NUMBER = r"(?:\d[\d,'_]{0,30}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][+-]?\d{1,3})?"

#: Counters are of 64 bits everywhere; more is another thing than a count.
COUNT_MAX = (1 << 64) - 1
_SEPARATORS = re.compile(r"[,'_]")
_COUNT = re.compile(COUNT)


def count(text: str) -> int | None:
    """Read a counter; None when it is none."""
    if not _COUNT.fullmatch(text):
        return None
    value = int(_SEPARATORS.sub("", text))
    return value if value <= COUNT_MAX else None


def counts(texts: list[str]) -> list[int] | None:
    """Read several; None when one of them is none."""
    values = [count(text) for text in texts]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


def number(text: str) -> float | None:
    """Read a number that is not negative; None when it is none, or too great for one."""
    try:
        value = float(_SEPARATORS.sub("", text))
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
