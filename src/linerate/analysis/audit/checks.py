"""Checks that a row's figures agree: one function each, which registers itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from linerate.analysis.audit.span import Figure, Span
from linerate.analysis.audit.table import Row
from linerate.base.line_rate import FrameRate

PERCENTAGE = "percentage"
BIT_RATE = "bit rate"
ABOVE_THE_LINE = "above the line"


@dataclass(frozen=True, slots=True)
class Finding:
    """Figures of a row that can't all be right."""

    heading: str
    row: Row
    #: The arithmetic: what follows, and what is published.
    sentence: str
    #: The row's other figures that agree.
    others: str = ""
    #: The figure that the others outvote; empty when they don't.
    wrong: str = ""
    #: Where the wrong figure may come from, as far as the table shows it.
    causes: tuple[str, ...] = ()


#: A row of each percentage and test, or percentage and card.
Same = Mapping[tuple[str, str], Row]
#: Looks at a row, and at others for a cause; None when all is well.
Look = Callable[[Row, Same], Finding | None]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must agree."""

    heading: str
    look: Look
    #: Figures of a row that it compares.
    needs: tuple[str, ...]

    def compares(self, row: Row) -> bool:
        """Say whether the row has all figures that this needs."""
        return all(getattr(row, figure) is not None for figure in self.needs)


CHECKS: list[Check] = []


def check(heading: str, *needs: str) -> Callable[[Look], Look]:
    """Register a check; it is asked only about rows that have all figures of `needs`."""

    def register(look: Look) -> Look:
        CHECKS.append(Check(heading, look, needs))
        return look

    return register


@check(PERCENTAGE, "rate", "percent")
def percentage(row: Row, same: Same) -> Finding | None:
    """The percentage is the packet rate's L1 rate over the line's."""
    assert row.mpps is not None
    assert row.percent is not None
    follows = row.mpps.through(row.percent_of)
    if follows.overlaps(row.percent.span):
        return None
    sentence = (
        f"{row.rate} {row.rate_unit} of {row.frame_bytes} B are "
        f"{_written(follows, row.percent)} % of {row.link_text}, published {row.percent} %"
    )
    of_percent = (row.mpps_of_percent, "percentage")
    others, wrong = _third(_bit_rates(row), (row.mpps, "packet rate"), of_percent)
    causes = (*_rounding(row, follows), *_same_elsewhere(row, same))
    return Finding(PERCENTAGE, row, sentence, others, wrong, causes)


@check(BIT_RATE, "rate", "l1_gbps")
def l1_rate(row: Row, _same: Same) -> Finding | None:
    """The L1 rate is the packet rate times the frame and 20 bytes."""
    return _bit_rate(row, row.l1_gbps, row.mpps_of_l1, "L1")


@check(BIT_RATE, "rate", "l2_gbps")
def l2_rate(row: Row, _same: Same) -> Finding | None:
    """The L2 rate is the packet rate times the frame without FCS, as TRex has it."""
    return _bit_rate(row, row.l2_gbps, row.mpps_of_l2, "L2")


@check(ABOVE_THE_LINE, "percent")
def above_the_line(row: Row, _same: Same) -> Finding | None:
    """No line carries more than 100 %."""
    assert row.percent is not None
    if not row.percent.span.exceeds(100.0):
        return None
    most = 100.0 / row.percent_of(1.0)
    sentence = (
        f"{row.percent} % of {row.link_text}: {most:.3f} Mpps of {row.frame_bytes} B are all of it"
    )
    return Finding(ABOVE_THE_LINE, row, sentence)


def _bit_rate(
    row: Row, published: Figure | None, implied: Span | None, layer: str
) -> Finding | None:
    assert published is not None
    assert implied is not None
    assert row.mpps is not None
    assert row.rate is not None
    if implied.overlaps(row.mpps):
        return None
    scale = 1.0 if row.rate_unit == "Mpps" else 1e6
    rates = implied.through(lambda mpps: mpps * scale)
    sentence = (
        f"{published} Gb/s {layer} of {row.frame_bytes} B are {_written(rates, row.rate)} "
        f"{row.rate_unit}, published {row.rate}"
    )
    percent = [(row.mpps_of_percent, f"{row.percent} %")] if row.percent else []
    others, wrong = _third(percent, (row.mpps, "packet rate"), (implied, "bit rate"))
    causes = () if wrong == "packet rate" else _other_layer(row, published)
    return Finding(BIT_RATE, row, sentence, others, wrong, causes)


def _written(follows: Span, published: Figure) -> str:
    """Write what follows with the digits of what is published; its ends, when they matter."""
    stands_for = published.span
    gap = max(follows.low - stands_for.high, stands_for.low - follows.high)
    ends = (published.like(follows.low), published.like(follows.high))
    if gap > follows.high - follows.low or ends[0] == ends[1]:
        return published.like(follows.middle)
    return " to ".join(ends)


Named = tuple[Span | None, str]


def _bit_rates(row: Row) -> list[Named]:
    figures = ((row.mpps_of_l1, row.l1_gbps, "L1"), (row.mpps_of_l2, row.l2_gbps, "L2"))
    return [(span, f"{text} Gb/s {layer}") for span, text, layer in figures if text is not None]


def _third(witnesses: Sequence[Named], first: Named, second: Named) -> tuple[str, str]:
    """Ask the row's other figures which of two they agree with, and so which is wrong."""
    message = []
    votes = set()
    for span, text in witnesses:
        agree = [name for one, name in (first, second) if one and span and span.overlaps(one)]
        words = {0: "neither", 1: f"the {agree[0] if agree else ''}", 2: "both"}[len(agree)]
        message.append(f"{text} {'agrees' if text.endswith('%') else 'agree'} with {words}")
        votes.add(agree[0] if len(agree) == 1 else "")
    names = {first[1], second[1]}
    (wrong,) = names - votes if len(votes) == 1 and votes & names else {""}
    return ", ".join(message), wrong


