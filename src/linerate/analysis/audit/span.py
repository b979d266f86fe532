"""A published figure stands for all values that round to it.

Two figures agree when what one implies and what the other stands for overlap.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

#: Digits as people publish them; more of them than a double holds say nothing.
_FIGURE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{0,15})?) ?%?")
#: The bounds of a span are exact, only the arithmetic on them is not.
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Span:
    """Values that something may have, both ends included."""

    low: float
    high: float

    def overlaps(self, other: "Span") -> bool:
        """Say whether some value is in both."""
        slack = _SLACK * max(abs(self.high), abs(other.high))
        return self.low <= other.high + slack and other.low <= self.high + slack

    def exceeds(self, limit: float) -> bool:
        """Say whether every value is above the limit."""
        return self.low > limit + _SLACK * max(abs(self.high), abs(limit))

    def through(self, function: Callable[[float], float]) -> "Span":
        """Values of an increasing function."""
        return Span(function(self.low), function(self.high))

    @property
    def middle(self) -> float:
        """The value that is printed for all of them."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by its digits: 88.1 is 88.05 to 88.15, and 100 is 99.5 to 100.5."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def decimals(self) -> int:
        """Digits behind the point."""
        return len(self.text.partition(".")[2])

    @property
    def value(self) -> float:
        """The figure taken at its word."""
        return float(self.text)

    @property
    def span(self) -> Span:
        """Values that round to it."""
        half = 0.5 * 10.0**-self.decimals
        return Span(self.value - half, self.value + half)

    def like(self, value: float) -> str:
        """Write another value with as many digits."""
        return f"{value:.{self.decimals}f}"

    def is_cut_from(self, span: Span) -> bool:
        """Say whether digits of a value in the span were dropped to make this."""
        return self._steps(span, ROUND_FLOOR)

    def is_rounded_up_from(self, span: Span) -> bool:
        """Say whether a value in the span rounded up, though it is nearer below, makes this."""
        return self._steps(span, ROUND_CEILING)

    def _steps(self, span: Span, rounding: str) -> bool:
        unit = Decimal(1).scaleb(-self.decimals)
        ends = (Decimal(end).quantize(unit, rounding) for end in (span.low, span.high))
        return Decimal(self.text) in ends


def figure(text: str) -> Figure | None:
    """Read a figure, as `15.3` or `46.4 %`; None if it is no number of 0 or more."""
    match = _FIGURE.fullmatch(text.strip())
    return Figure(match[1].rstrip(".")) if match else None