def _rounding(row: Row, follows: Span) -> list[str]:
    """Digits dropped, or rounded the wrong way."""
    assert row.percent is not None
    exact = f"{follows.middle:.{row.percent.decimals + 2}f}"
    if row.percent.is_cut_from(follows):
        return [f"{exact} % cut, not rounded"]
    if row.percent.is_rounded_up_from(follows):
        return [f"{exact} % rounded up"]
    return []


def same_percentages(rows: Iterable[Row]) -> Same:
    """Rows whose percentage does follow, by it and the test, and by it and the card."""
    same: dict[tuple[str, str], Row] = {}
    for row in rows:
        if row.percent and row.mpps and row.percent.decimals and row.test:
            follows = row.mpps.through(row.percent_of)
            if follows.overlaps(row.percent.span):
                same.setdefault((row.percent.text, row.test), row)
                same.setdefault((row.percent.text, row.card), row)
    return same


def _same_elsewhere(row: Row, same: Same) -> list[str]:
    """Another row has the same percentage: the same test, or the same card."""
    assert row.percent is not None
    for where in (row.test, row.card):
        if other := same.get((row.percent.text, where)):
            return [f"{other.name}, line {other.line}, has the same {other.percent} %"]
    return []


def _other_layer(row: Row, published: Figure) -> tuple[str, ...]:
    """The bit rate fits when it counts other bytes of a frame than its column says."""
    assert row.mpps is not None
    one = FrameRate(row.frame_bytes, 1e6)
    layers = {
        "the L1 rate": one.l1_bps,
        "the L2 rate with FCS": one.l2_bps,
        "the L2 rate without FCS": one.l2_bps_no_fcs,
    }
    return tuple(
        f"{published} Gb/s are {name} of {row.rate} {row.rate_unit}"
        for name, bps in layers.items()
        if Span(row.mpps.low * bps / 1e9, row.mpps.high * bps / 1e9).overlaps(published.span)
    )
